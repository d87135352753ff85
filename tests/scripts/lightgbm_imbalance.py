"""Rare classes: balanced weights, scale_pos_weight, weights of rows, several classes."""

import warnings

import lightgbm as lgb
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, recall_score, roc_auc_score
from sklearn.model_selection import train_test_split

warnings.filterwarnings("ignore", category=UserWarning)

X, y = make_classification(1800, 12, n_informative=6, weights=[0.92], flip_y=0.03, random_state=6)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=6)
common = {"n_estimators": 50, "num_leaves": 10, "verbose": -1, "random_state": 0}
settings = {
    "plain": {},
    "balanced": {"class_weight": "balanced"},
    "unbalance": {"is_unbalance": True},
    "scaled": {"scale_pos_weight": 10},
    "by hand": {"class_weight": {0: 1, 1: 8}},
}
recalls = {}
for name, more in settings.items():
    clf = lgb.LGBMClassifier(**common, **more).fit(X_train, y_train)
    recalls[name] = recall_score(y_test, clf.predict(X_test))
    area = roc_auc_score(y_test, clf.predict_proba(X_test)[:, 1])
    print(f"{name}: recall {recalls[name]:.2f}, AUC {area:.2f}")
print("weights find more:", min(recalls["balanced"], recalls["scaled"]) >= recalls["plain"])
weighted = lgb.LGBMClassifier(**common).fit(
    X_train, y_train, sample_weight=np.where(y_train, 8.0, 1.0)
)
by_hand = lgb.LGBMClassifier(**common, class_weight={0: 1, 1: 8}).fit(X_train, y_train)
same = np.allclose(weighted.predict_proba(X_test), by_hand.predict_proba(X_test))
print("rows and classes agree:", bool(same))

calibrated = CalibratedClassifierCV(lgb.LGBMClassifier(**common), cv=3).fit(X_train, y_train)
print("Brier: %.2f" % brier_score_loss(y_test, calibrated.predict_proba(X_test)[:, 1]))
members = [
    ("small", lgb.LGBMClassifier(**{**common, "num_leaves": 4})),
    ("line", LogisticRegression(max_iter=500)),
]
for model in (VotingClassifier(members, voting="soft"), StackingClassifier(members, cv=3)):
    model.fit(X_train, y_train)
    print(type(model).__name__, "%.2f" % roc_auc_score(y_test, model.predict_proba(X_test)[:, 1]))

X3, y3 = make_classification(
    900, 8, n_informative=5, n_classes=3, weights=[0.7, 0.2], random_state=2
)
labels = np.array(["low", "mid", "top"])[y3]
for objective in ("multiclass", "multiclassova"):
    clf = lgb.LGBMClassifier(objective=objective, class_weight="balanced", **common).fit(X3, labels)
    print(
        objective, clf.classes_.tolist(), "%.2f" % balanced_accuracy_score(labels, clf.predict(X3))
    )
print("objective:", clf.objective_, clf.n_classes_, clf.predict_proba(X3).shape)
