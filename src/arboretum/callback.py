"""Callbacks of `XGBClassifier` and the other XGBoost estimators, under the names of `xgboost.callback`.

    callbacks=[...]               a parameter of the estimator

    EarlyStopping                 stop when a metric has not improved for some rounds
    EvaluationMonitor             print the metrics of every n-th round
    LearningRateScheduler         another learning rate in every round
    TrainingCallback              the base of your own

XGBoost's `TrainingCheckPoint` is a fit argument here: ``fit(..., save_snapshot="run.snap", resume=True)``.
LightGBM's callbacks, which are functions, are `arboretum.early_stopping`, `log_evaluation`,
`record_evaluation` and `reset_parameter`.

Examples
--------
>>> from arboretum import XGBRegressor
>>> from arboretum.callback import LearningRateScheduler, TrainingCallback
>>> from sklearn.datasets import load_diabetes
>>> class Count(TrainingCallback):
...     rounds = 0
...
...     def after_iteration(self, model, epoch, evals_log):
...         self.rounds += 1
...         return self.rounds == 3  # True ends the training
>>> count = Count()
>>> slower = LearningRateScheduler(lambda epoch: 0.3 * 0.9**epoch)
>>> model = XGBRegressor(n_estimators=10, max_depth=2, callbacks=[slower, count])
>>> len(model.fit(*load_diabetes(return_X_y=True)).trees_)
3
"""

from arboretum.boosting.callbacks.xgboost_callbacks import (
    EarlyStopping,
    EvaluationMonitor,
    LearningRateScheduler,
    TrainingCallback,
)

__all__ = ["EarlyStopping", "EvaluationMonitor", "LearningRateScheduler", "TrainingCallback"]
