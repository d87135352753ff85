"""Quantiles as intervals, other losses, monotone and constrained columns."""

import warnings

import lightgbm as lgb
import numpy as np
from sklearn.metrics import mean_absolute_error, mean_pinball_loss
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputRegressor

warnings.filterwarnings("ignore", category=UserWarning)
rng = np.random.RandomState(11)
X = np.sort(rng.uniform(0, 10, 1200))[:, None]
y = np.sin(X[:, 0]) * 3 + rng.normal(0, 0.3 + X[:, 0] / 10)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
bands = {}
for alpha in (0.05, 0.5, 0.95):
    model = lgb.LGBMRegressor(
        objective="quantile", alpha=alpha, n_estimators=80, num_leaves=12, verbose=-1
    )
    bands[alpha] = model.fit(X_train, y_train).predict(X_test)
    below = (y_test <= bands[alpha]).mean()
    loss = mean_pinball_loss(y_test, bands[alpha], alpha=alpha)
    print("quantile %.2f: below %.2f, loss %.2f" % (alpha, below, loss))
print("inside: %.2f" % ((bands[0.05] <= y_test) & (y_test <= bands[0.95])).mean())
for objective in ("regression", "regression_l1", "huber", "fair", "mape"):
    model = lgb.LGBMRegressor(objective=objective, n_estimators=60, num_leaves=12, verbose=-1)
    print(
        objective,
        "MAE %.2f" % mean_absolute_error(y_test, model.fit(X_train, y_train).predict(X_test)),
    )

Z = rng.normal(size=(800, 3))
line = 3 * Z[:, 0] - 2 * Z[:, 1] + rng.normal(size=800)
for method in ("basic", "intermediate", "advanced"):
    steady = lgb.LGBMRegressor(
        n_estimators=40,
        monotone_constraints=[1, -1, 0],
        monotone_constraints_method=method,
        verbose=-1,
    ).fit(Z, line)
    grid = np.zeros((30, 3))
    grid[:, 1] = np.linspace(-2, 2, 30)
    print(
        method,
        "falls:",
        bool((np.diff(steady.predict(grid)) <= 0).all()),
        "R2 %.2f" % steady.score(Z, line),
    )
counts = rng.poisson(np.exp(0.6 * Z[:, 0]))
for objective in ("poisson", "tweedie"):
    model = lgb.LGBMRegressor(objective=objective, n_estimators=40, verbose=-1).fit(Z, counts)
    print(objective, "mean %.2f of %.2f" % (model.predict(Z).mean(), counts.mean()))
gamma = lgb.LGBMRegressor(objective="gamma", n_estimators=30, verbose=-1).fit(Z, np.exp(line / 5))
print("gamma: positive:", bool((gamma.predict(Z) > 0).all()))
both = MultiOutputRegressor(lgb.LGBMRegressor(n_estimators=20, verbose=-1)).fit(
    Z, np.c_[line, counts]
)
print("two targets:", both.predict(Z).shape)
extra = lgb.LGBMRegressor(extra_trees=True, n_estimators=40, verbose=-1).fit(Z, line)
print("extra trees: %.2f" % extra.score(Z, line))
