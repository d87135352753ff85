"""Ensembles under the names of `sklearn.ensemble`: replace `sklearn` by `arboretum` in an import.

>>> from arboretum.ensemble import RandomForestClassifier
>>> RandomForestClassifier(n_estimators=3).fit([[0], [1]], ["no", "yes"]).n_features_in_
1
"""

from arboretum.boosting.adaboost.classifier import AdaBoostClassifier
from arboretum.boosting.adaboost.regressor import AdaBoostRegressor
from arboretum.boosting.friedman.gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from arboretum.boosting.scikit_learn.api import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboretum.combine.stacking import StackingClassifier, StackingRegressor
from arboretum.combine.voting import VotingClassifier, VotingRegressor
from arboretum.forest.bagging import BaggingClassifier, BaggingRegressor
from arboretum.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from arboretum.forest.isolation_forest import IsolationForest
from arboretum.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from arboretum.forest.trees_embedding import RandomTreesEmbedding
from arboretum.registry import missing_name

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "IsolationForest",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesEmbedding",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
]


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
