"""Callbacks: stop early and keep the best, other learning rates, one of one's own; printed rounds."""

import numpy as np
import xgboost as xgb
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from xgboost.callback import EarlyStopping, LearningRateScheduler, TrainingCallback

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
stop = EarlyStopping(rounds=5, metric_name="rmse", data_name="validation_0", save_best=True)
model = xgb.XGBRegressor(
    n_estimators=200, max_depth=3, learning_rate=0.3, callbacks=[stop], eval_metric=["mae", "rmse"]
)
model.fit(X_train, y_train, eval_set=[(X_test, y_test)], verbose=False)
print("stopped early:", model.best_iteration < 100, "best: %.0f" % model.best_score)
print(
    "only the best rounds are kept:",
    model.get_booster().num_boosted_rounds() == model.best_iteration + 1,
)

rates = LearningRateScheduler(lambda epoch: 0.5 * 0.9**epoch)
slower = xgb.XGBRegressor(n_estimators=20, max_depth=3, callbacks=[rates]).fit(X_train, y_train)
print("R2 of falling rates: %.2f" % slower.score(X_train, y_train))


class Recorder(TrainingCallback):
    """Keep the metric of every round, and stop at a limit."""

    def __init__(self, limit):
        self.limit = limit
        self.seen = []

    def before_training(self, model):
        self.started = True
        return model

    def after_iteration(self, model, epoch, evals_log):
        self.seen.append(evals_log["validation_0"]["rmse"][-1])
        return epoch + 1 >= self.limit

    def after_training(self, model):
        self.ended = True
        return model


recorder = Recorder(limit=7)
own = xgb.XGBRegressor(n_estimators=50, max_depth=2, callbacks=[recorder])
own.fit(X_train, y_train, eval_set=[(X_train, y_train)], verbose=False)
print("rounds seen:", len(recorder.seen), "falls:", bool(np.all(np.diff(recorder.seen) < 0)))
print("called at the ends:", recorder.started and recorder.ended)
print("every third round:")
shown = xgb.XGBRegressor(n_estimators=7, max_depth=2, eval_metric="mae")
shown.fit(X_train, y_train, eval_set=[(X_train, y_train), (X_test, y_test)], verbose=3)
