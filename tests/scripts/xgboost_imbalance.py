"""Few positives: weights of classes and rows, folds with predictions out of fold, thresholds."""

import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.class_weight import compute_sample_weight

X, y = make_classification(2000, 15, n_informative=6, weights=[0.9], flip_y=0.02, random_state=5)
X = pd.DataFrame(X, columns=[f"var_{i}" for i in range(15)])
ratio = float((y == 0).sum() / (y == 1).sum())
params = {
    "n_estimators": 80, "max_depth": 4, "learning_rate": 0.15, "scale_pos_weight": ratio,
    "min_child_weight": 2, "gamma": 0.1, "reg_alpha": 0.1, "tree_method": "hist", "eval_metric": "aucpr",
    "early_stopping_rounds": 15, "n_jobs": 1,
}  # fmt: skip
oof = np.zeros(len(X))
importances = pd.DataFrame(index=X.columns)
folds = StratifiedKFold(n_splits=3, shuffle=True, random_state=5)
for fold, (train, valid) in enumerate(folds.split(X, y)):
    clf = xgb.XGBClassifier(**params)
    clf.fit(X.iloc[train], y[train], eval_set=[(X.iloc[valid], y[valid])], verbose=0)
    oof[valid] = clf.predict_proba(X.iloc[valid])[:, 1]
    importances[f"fold {fold}"] = clf.feature_importances_
    print(f"fold {fold}: AUC {roc_auc_score(y[valid], oof[valid]):.2f}")
print("AUC %.2f, average precision %.2f" % (roc_auc_score(y, oof), average_precision_score(y, oof)))
mean = importances.mean(axis=1).sort_values(ascending=False)
print("table of importances:", importances.shape, "sum %.2f" % mean.sum())
cuts = np.linspace(0.1, 0.9, 17)
best = max(cuts, key=lambda cut: f1_score(y, oof > cut))
print("F1 at the best cut: %.2f" % f1_score(y, oof > best))

weights = compute_sample_weight("balanced", y)
weighted = xgb.XGBClassifier(n_estimators=40, max_depth=3).fit(X, y, sample_weight=weights)
plain = xgb.XGBClassifier(n_estimators=40, max_depth=3).fit(X, y)
print("more positives with weights:", bool(weighted.predict(X).sum() > plain.predict(X).sum()))
print(
    "accuracy %.2f" % plain.score(X, y),
    plain.get_params()["max_depth"],
    plain.get_num_boosting_rounds(),
)
