"""AdaBoost round by round, bags of other models, forests that keep growing."""

import numpy as np
from sklearn.datasets import make_gaussian_quantiles, make_regression
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
)
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

X, y = make_gaussian_quantiles(n_samples=900, n_features=6, n_classes=3, random_state=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.7, random_state=42)
stump = DecisionTreeClassifier(max_leaf_nodes=8)
boosted = AdaBoostClassifier(estimator=stump, n_estimators=60, random_state=42).fit(
    X_train, y_train
)
errors = [1 - accuracy_score(y_test, p) for p in boosted.staged_predict(X_test)]
print("one round: %.2f, all rounds: %.2f" % (errors[0], errors[-1]))
print("rounds:", len(boosted.estimators_), "weights:", boosted.estimator_weights_.shape)
print(
    "base:",
    boosted.estimator_,
    "first error below a third: %s" % (boosted.estimator_errors_[0] < 0.67),
)
print("scores of all rounds:", len(list(boosted.staged_score(X_test, y_test))))

Xr, yr = make_regression(400, 5, noise=10, random_state=0)
ada = AdaBoostRegressor(DecisionTreeRegressor(max_depth=4), n_estimators=30, random_state=0).fit(
    Xr, yr
)
single = DecisionTreeRegressor(max_depth=4).fit(Xr, yr)
print("better than one tree:", bool(ada.score(Xr, yr) > single.score(Xr, yr)))

bag = BaggingClassifier(
    KNeighborsClassifier(), n_estimators=10, max_samples=0.5, max_features=0.5, random_state=0
).fit(X_train, y_train)
print(
    "bag of neighbours: %.2f" % bag.score(X_test, y_test),
    len(bag.estimators_samples_[0]),
    "rows each",
)
print("columns of a member:", len(bag.estimators_features_[0]))
trees = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(Xr, yr)
print("R2 out of bag %.2f" % trees.oob_score_, "members:", len(trees), type(trees[0]).__name__)
spread = np.std([tree.predict(Xr[:5]) for tree in trees.estimators_], axis=0)
print("spread of members:", spread.shape)

forest = RandomForestClassifier(
    warm_start=True, oob_score=True, max_features="sqrt", random_state=0
)
oob = []
for n in (20, 40, 60):
    forest.set_params(n_estimators=n).fit(X_train, y_train)
    oob.append(1 - forest.oob_score_)
print("trees:", len(forest.estimators_), "error out of bag about %.2f" % oob[-1])
print("votes out of bag:", forest.oob_decision_function_.shape)
print("leaves of rows:", forest.apply(X_test).shape, "path:", forest.decision_path(X_test)[1].shape)
