"""A fitted model as a plain function of arrays, as a server needs it row by row.

    model ── predictor("predict_proba") ──► Predictor     checks and layouts are made once
    rows ──► Predictor ──► numbers                         check of the shape, one compiled call, link
    one row ───► the same; its link is applied in place (link.py)

It holds the trees as one array (packed.py) and how the model turns sums into answers, nothing else: it does
not change when the model is fitted again, can be sent to other processes, and may be called from any number
of threads, because a call writes only to its own answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.matrix import DenseMatrix
from arboretum.errors import DataError
from arboretum.predict.engines.choose import Engine, choose
from arboretum.predict.engines.costs import PREDICTOR_ROWS
from arboretum.predict.engines.packed import pack_trees
from arboretum.predict.engines.walk import WalkEngine
from arboretum.predict.link import Meaning

if TYPE_CHECKING:
    from arboretum.predict.ensemble import Ensemble

__all__ = ["Predictor"]

_FLOAT = np.dtype(np.float64)
_MANY_ROWS = 1 << 20  # enough for any layout to be worthwhile


class Predictor:
    """``predictor(X)`` returns, bit by bit, what a method of the model returned when the predictor was made.

    Made by ``model.predictor(method)``.

    Attributes
    ----------
    method : str
        The method of the model that it stands for.
    n_features : int
        Columns of X.
    """

    method: str
    n_features: int
    _model: Any  # without its trees
    _meaning: Callable[[np.ndarray], Any]
    _packed: np.ndarray | None
    _of_many: Engine | None  # for many rows; None: the packed trees are used for these, too
    _ensemble: Ensemble | None  # if the trees cannot be packed, else None
    _base: np.ndarray
    _total: float | None  # what sums are divided by
    _absent: float | None
    _one_row: tuple[int, int]  # the shape of X with one row
    _one_answer: tuple[int, int] | None  # and of its answer; None if there is no shortcut
    _of_row: Callable[[np.ndarray], Any] | None
    _answer: Callable[..., None]

    __slots__ = (
        "_absent", "_answer", "_base", "_ensemble", "_meaning", "_model", "_of_many", "_of_row",
        "_one_answer", "_one_row", "_packed", "_total", "method", "n_features",
    )  # fmt: skip

    def __init__(self, model: Any, ensemble: Ensemble, method: str, absent: float) -> None:
        packed = of_many = None
        total = float(ensemble.weights.sum()) if ensemble.rule == "mean" else None
        if ensemble.rule != "median" and ensemble.trees:
            terms, divisor = ensemble.terms, 1.0 if total is None else total
            packed = pack_trees(terms.trees, terms.values, terms.columns, ensemble.base, divisor)
            engine = choose(terms, _MANY_ROWS)
            of_many = None if isinstance(engine, WalkEngine) else engine
        self.__setstate__({
            "method": method,
            "n_features": model.schema_.n_features,
            "_model": model,
            "_packed": packed,
            "_of_many": of_many,
            "_ensemble": ensemble if packed is None else None,
            "_base": np.array(ensemble.base, np.float64)[None],
            "_total": total,
            "_absent": None if np.isnan(absent) else absent,
            "_one_row": (1, model.schema_.n_features),
        })  # fmt: skip

    def __call__(self, X: Any) -> Any:
        """Return the answers for rows.

        Parameters
        ----------
        X : float array of shape (n_rows, n_features), or (n_features,) for one row
            Numbers as the model sees them: NaN is missing, a category is its index among the categories of
            its column (`encode` turns a table into such an array). Nothing but the shape is checked.

        Returns
        -------
        array, or what the method returns
            One answer per row; for a single row given as one dimension, an array of one answer.
        """
        if type(X) is not np.ndarray or X.dtype is not _FLOAT or not X.flags.carray:
            X = self._floats(X)
        if X.shape == self._one_row:
            if self._one_answer is not None and self._absent is None:
                answer = np.empty(self._one_answer)
                self._answer(self._packed, X, answer)
                return self._of_row(answer)  # type: ignore[misc]
        else:
            if X.ndim == 1:
                X = X.reshape(1, -1)
            if X.ndim != 2 or X.shape[1] != self.n_features:
                raise DataError(
                    f"X has the shape {X.shape}; the predictor takes (rows, {self.n_features}) or one row "
                    f"of {self.n_features} numbers"
                )
        if self._absent is not None:
            X = np.where(self._absent == X, np.nan, X)
        return self._meaning(self._answers(X))

    def _floats(self, X: Any) -> np.ndarray:
        try:
            return np.array(X, np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise DataError(
                f"a predictor takes an array of numbers, {type(X).__name__} cannot be turned into one: "
                "encode the table first, predictor(predictor.encode(X)), or call "
                f"{self.method} of the model"
            ) from error

    def _answers(self, X: np.ndarray) -> np.ndarray:
        """Return the combined answers of all trees, as `Ensemble.answers` does."""
        if self._ensemble is not None:
            return self._ensemble.answers(DenseMatrix(X))
        if len(X) < PREDICTOR_ROWS or self._of_many is None:
            answers = np.empty((len(X), self._base.size))
            self._answer(self._packed, X, answers)
        else:
            answers = np.repeat(self._base.reshape(1, -1), len(X), axis=0)
            self._of_many.add(X, answers)
            if self._total is not None:
                answers /= self._total
        return answers if self._base.ndim == 2 else answers.reshape(len(X), *self._base.shape[1:])

    def encode(self, X: Any) -> np.ndarray:
        """Return a table, which may contain text, as the array of numbers that the predictor takes."""
        matrix = self._model._encode(X)
        return matrix.rows(0, matrix.n_rows)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"{name!r}: a Predictor cannot be changed, model.predictor() makes another"
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_answer", "_meaning", "_of_row", "_one_answer")
        return {name: getattr(self, name) for name in self.__slots__ if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        meaning = state["_model"]._meanings()[state["method"]]
        short = isinstance(meaning, Meaning) and state["_packed"] is not None
        made = {
            "_meaning": meaning,
            "_of_row": meaning.of_row if short else None,
            "_one_answer": (1, meaning.width) if short else None,
            "_answer": _answer_packed(),
        }
        for name, value in {**state, **made}.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Predictor({type(self._model).__name__}.{self.method}, {self.n_features} columns)"


def _answer_packed() -> Callable[..., None]:
    """Return the compiled call, which checks no array: `Predictor` has done so."""
    from arboretum.engine.compiler.by_address import form_of
    from arboretum.engine.predict.packed_walk import answer_packed

    return form_of(answer_packed, np.zeros(9, np.uint64), np.zeros((0, 1)), np.zeros((0, 1)))
