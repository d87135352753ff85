"""A fitted model as a plain function of arrays: what a server asks, row by row.

    model ── predictor("predict_proba") ──► Predictor     all checks and layouts, once
    row ───► Predictor ──► numbers                         a shape, one compiled call, what the sum means

It knows the trees as one array (packed.py) and of the model what answers mean, nothing else: it stays as it
is when the model is fitted again, can be sent to other processes, and may be called by any number of threads,
because a call writes to nothing but its own answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.matrix import DenseMatrix
from arboretum.errors import DataError
from arboretum.predict.layout import add_laid_out
from arboretum.predict.packed import pack_trees

if TYPE_CHECKING:
    from arboretum.predict.ensemble import Ensemble
    from arboretum.predict.layout import Layout

__all__ = ["Predictor"]

_FLOAT = np.dtype(np.float64)
_MANY_ROWS = 64  # from which on all trees are asked at once (layout.py), where that pays


class Predictor:
    """``predictor(X)`` answers as a method of the model did when it was made, bit by bit.

    Made by ``model.predictor(method)``.

    Attributes
    ----------
    method : str
        The method of the model that it answers for.
    n_features : int
        Columns of X.
    """

    method: str
    n_features: int
    _model: Any  # without its trees
    _meaning: Callable[[np.ndarray], Any]
    _packed: np.ndarray | None
    _layout: Layout | None
    _ensemble: Ensemble | None  # where the trees cannot be packed
    _base: np.ndarray
    _total: float | None  # what sums are divided by
    _absent: float | None
    _one_row: tuple[int, int]  # the shape that is mostly asked about
    _add: Callable[..., None]

    __slots__ = (
        "_absent", "_add", "_base", "_ensemble", "_layout", "_meaning", "_model", "_one_row", "_packed",
        "_total", "method", "n_features",
    )  # fmt: skip

    def __init__(self, model: Any, ensemble: Ensemble, method: str, absent: float) -> None:
        from arboretum.engine.predict.packed_walk import add_packed

        packed = layout = None
        if ensemble.rule != "median" and ensemble.trees:
            terms = ensemble.terms
            packed, layout = pack_trees(terms.trees, terms.values, terms.columns), terms.layout
        mean = ensemble.rule == "mean"
        parts = {
            "method": method,
            "n_features": model.n_features_in_,
            "_model": model,
            "_meaning": model._meanings()[method],
            "_packed": packed,
            "_layout": layout,
            "_ensemble": ensemble if packed is None else None,
            "_base": np.array(ensemble.base, np.float64)[None],
            "_total": float(ensemble.weights.sum()) if mean else None,
            "_absent": None if np.isnan(absent) else absent,
            "_one_row": (1, model.n_features_in_),
            "_add": add_packed,
        }
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def __call__(self, X: Any) -> Any:
        """Return the answers to rows.

        Parameters
        ----------
        X : float array of shape (n_rows, n_features), or (n_features,) for one row
            Numbers as the model sees them: NaN is missing, a category is its place among the categories of
            its column (`encode` makes such an array of a table). Nothing but the shape is checked.

        Returns
        -------
        array, or what the method returns
            One answer per row; to one row of one dimension also an array of one answer.
        """
        if type(X) is not np.ndarray or X.dtype is not _FLOAT or not X.flags.carray:
            X = np.array(X, np.float64, order="C")
        if X.shape != self._one_row:
            if X.ndim == 1:
                X = X.reshape(1, -1)
            if X.ndim != 2 or X.shape[1] != self.n_features:
                raise DataError(
                    f"X has the shape {X.shape}, the predictor takes (rows, {self.n_features}) or one row "
                    f"of {self.n_features} numbers"
                )
        if self._absent is not None:
            X = np.where(self._absent == X, np.nan, X)
        return self._meaning(self._answers(X))

    def _answers(self, X: np.ndarray) -> np.ndarray:
        """Return what trees say together, as `Ensemble.answers` does."""
        if self._ensemble is not None:
            return self._ensemble.answers(DenseMatrix(X))
        answers = self._base.copy() if len(X) == 1 else np.repeat(self._base, len(X), axis=0)
        total = answers if answers.ndim == 2 else answers.reshape(len(X), -1)
        if len(X) < _MANY_ROWS or self._layout is None:
            self._add(self._packed, X, total)
        else:
            add_laid_out(self._layout, X, total)
        if self._total is not None:
            answers /= self._total
        return answers

    def encode(self, X: Any) -> np.ndarray:
        """Return a table, of words too, as the array of numbers that the predictor takes."""
        matrix = self._model._encode(X)
        return matrix.rows(0, matrix.n_rows)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"{name!r}: a Predictor cannot be changed, model.predictor() makes another"
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_add", "_meaning")
        return {name: getattr(self, name) for name in self.__slots__ if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from arboretum.engine.predict.packed_walk import add_packed

        meaning = state["_model"]._meanings()[state["method"]]
        for name, value in {**state, "_add": add_packed, "_meaning": meaning}.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Predictor({type(self._model).__name__}.{self.method}, {self.n_features} columns)"
