"""Losses and metrics of one's own, as the guide to the scikit-learn interface shows them."""

import lightgbm as lgb
import numpy as np
from sklearn.datasets import load_diabetes, make_classification
from sklearn.model_selection import train_test_split


def rmsle(y_true, y_pred):
    """Return the name, the value, and whether higher is better."""
    return (
        "RMSLE",
        np.sqrt(np.mean((np.log1p(np.maximum(y_pred, 0)) - np.log1p(y_true)) ** 2)),
        False,
    )


def rae(y_true, y_pred):
    """Return the relative absolute error."""
    return "RAE", np.abs(y_pred - y_true).sum() / np.abs(y_true.mean() - y_true).sum(), False


X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1)
gbm = lgb.LGBMRegressor(num_leaves=15, learning_rate=0.05, n_estimators=60, verbose=-1)
gbm.fit(
    X_train,
    y_train,
    eval_set=[(X_test, y_test)],
    eval_metric=rmsle,
    callbacks=[lgb.early_stopping(5, verbose=False)],
)
print("metrics:", sorted(gbm.evals_result_["valid_0"]), "stopped: %s" % (gbm.best_iteration_ <= 60))
gbm.fit(X_train, y_train, eval_set=[(X_test, y_test)], eval_metric=[rmsle, rae, "l1"])
last = {name: values[-1] for name, values in gbm.evals_result_["valid_0"].items()}
for name in sorted(last):
    print(name, "%.2f" % last[name] if name.startswith("R") else "is kept")


def asymmetric(y_true, y_pred):
    """Punish too small predictions ten times."""
    residual = y_true - y_pred
    return np.where(residual < 0, -2 * residual, -20 * residual), np.where(residual < 0, 2.0, 20.0)


own = lgb.LGBMRegressor(objective=asymmetric, n_estimators=60, learning_rate=0.1, verbose=-1)
own.fit(X_train, y_train)
plain = lgb.LGBMRegressor(n_estimators=60, verbose=-1).fit(X_train, y_train)
print(
    "too small: %.2f, plainly: %.2f"
    % ((own.predict(X_test) < y_test).mean(), (plain.predict(X_test) < y_test).mean())
)


def log_loss(y_true, y_pred):
    """Return gradient and hessian of the log loss."""
    p = 1 / (1 + np.exp(-y_pred))
    return p - y_true, p * (1 - p)


Xc, yc = make_classification(500, 8, n_informative=4, random_state=1)
clf = lgb.LGBMClassifier(objective=log_loss, n_estimators=30, verbose=-1).fit(Xc, yc)
raw = clf.predict(Xc, raw_score=True)
print("accuracy of raw scores: %.2f" % ((raw > 0) == yc).mean())
usual = lgb.LGBMClassifier(n_estimators=30, boost_from_average=False, verbose=-1).fit(Xc, yc)
print("as built in:", bool(np.allclose(raw, usual.predict(Xc, raw_score=True), atol=1e-5)))
weighted = lgb.LGBMRegressor(n_estimators=20, verbose=-1)
weighted.fit(X_train, y_train, sample_weight=1 / y_train, init_score=np.full(len(y_train), 150.0))
print("starts at 150: %.2f" % np.corrcoef(weighted.predict(X_train), y_train)[0, 1])
