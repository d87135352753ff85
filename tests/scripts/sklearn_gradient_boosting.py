"""Gradient boosting of diabetes: staged errors, early stopping, quantiles, partial dependence."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.inspection import PartialDependenceDisplay, partial_dependence
from sklearn.metrics import mean_pinball_loss, mean_squared_error
from sklearn.model_selection import train_test_split

X, y = load_diabetes(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=13)
params = {"n_estimators": 150, "max_depth": 3, "min_samples_split": 5, "learning_rate": 0.05}
reg = GradientBoostingRegressor(**params, loss="squared_error", random_state=0)
reg.fit(X_train, y_train)
print("MSE on test rows: {:.0f}".format(mean_squared_error(y_test, reg.predict(X_test))))
test_score = np.zeros(params["n_estimators"])
for i, y_pred in enumerate(reg.staged_predict(X_test)):
    test_score[i] = mean_squared_error(y_test, y_pred)
figure, ax = plt.subplots()
ax.plot(np.arange(params["n_estimators"]) + 1, reg.train_score_, label="training")
ax.plot(np.arange(params["n_estimators"]) + 1, test_score, label="test")
figure.savefig("deviance.png")
print("training error falls:", bool(reg.train_score_[-1] < reg.train_score_[0]))
print("shape of estimators_:", reg.estimators_.shape)

early = GradientBoostingRegressor(
    n_estimators=500, validation_fraction=0.2, n_iter_no_change=5, tol=0.01, random_state=0
).fit(X_train, y_train)
print("stopped early:", early.n_estimators_ < 500)

for alpha in (0.1, 0.5, 0.9):
    model = GradientBoostingRegressor(loss="quantile", alpha=alpha, n_estimators=60, max_depth=2)
    found = model.fit(X_train, y_train).predict(X_test)
    share = float((y_test <= found).mean())
    loss = mean_pinball_loss(y_test, found, alpha=alpha)
    print(f"alpha {alpha}: below {share:.2f}, pinball loss {loss:.0f}")

grid = partial_dependence(reg, X_train, ["bmi"], grid_resolution=10, method="recursion")
print("kinds:", sorted(grid), "rises:", bool(grid["average"][0][-1] > grid["average"][0][0]))
display = PartialDependenceDisplay.from_estimator(
    reg, X_train, ["bmi", ("bmi", "bp")], grid_resolution=5
)
print("panels:", display.axes_.shape)

high = (y_train > y_train.median()).astype(int)
warm = GradientBoostingClassifier(n_estimators=20, subsample=0.7, warm_start=True, random_state=0)
warm.fit(X_train, high)
warm.set_params(n_estimators=40).fit(X_train, high)
print("rounds:", len(warm.estimators_), "out-of-bag figures:", warm.oob_improvement_.shape)
print("classes:", warm.classes_.tolist(), "score %.2f" % warm.score(X_train, high))
