"""Which columns matter? Impurity, shuffling, selection; out-of-bag scores on the way."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

data = load_diabetes(as_frame=True)
X = data.data.copy()
X["noise"] = np.random.RandomState(0).normal(size=len(X))
X_train, X_test, y_train, y_test = train_test_split(X, data.target, random_state=1)
forest = RandomForestRegressor(n_estimators=80, min_samples_leaf=3, oob_score=True, random_state=1)
forest.fit(X_train, y_train)
print(f"R2 out of bag {forest.oob_score_:.2f}, of test rows {forest.score(X_test, y_test):.2f}")
print("predictions out of bag:", forest.oob_prediction_.shape)

importances = pd.Series(forest.feature_importances_, index=X.columns).sort_values()
spread = np.std([tree.feature_importances_ for tree in forest.estimators_], axis=0)
print("trees:", len(forest.estimators_), "spreads:", spread.shape)
print("two most important:", sorted(importances.index[-2:]))
print(f"sum of importances {importances.sum():.3f}")
figure, ax = plt.subplots()
importances.plot.barh(ax=ax)
figure.savefig("importances.png")

shuffled = permutation_importance(forest, X_test, y_test, n_repeats=5, random_state=0)
ranked = np.argsort(shuffled.importances_mean)[::-1]
print("two most needed:", sorted(X.columns[ranked[:2]]))
print("noise is needed:", bool(shuffled.importances_mean[list(X.columns).index("noise")] > 0.1))

kept = SelectFromModel(forest, prefit=True, threshold="mean").get_support()
print("bmi and s5 kept:", bool(kept[2] and kept[8]), "noise kept:", bool(kept[-1]))
rfe = RFE(RandomForestRegressor(n_estimators=15, random_state=1), n_features_to_select=3, step=2)
rfe.fit(X_train, y_train)
print("columns left:", rfe.n_features_, "bmi among them:", bool(rfe.support_[2]))
depths = [tree.get_depth() for tree in forest]
print("depth of trees about", round(np.mean(depths), -1))
