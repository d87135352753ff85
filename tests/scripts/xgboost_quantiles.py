"""Intervals by quantiles, counts, monotone columns, several targets at once."""

import numpy as np
import xgboost as xgb
from sklearn.metrics import mean_pinball_loss, r2_score
from sklearn.model_selection import train_test_split

rng = np.random.RandomState(1994)
X = np.atleast_2d(rng.uniform(0, 10.0, size=900)).T
y = (X * np.sin(X)).ravel() + rng.lognormal(0, 0.5 + X.ravel() / 20)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
alpha = np.array([0.05, 0.5, 0.95])
reg = xgb.XGBRegressor(
    objective="reg:quantileerror", tree_method="hist", quantile_alpha=alpha, n_estimators=64,
    learning_rate=0.1, max_depth=4,
)  # fmt: skip
reg.fit(X_train, y_train)
bands = reg.predict(X_test)
print("bands:", bands.shape)
inside = (bands[:, 0] <= y_test) & (y_test <= bands[:, 2])
print("inside: %.2f" % inside.mean())
print("pinball loss of the median: %.2f" % mean_pinball_loss(y_test, bands[:, 1], alpha=0.5))
median = xgb.XGBRegressor(objective="reg:absoluteerror", n_estimators=60, max_depth=4).fit(
    X_train, y_train
)
print(
    "median and absolute error agree:",
    bool(np.corrcoef(median.predict(X_test), bands[:, 1])[0, 1] > 0.9),
)

Z = rng.normal(size=(700, 3))
line = 5 * Z[:, 0] + np.sin(5 * Z[:, 0]) - 4 * Z[:, 1] + rng.normal(size=700)
steady = xgb.XGBRegressor(n_estimators=50, max_depth=4, monotone_constraints=(1, -1, 0)).fit(
    Z, line
)
grid = np.zeros((30, 3))
grid[:, 0] = np.linspace(-2, 2, 30)
print(
    "rises:", bool((np.diff(steady.predict(grid)) >= 0).all()), "R2: %.2f" % steady.score(Z, line)
)
apart = xgb.XGBRegressor(n_estimators=30, interaction_constraints="[[0, 1], [2]]", max_depth=3).fit(
    Z, line
)
print("R2 of columns apart: %.2f" % apart.score(Z, line))

counts = rng.poisson(np.exp(0.5 * Z[:, 0] + 0.2))
poisson = xgb.XGBRegressor(objective="count:poisson", n_estimators=40, max_depth=2).fit(Z, counts)
print("mean count: %.2f, predicted: %.2f" % (counts.mean(), poisson.predict(Z).mean()))
claims = np.where(rng.rand(700) < 0.6, 0, rng.gamma(2, np.exp(0.3 * Z[:, 1])))
tweedie = xgb.XGBRegressor(
    objective="reg:tweedie", tweedie_variance_power=1.4, n_estimators=40, max_depth=2
)
print(
    "mean claim: %.2f, predicted: %.2f" % (claims.mean(), tweedie.fit(Z, claims).predict(Z).mean())
)

both = np.c_[line, 2 * Z[:, 2]]
two = xgb.XGBRegressor(n_estimators=40, max_depth=3, tree_method="hist").fit(Z, both)
print("two targets:", two.predict(Z).shape, "R2: %.2f" % r2_score(both, two.predict(Z)))
