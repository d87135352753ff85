"""A loss and a metric of one's own: squared logarithms, as in the guide to custom objectives."""

import numpy as np
from sklearn.datasets import fetch_california_housing, load_diabetes, make_regression  # noqa: F401
from sklearn.metrics import mean_squared_log_error
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier, XGBRegressor


def squared_log(y_true, y_pred):
    """Return gradient and hessian of half the squared difference of logarithms."""
    y_pred = np.maximum(y_pred, -1 + 1e-6)
    grad = (np.log1p(y_pred) - np.log1p(y_true)) / (y_pred + 1)
    hess = (-np.log1p(y_pred) + np.log1p(y_true) + 1) / np.power(y_pred + 1, 2)
    return grad, hess


def rmsle(y_true, y_pred):
    """Return the metric of that loss."""
    return float(np.sqrt(np.mean((np.log1p(np.maximum(y_pred, 0)) - np.log1p(y_true)) ** 2)))


rng = np.random.RandomState(1)
X = rng.normal(size=(600, 5))
y = np.exp(0.4 * X[:, 0] - 0.3 * X[:, 1] + rng.normal(0, 0.1, 600))
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1)
model = XGBRegressor(
    n_estimators=40,
    max_depth=3,
    learning_rate=0.3,
    objective=squared_log,
    eval_metric=rmsle,
    base_score=1.0,
)
model.fit(X_train, y_train, eval_set=[(X_test, y_test)], verbose=False)
curve = model.evals_result()["validation_0"]["rmsle"]
print("rounds:", len(curve), "falls:", curve[-1] < curve[0])
found = np.maximum(model.predict(X_test), 0)
print("RMSLE: %.2f" % np.sqrt(mean_squared_log_error(y_test, found)))


def logistic(y_true, y_pred):
    """Return gradient and hessian of the log loss."""
    p = 1.0 / (1.0 + np.exp(-y_pred))
    return p - y_true, p * (1.0 - p)


label = (y > np.median(y)).astype(int)
own = XGBClassifier(n_estimators=20, max_depth=3, objective=logistic).fit(X, label)
usual = XGBClassifier(n_estimators=20, max_depth=3, base_score=0.5).fit(X, label)
margins = own.predict(X, output_margin=True), usual.predict(X, output_margin=True)
print("same margins: %s" % np.allclose(*margins, atol=1e-3), margins[0].shape)
print("accuracy: %.2f" % usual.score(X, label))
huber = XGBRegressor(objective="reg:pseudohubererror", n_estimators=30, max_depth=3).fit(
    X_train, y_train
)
print("R2 of Huber's: %.2f" % huber.score(X_test, y_test))
