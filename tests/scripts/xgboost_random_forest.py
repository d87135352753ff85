"""Random forests of XGBoost: bagged trees in one round, beside boosted forests."""

import numpy as np
from sklearn.datasets import load_diabetes, make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score, train_test_split
from xgboost import XGBClassifier, XGBRFClassifier, XGBRFRegressor

X, y = make_classification(1200, 12, n_informative=5, flip_y=0.05, random_state=8)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=8)
forest = XGBRFClassifier(
    n_estimators=50, max_depth=8, subsample=0.8, colsample_bynode=0.5, random_state=0
)
forest.fit(X_train, y_train)
print("AUC of the forest: %.2f" % roc_auc_score(y_test, forest.predict_proba(X_test)[:, 1]))
print(
    "rounds:",
    forest.get_booster().num_boosted_rounds(),
    "trees:",
    len(forest.get_booster().get_dump()),
)
print("learning rate:", forest.get_params()["learning_rate"])
print("side by side:", forest.get_xgb_params()["num_parallel_tree"])
boosted = XGBClassifier(
    n_estimators=4, num_parallel_tree=10, subsample=0.8, colsample_bynode=0.5, max_depth=4
)
boosted.fit(X_train, y_train)
print(
    "boosted forest: %.2f" % boosted.score(X_test, y_test),
    len(boosted.get_booster().get_dump()),
    "trees",
)
Xd, yd = load_diabetes(return_X_y=True)
reg = XGBRFRegressor(
    n_estimators=40, max_depth=5, subsample=0.8, colsample_bynode=0.6, random_state=1
)
print("R2 of folds: %.2f" % cross_val_score(reg, Xd, yd, cv=3).mean())
reg.fit(Xd, yd)
print("mean of predictions: %.0f" % np.mean(reg.predict(Xd)), reg.feature_importances_.shape)
