"""Grids, pipelines, kinds of boosting, and a tuner's loop with early stopping."""

import lightgbm as lgb
import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

X, y = load_diabetes(return_X_y=True, as_frame=True)
estimator = lgb.LGBMRegressor(num_leaves=15, n_jobs=1, verbose=-1)
grid = GridSearchCV(estimator, {"learning_rate": [0.05, 0.1], "n_estimators": [20, 40]}, cv=3)
grid.fit(X, y)
print("R2 of the best: %.2f" % grid.best_score_, "of", len(grid.cv_results_["params"]), "settings")
prepare = ColumnTransformer(
    [("num", StandardScaler(), ["bmi", "bp"]), ("q", QuantileTransformer(n_quantiles=50), ["s5"])]
)
pipe = Pipeline([("prepare", prepare), ("lgbm", lgb.LGBMRegressor(n_estimators=30, verbose=-1))])
pipe.set_output(transform="pandas")
search = RandomizedSearchCV(
    pipe,
    {"lgbm__num_leaves": [4, 8, 16], "lgbm__min_child_samples": [5, 20]},
    n_iter=3,
    random_state=0,
    cv=3,
)
search.fit(X, y)
print("R2 of the pipeline: %.2f" % search.best_score_, sorted(search.best_params_))
for boosting in ("gbdt", "dart", "goss", "rf"):
    more = {"subsample": 0.7, "subsample_freq": 1} if boosting == "rf" else {}
    model = lgb.LGBMRegressor(
        boosting_type=boosting, n_estimators=40, num_leaves=8, verbose=-1, **more
    )
    print(boosting, "%.2f" % cross_val_score(model, X, y, cv=3).mean())

wine, kind = load_wine(return_X_y=True)
train, valid, y_train, y_valid = train_test_split(
    wine, kind, test_size=0.3, random_state=1, stratify=kind
)


class Trial:
    """Suggest values, as a tuner does."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def suggest_int(self, name, low, high):
        return int(self.rng.randint(low, high + 1))

    def suggest_float(self, name, low, high, log=False):
        if log:
            return float(np.exp(self.rng.uniform(np.log(low), np.log(high))))
        return float(self.rng.uniform(low, high))


def objective(trial):
    """Return the log loss of one setting."""
    params = {
        "objective": "multiclass",
        "metric": "multi_logloss",
        "verbosity": -1,
        "lambda_l1": trial.suggest_float("lambda_l1", 1e-8, 1.0, log=True),
        "lambda_l2": trial.suggest_float("lambda_l2", 1e-8, 1.0, log=True),
        "num_leaves": trial.suggest_int("num_leaves", 4, 16),
        "feature_fraction": trial.suggest_float("feature_fraction", 0.6, 1.0),
        "bagging_fraction": trial.suggest_float("bagging_fraction", 0.6, 1.0),
        "bagging_freq": trial.suggest_int("bagging_freq", 1, 5),
        "min_child_samples": trial.suggest_int("min_child_samples", 5, 15),
    }
    model = lgb.LGBMClassifier(**params, n_estimators=60)
    model.fit(
        train,
        y_train,
        eval_set=[(valid, y_valid)],
        callbacks=[lgb.early_stopping(10, verbose=False)],
    )
    return log_loss(y_valid, model.predict_proba(valid))


values = [objective(Trial(seed)) for seed in range(4)]
print("trials: %d, lowest log loss: %.2f" % (len(values), min(values)))
model = make_pipeline(StandardScaler(), lgb.LGBMClassifier(n_estimators=20, verbose=-1)).fit(
    train, y_train
)
print("accuracy: %.2f" % model.score(valid, y_valid), model[-1].get_params()["num_leaves"])
