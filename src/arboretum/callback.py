"""Callbacks of `XGBClassifier` and the other XGBoost estimators, under the names of `xgboost.callback`.

    callbacks=[...]               a parameter of the estimator

    EarlyStopping                 stop when a metric has not improved for some rounds
    EvaluationMonitor             print the metrics of every n-th round
    LearningRateScheduler         another learning rate in every round
    TrainingCheckPoint            write the model to a file every few rounds
    TrainingCallback              the base of your own

Methods get the model during training, which has the methods of `get_booster()`. Objects of XGBoost's own
classes and of Optuna's `XGBoostPruningCallback` work, too. LightGBM's callbacks, which are functions, are
`arboretum.early_stopping`, `log_evaluation`, `record_evaluation` and `reset_parameter`.

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
    TrainingCheckPoint,
)

__all__ = [
    "EarlyStopping",
    "EvaluationMonitor",
    "LearningRateScheduler",
    "TrainingCallback",
    "TrainingCheckPoint",
]
