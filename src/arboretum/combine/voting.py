"""Voting: the predictions of several models are averaged, or counted.

The machinery is scikit-learn's, whose classes these are.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn import ensemble

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter
from arboretum.base.shap_values import Explains, Member
from arboretum.combine.base import KeepsClasses, Together, tree_classifiers, tree_regressors

__all__ = ["VotingClassifier", "VotingRegressor"]


class _Voting(Together):
    """What the two voting estimators share."""

    weights: Any
    _family: ClassVar = "vote"
    _parameters: ClassVar = {
        **Together._parameters,
        "weights": Parameter(
            p.none
            | p.ParameterRule(
                "a list of numbers", lambda v: np.iterable(v) and not isinstance(v, str)
            ),
            "Weight of each model; None: all the same.",
        ),
        "voting": Parameter(
            p.one_of("hard", "soft"), "Count votes, or average class probabilities."
        ),
        "flatten_transform": Parameter(p.flag, "Shape of `transform` with probabilities."),
    }

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

    def _weights_of_parts(self) -> list[float]:
        return self._weights_not_none or super()._weights_of_parts()

    def _members(self) -> list[Member] | None:
        """Return the models whose predictions are averaged, if each can be explained."""
        if getattr(self, "voting", "soft") == "hard":
            return None
        if not all(isinstance(one, Explains) for one in self.estimators_):
            return None
        weights = self._weights_not_none or [1.0] * len(self.estimators_)
        return [Member(one, float(w)) for one, w in zip(self.estimators_, weights, strict=True)]


class VotingClassifier(KeepsClasses, _Voting, ensemble.VotingClassifier):
    """Models that vote: scikit-learn's `VotingClassifier`.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import C45Classifier, CARTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> models = [("cart", CARTClassifier(max_depth=2)), ("c45", C45Classifier())]
    >>> VotingClassifier(models).fit(X, y).predict(X.iloc[[0, 60, 149]])
    array([0, 1, 2])
    """

    _encoder: ClassVar = "le_"
    _attributes: ClassVar = {**_Voting._attributes, "classes_ : array": "The class labels."}
    _models: ClassVar = staticmethod(tree_classifiers)

    def __init__(
        self,
        estimators: Any = None,
        *,
        voting: str = "hard",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str | None = None,
    ) -> None:
        p.take_arguments(locals())


class VotingRegressor(_Voting, ensemble.VotingRegressor):
    """The mean of several models: scikit-learn's `VotingRegressor`.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from arboretum import CARTRegressor, RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = [("cart", CARTRegressor(max_depth=3)), ("rf", RandomForestRegressor(20, random_state=0))]
    >>> VotingRegressor(models).fit(X, y).score(X, y) > 0.5
    True
    """

    _models: ClassVar = staticmethod(tree_regressors)

    def __init__(
        self,
        estimators: Any = None,
        *,
        weights: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str | None = None,
    ) -> None:
        p.take_arguments(locals())
