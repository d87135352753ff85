"""Are 80 % really 80 %? Calibration of a forest and of naive Bayes."""

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(
    n_samples=1000, n_features=12, n_informative=4, n_redundant=6, random_state=42
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=42)
models = {
    "naive Bayes": GaussianNB(),
    "forest": RandomForestClassifier(n_estimators=40, random_state=0),
    "forest, sigmoid": CalibratedClassifierCV(
        RandomForestClassifier(n_estimators=20, random_state=0), cv=3, method="sigmoid"
    ),
    "extra trees, isotonic": CalibratedClassifierCV(
        ExtraTreesClassifier(n_estimators=20, random_state=0), cv=3, method="isotonic"
    ),
}
for name, model in models.items():
    p = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    actual, predicted = calibration_curve(y_test, p, n_bins=5, strategy="quantile")
    print(
        f"{name}: Brier {brier_score_loss(y_test, p):.2f} log loss {log_loss(y_test, p):.2f} "
        f"distance {np.abs(actual - predicted).mean():.2f}"
    )
split = StratifiedShuffleSplit(n_splits=2, test_size=0.3, random_state=0)
inner = models["forest, sigmoid"].calibrated_classifiers_
print("models inside:", len(inner), type(inner[0].estimator).__name__)
for train, test in split.split(X, y):
    weight = np.where(y[train] == 1, 2.0, 1.0)
    forest = RandomForestClassifier(n_estimators=20, max_depth=4, random_state=1)
    forest.fit(X[train], y[train], sample_weight=weight)
    print(f"accuracy {forest.score(X[test], y[test]):.2f}")
