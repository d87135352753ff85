"""The figures of one fold, as scikit-learn computes them.

    classification   log loss, accuracy, AUC (several classes: one against the rest, averaged), calibration
    regression       RMSE, R², MAE

Calibration is the mean distance between predicted probabilities and observed frequencies, in bins of equally
many rows: for two classes of the second, for more of the predicted class.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from arboretum.comparison.question import Question

__all__ = ["MEASURES", "Measure", "calibration_gap", "predict_codes", "score", "shares_of"]

_ROWS_PER_BIN, _MOST_BINS = 40, 12


class Measure(NamedTuple):
    """A figure: its key, its name, the better direction, and a sentence on it."""

    key: str
    name: str
    more: bool
    what: str


_CLASSES = (
    Measure("loss", "log loss", False, "penalty for confident wrong probabilities"),
    Measure("accuracy", "accuracy", True, "share of rows predicted correctly"),
    Measure("auc", "AUC", True, "chance that a row of a class gets more probability of it than another row"),
    Measure("calibration", "calibration gap", False, "mean distance of predicted from observed frequencies"),
)  # fmt: skip
_NUMBERS = (
    Measure("loss", "RMSE", False, "typical error; large errors count more"),
    Measure("r2", "R²", True, "share of the variance explained; 1 is perfect"),
    Measure("mae", "MAE", False, "mean absolute error"),
)
MEASURES = {"classification": _CLASSES, "regression": _NUMBERS}


def score(question: Question, rows: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return the figures of some rows; what cannot be computed for them is NaN.

    Parameters
    ----------
    question : Question
    rows : int array
        The tested rows.
    predicted : float array of shape (len(rows), classes), or (len(rows), 1) for numbers
        Probabilities of the classes of the question, or numbers.
    """
    if question.codes is None:
        return _of_numbers(question.y[rows], predicted[:, 0])
    return _of_classes(question.codes[rows], predicted)


def _of_numbers(y: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    from sklearn import metrics

    return {
        "loss": float(metrics.root_mean_squared_error(y, predicted)),
        "r2": float(metrics.r2_score(y, predicted)) if len(y) > 1 else math.nan,
        "mae": float(metrics.mean_absolute_error(y, predicted)),
    }


def _of_classes(codes: np.ndarray, shares: np.ndarray) -> dict[str, float]:
    from sklearn import metrics

    K = shares.shape[1]
    found = {
        "loss": float(metrics.log_loss(codes, shares, labels=np.arange(K))),
        "accuracy": float(np.mean(shares.argmax(axis=1) == codes)),
        "auc": math.nan,
        "calibration": calibration_gap(codes, shares),
    }
    if len(np.unique(codes)) == K:
        positive = shares[:, 1] if K == 2 else shares
        found["auc"] = float(metrics.roc_auc_score(codes, positive, multi_class="ovr"))
    return found


def calibration_gap(codes: np.ndarray, shares: np.ndarray) -> float:
    """Return the mean distance between predicted and observed frequencies.

    >>> calibration_gap(np.array([0, 1, 1, 1]), np.array([[0.5, 0.5]] * 4))
    0.25
    """
    if shares.shape[1] == 2:
        probability, hit = shares[:, 1], codes == 1
    else:
        probability, hit = shares.max(axis=1), shares.argmax(axis=1) == codes
    n_bins = min(max(len(codes) // _ROWS_PER_BIN, 1), _MOST_BINS)
    parts = np.array_split(np.argsort(probability, kind="stable"), n_bins)
    gaps = [abs(probability[part].mean() - hit[part].mean()) * len(part) for part in parts]
    return float(sum(gaps) / len(codes))


def shares_of(model: Any, X: Any, question: Question) -> np.ndarray:
    """Return what a fitted model predicts: probabilities of the question's classes, or numbers.

    Classes that the model has not seen have the probability 0. Estimators without probabilities predict one
    class with certainty.
    """
    if question.labels is None:
        return np.asarray(model.predict(X), np.float64).reshape(-1, 1)
    place = {label: k for k, label in enumerate(question.labels.tolist())}
    if not hasattr(model, "predict_proba"):
        codes = predict_codes(model, X, place)
        return np.eye(len(place))[codes]
    found = np.asarray(model.predict_proba(X), np.float64)
    shares = np.zeros((len(found), len(place)))
    shares[:, [place[label] for label in np.asarray(model.classes_).tolist()]] = found
    return shares


def predict_codes(model: Any, X: Any, place: dict[Any, int]) -> np.ndarray:
    """Return predicted classes as their places among the classes of the question."""
    return np.array([place[label] for label in np.asarray(model.predict(X)).tolist()])
