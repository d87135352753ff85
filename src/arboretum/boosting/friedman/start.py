"""F_0: the constant of smallest loss, zero, or an estimator's predictions.

`init_` of a fitted model is one of these; the sum of trees starts from its prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import DataError, ParameterError

if TYPE_CHECKING:
    from arboretum.boosting.loss.loss import Loss

__all__ = ["Constant", "fit_start", "raw_start", "take_rows"]


@dataclass(frozen=True, eq=False)
class Constant:
    """The same F for every row.

    Attributes
    ----------
    raw : float64 array of shape () or (n_classes,)
        F itself: log odds or the log of a mean, if the loss has such a link.

    Examples
    --------
    >>> Constant(np.array(2.5)).predict([[1.0], [7.0]])
    array([2.5, 2.5])
    """

    raw: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Return F for every row of a table."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return np.full((n, *self.raw.shape), self.raw)


def fit_start(
    init: Any, loss: Loss, X: Any, y: np.ndarray, w: np.ndarray | None, labels: np.ndarray | None
) -> Any:
    """Return the fitted start.

    Parameters
    ----------
    init : None, "zero" or estimator
    loss : Loss
    X : table
        As passed by the user; only an estimator reads it.
    y, w : arrays
        Numbers or class codes, and weights.
    labels : array or None
        The labels of the classes, which an estimator gets instead of codes.
    """
    if init is None:
        return Constant(loss.start(y, w))
    if isinstance(init, str):
        return Constant(np.zeros_like(loss.start(y, w)))
    from sklearn.base import clone
    from sklearn.utils.validation import has_fit_parameter

    name = type(init).__name__
    target = y if labels is None else labels[y]
    start = clone(init)
    if w is None:
        start.fit(X, target)
        return start
    if not has_fit_parameter(init, "sample_weight"):
        raise ParameterError(
            f"The initial estimator {name} does not support sample weights: choose another init, or "
            "leave the weights out"
        )
    start.fit(X, target, sample_weight=w)
    return start


def raw_start(start: Any, loss: Loss, X: Any, n: int, labels: np.ndarray | None) -> np.ndarray:
    """Return F_0 of n rows, one line per score: (1, n), or (K, n)."""
    if isinstance(start, Constant):
        F = np.empty((start.raw.size, n))
        F[:] = start.raw.reshape(-1, 1)
        return F
    if loss.classifies:
        answer = np.asarray(start.predict_proba(X), dtype=np.float64)
        _check_classes(start, answer, labels)
    else:
        answer = np.asarray(start.predict(X), dtype=np.float64)
        if answer.shape != (n,):
            raise DataError(
                f"the init estimator predicts an array of shape {answer.shape} for {n} rows: it "
                "must predict one number for each"
            )
    F = loss.raw_of(answer)
    if not np.isfinite(F).all():
        raise DataError("the init estimator predicts values that are not finite")
    return np.ascontiguousarray(F.T if F.ndim == 2 else F[None], dtype=np.float64)


def _check_classes(start: Any, answer: np.ndarray, labels: np.ndarray | None) -> None:
    """Raise unless the init estimator predicts boosting's classes; a wrapper may not name its own."""
    if labels is None:
        return
    known = getattr(start, "classes_", None)
    if known is not None and not np.array_equal(known, labels):
        raise DataError(
            f"the init estimator has the classes {np.asarray(known).tolist()}, boosting has "
            f"{labels.tolist()}: give it all of them"
        )
    if answer.ndim != 2 or answer.shape[1] != len(labels):
        raise DataError(
            f"the init estimator's predict_proba has shape {answer.shape}, boosting has "
            f"{len(labels)} classes: it must have one column per class"
        )


def take_rows(X: Any, rows: np.ndarray | None) -> Any:
    """Return some rows of a table in its original form, for an estimator."""
    if rows is None:
        return X
    from sklearn.utils import _safe_indexing

    if isinstance(X, str) or not (hasattr(X, "shape") or isinstance(X, list | tuple)):
        raise DataError(
            "an init estimator together with n_iter_no_change needs X as an array or a dataframe: "
            "read the file first"
        )
    return _safe_indexing(X, rows)
