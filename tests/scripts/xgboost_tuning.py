"""Search for parameters: at random, on a grid, in pipelines, and by a loop of one's own."""

import numpy as np
from scipy.stats import randint, uniform
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_wine
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.metrics import make_scorer, mean_absolute_error, mean_squared_error
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRegressor

X, y = load_diabetes(return_X_y=True)
search = RandomizedSearchCV(
    XGBRegressor(objective="reg:squarederror", random_state=0, n_jobs=1),
    {
        "max_depth": randint(2, 5),
        "learning_rate": uniform(0.05, 0.2),
        "n_estimators": randint(20, 60),
        "subsample": [0.7, 0.9],
        "colsample_bytree": [0.6, 1.0],
        "gamma": [0, 1],
        "reg_lambda": [1, 5],
    },
    n_iter=6,
    scoring="neg_root_mean_squared_error",
    cv=KFold(3, shuffle=True, random_state=0),
    random_state=0,
)
search.fit(X, y)
print("RMSE of the best: %.0f" % -search.best_score_)
print("settings tried:", len(search.cv_results_["mean_test_score"]), sorted(search.best_params_))

pipe = Pipeline(
    [
        ("scale", StandardScaler()),
        ("select", SelectKBest(f_regression)),
        ("xgb", XGBRegressor(n_estimators=30)),
    ]
)
grid = GridSearchCV(
    pipe,
    {"select__k": [5, 10], "xgb__max_depth": [2, 3]},
    scoring=make_scorer(mean_absolute_error, greater_is_better=False),
    cv=3,
)
grid.fit(X, y)
print("MAE of the best: %.0f" % -grid.best_score_, "depth:", grid.best_params_["xgb__max_depth"])

wine, kind = load_wine(return_X_y=True)
folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1)
scores = cross_val_score(
    XGBClassifier(n_estimators=20, max_depth=3), wine, kind, cv=folds, scoring="accuracy"
)
print("accuracy %.2f of %d fits" % (scores.mean(), len(scores)))


def objective(params):
    """Return the error of one setting, as tuners call it."""
    errors = []
    for train, test in KFold(2, shuffle=True, random_state=3).split(X):
        model = XGBRegressor(**params)
        model.fit(X[train], y[train], eval_set=[(X[test], y[test])], verbose=False)
        errors.append(mean_squared_error(y[test], model.predict(X[test])) ** 0.5)
    return np.mean(errors)


rng = np.random.RandomState(0)
trials = []
for _ in range(4):
    params = {
        "n_estimators": 150,
        "max_depth": int(rng.randint(2, 6)),
        "eta": float(10 ** rng.uniform(-2, -0.5)),
        "early_stopping_rounds": 8,
        "random_state": 0,
    }
    trials.append((objective(params), params["max_depth"]))
print("trials:", len(trials), "lowest RMSE: %.0f" % min(trials)[0])
logged = TransformedTargetRegressor(
    XGBRegressor(n_estimators=20, max_depth=2), func=np.log1p, inverse_func=np.expm1
)
print("R2 of logarithms: %.2f" % logged.fit(X, y).score(X, y))
