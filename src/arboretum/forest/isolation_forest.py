"""Isolation forests (Liu, Ting and Zhou 2008): anomalies are rows that few random cuts isolate.

score_samples = -2^(-mean path length / c(ψ))        ψ: rows of a tree; c: see path_lengths.py
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter
from arboretum.base.sampling import BagRules, make_bags
from arboretum.data.checks import warn_caller
from arboretum.data.matrix import Matrix
from arboretum.errors import ModelFileError
from arboretum.forest.path_lengths import average_path_length
from arboretum.forest.random_cuts import RandomCuts
from arboretum.predict.ensemble import Ensemble
from arboretum.predict.link import Link
from arboretum.structure.tree import Tree

__all__ = ["IsolationForest"]

_FEW = 256  # rows of a tree: more would let anomalies hide one another
_MIDDLE = -0.5  # the score of a row with an average path


class IsolationForest(OutlierMixin, RandomCuts):
    """Anomalies by random cuts: scikit-learn's `IsolationForest`.

    Trees cut rows apart at random. Anomalies are rare and different: a few cuts isolate them.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> model = IsolationForest(random_state=0).fit([[-1.1], [0.3], [0.5], [100.0]])
    >>> model.predict([[0.1], [0.0], [90.0]])
    array([ 1,  1, -1])
    """

    bootstrap_features: ClassVar[bool] = False
    max_samples_: int
    offset_: float

    _learned: ClassVar[tuple[str, ...]] = ("trees_", "offset_")
    _parameters: ClassVar = {
        **RandomCuts._parameters,
        "max_samples": Parameter(
            p.one_of("auto") | p.integer(1) | p.fraction(0, 1, open_low=True),
            'Rows of each tree; a float is a share of the rows; "auto" is 256, or all of fewer rows.',
        ),
        "contamination": Parameter(
            p.one_of("auto") | p.real(0, 0.5, open_low=True),
            'Share of the training rows that `predict` calls anomalies; "auto" calls those anomalies whose '
            "path is shorter than the average, c(ψ).",
        ),
        "max_features": Parameter(
            p.integer(1) | p.fraction(0, 1, open_low=True),
            "Columns of each tree; a float is a share of the columns.",
        ),
        "bootstrap": Parameter(p.flag, "Draw rows with replacement."),
    }
    _attributes: ClassVar = {
        **RandomCuts._attributes,
        "estimators_features_ : list of int arrays": "The columns of every tree.",
        "max_samples_ : int": "Rows of every tree.",
        "offset_ : float": "`decision_function` is `score_samples` minus this.",
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: int | float | str = "auto",
        contamination: float | str = "auto",
        max_features: int | float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
    ) -> None:
        p.take_arguments(locals())

    # ------------------------------------------------------------------ fitting
    def _make_bags(self, matrix: Matrix, weight: np.ndarray | None) -> BagRules:
        n = matrix.n_rows if weight is None else int(np.count_nonzero(weight))
        self.max_samples_ = self._bag_size(n)
        rules = copy.copy(self)
        rules.max_samples = self.max_samples_
        return make_bags(rules, matrix.shape, weight, by_weight=True)

    def _bag_size(self, n: int) -> int:
        wanted: Any = _FEW if self.max_samples == "auto" else self.max_samples
        if not isinstance(wanted, Integral):
            return max(int(wanted * n), 1)
        if int(wanted) > n and self.max_samples != "auto":
            warn_caller(
                f"max_samples ({wanted}) is greater than the total number of samples ({n}). max_samples will "
                "be set to n_samples for estimation."
            )
        return min(int(wanted), n)

    def _tree_parameters(self) -> dict[str, Any]:
        return {"max_depth": (max(self.max_samples_, 2) - 1).bit_length()}

    def _settle(self, matrix: Matrix) -> None:
        self.offset_ = _MIDDLE
        if self.contamination != "auto":
            scores = self._meanings()["score_samples"](self._path_sums(matrix))
            self.offset_ = float(np.percentile(scores, 100.0 * float(self.contamination)))

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The columns of every tree."""
        self._check_fitted()
        return [self._bags.features(t) for t in range(len(self))]

    # ------------------------------------------------------------------ predicting
    @property
    def _link(self) -> Link:
        """How path lengths become scores."""
        return Link("isolation", float(average_path_length(self.max_samples_)))

    def _as_one(self, trees: list[Tree], reading: str) -> Ensemble:
        return replace(super()._as_one(trees, reading), link=self._link)

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        link, offset = self._link, self.offset_

        def score(sums: np.ndarray) -> np.ndarray:
            return link.predict(sums.reshape(len(sums)))

        return {
            "score_samples": score,
            "decision_function": lambda sums: score(sums) - offset,
            "predict": lambda sums: np.where(score(sums) < offset, -1, 1),
        }

    def _without_trees(self) -> Self:
        part = super()._without_trees()
        part.max_samples_, part.offset_ = self.max_samples_, self.offset_
        return part

    def _answers(self, X: Any, method: str) -> np.ndarray:
        matrix = self._encode(X)
        return self._meanings()[method](self._path_sums(matrix))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return ``-2^(-mean path length / c(max_samples_))``: -1 is an anomaly, -0.5 an average row."""
        return self._answers(X, "score_samples")

    def decision_function(self, X: Any) -> np.ndarray:
        """Return `score_samples` minus `offset_`: negative for anomalies."""
        return self._answers(X, "decision_function")

    def predict(self, X: Any) -> np.ndarray:
        """Return -1 for anomalies and 1 for other rows."""
        return self._answers(X, "predict")

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "offset": self.offset_}

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        self.max_samples_, self.offset_ = self._bags.draws, state["offset"]
        if not isinstance(self.offset_, float) or not -1.0 <= self.offset_ <= 0.0:
            raise ModelFileError("its offset is no score")
