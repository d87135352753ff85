"""Voting: the answers of several models are averaged, or counted.

The machinery is scikit-learn's, whose classes these are.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn import ensemble

from arboretum.base import parameters as p
from arboretum.combine.together import (
    ESTIMATORS,
    KnowsClasses,
    Together,
    tree_classifiers,
    tree_regressors,
)

__all__ = ["VotingClassifier", "VotingRegressor"]

_VOTING_TEXT = """
    Parameters
    ----------
    estimators : list of (str, estimator) pairs or None, default=None
        The models; any of them may be the word "drop". None is a random forest, extra trees and
        AdaBoost.{voting}
    weights : list of numbers or None, default=None
        What each model counts; None: the same.
    n_jobs : int or None, default=None
        As joblib does; models of this library use threads of their own.{flatten}
    verbose : bool, default=False

    Attributes
    ----------
    estimators_ : list of estimators
    named_estimators_ : Bunch
    schema_ : Schema
        Names, kinds and categories of the columns.
"""
_VOTING_RULES = {
    "estimators": ESTIMATORS,
    "weights": p.none
    | p.Rule("a list of numbers", lambda v: np.iterable(v) and not isinstance(v, str)),
    "n_jobs": p.jobs,
    "verbose": p.flag | p.integer(0),
}


class _Voting(Together):
    """What the two voting estimators share."""

    weights: Any

    @property
    def _weights_not_none(self) -> list[float] | None:
        """Weights of the models that were not dropped."""
        if self.weights is None:
            return None
        pairs = type(self)._models() if self.estimators is None else self.estimators
        return [
            w
            for (_, model), w in zip(pairs, self.weights, strict=False)
            if not isinstance(model, str)
        ]


class VotingClassifier(KnowsClasses, _Voting, ensemble.VotingClassifier):
    __doc__ = (
        """Models that vote: scikit-learn's `VotingClassifier`.
"""
        + _VOTING_TEXT.format(
            voting="""
    voting : {"hard", "soft"}, default="soft"
        Count votes, or average class shares. (scikit-learn's default counts.)""",
            flatten="""
    flatten_transform : bool, default=True
        Shape of `transform` with shares.""",
        )
        + """    classes_ : array

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import C45Classifier, CARTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> models = [("cart", CARTClassifier(max_depth=2)), ("c45", C45Classifier())]
    >>> VotingClassifier(models).fit(X, y).predict(X.iloc[[0, 60, 149]])
    array([0, 1, 2])
    """
    )

    _rules: ClassVar = {
        **_VOTING_RULES,
        "voting": p.one_of("hard", "soft"),
        "flatten_transform": p.flag,
    }
    _encoder: ClassVar = "le_"
    _models: ClassVar = staticmethod(tree_classifiers)

    def __init__(
        self,
        estimators: Any = None,
        *,
        voting: str = "soft",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            estimators,
            voting=voting,
            weights=weights,
            n_jobs=n_jobs,
            flatten_transform=flatten_transform,
            verbose=verbose,
        )


class VotingRegressor(_Voting, ensemble.VotingRegressor):
    __doc__ = (
        """The mean of several models: scikit-learn's `VotingRegressor`.
"""
        + _VOTING_TEXT.format(voting="", flatten="")
        + """
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from arboretum import CARTRegressor, RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = [("cart", CARTRegressor(max_depth=3)), ("rf", RandomForestRegressor(20, random_state=0))]
    >>> VotingRegressor(models).fit(X, y).score(X, y) > 0.5
    True
    """
    )

    _rules: ClassVar = _VOTING_RULES
    _models: ClassVar = staticmethod(tree_regressors)

    def __init__(
        self,
        estimators: Any = None,
        *,
        weights: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(estimators, weights=weights, n_jobs=n_jobs, verbose=verbose)
