"""Actual values and predictions side by side: the numbers behind the curves and tables of the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.report.figures import area_under_roc, class_figures, number_figures
from arboretum.explain.report.tree_code import rounded

__all__ = ["Judged", "judge"]

_CURVE = 160  # points of a curve
_THRESHOLDS = np.arange(101) / 100
_BINS = 12  # of a calibration curve
_POINTS = 900  # of a scatter


class Judged:
    """Actual values and predictions of one table.

    Attributes
    ----------
    actual : int64 array of class codes (-1 for labels that are not a class of the model), or float64 array
    answers : float64 array of shape (rows, classes) or (rows, 1)
    labels : list of str or None
    """

    def __init__(self, actual: np.ndarray, answers: np.ndarray, labels: list[str] | None) -> None:
        self.actual, self.answers, self.labels = actual, answers, labels

    def figures(self, seed: int = 0) -> list[dict[str, Any]]:
        """Return name, value, interval, baseline and meaning of every headline figure."""
        if self.labels is None:
            return number_figures(self.actual, self.answers[:, 0], seed)
        return class_figures(self.actual, self.answers, self.labels, seed)

    def headline(self, figures: list[dict[str, Any]]) -> str:
        """Return one or two sentences that compare the predictions with those of a model without columns.

        Examples
        --------
        >>> answers = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])
        >>> judged = Judged(np.array([0, 1, 1, 0]), answers, ["No", "Yes"])
        >>> judged.headline(judged.figures())
        'Right in 3 of 4 rows; always predicting “No” is right in 2. It finds 1 of 2 rows that are “Yes”.'
        """
        if self.labels is None:
            return _of_numbers(self.actual, figures)
        return _of_classes(self.actual, self.answers, self.labels)

    def rmse(self, predicted: np.ndarray) -> float:
        """Return the root mean squared error of other predictions of these rows."""
        return float(np.sqrt(np.mean((predicted - self.actual) ** 2)))

    def losses(self) -> np.ndarray:
        """Return the error of every row: its size, or one minus the probability of the actual class."""
        if self.labels is None:
            return np.abs(self.actual - self.answers[:, 0])
        own = self.answers[np.arange(len(self.actual)), np.maximum(self.actual, 0)]
        return np.where(self.actual < 0, 1.0, 1.0 - own)

    def mistakes(self) -> np.ndarray:
        """Return the size of the error of every row, or 1.0 for a wrong class and 0.0 for the right one."""
        if self.labels is None:
            return np.abs(self.actual - self.answers[:, 0])
        return (self.answers.argmax(axis=1) != self.actual).astype(np.float64)

    # ------------------------------------------------------------------ classes
    def confusion(self) -> list[list[int]]:
        """Return counts, actual by predicted; a last line for labels that are not a class of the model."""
        K = self.answers.shape[1]
        predicted = self.answers.argmax(axis=1)
        table = np.zeros((K + 1, K), np.int64)
        np.add.at(table, (np.where(self.actual < 0, K, self.actual), predicted), 1)
        return table[: K + bool(np.any(self.actual < 0))].tolist()

    def class_curves(self) -> list[dict[str, Any]]:
        """Return the points of every class's curves (for two classes, the second's), and calibration."""
        K = self.answers.shape[1]
        return [self._curve(k) for k in ([1] if K == 2 else range(min(K, 12)))]

    def _curve(self, k: int) -> dict[str, Any]:
        score, positive = self.answers[:, k], self.actual == k
        order = np.argsort(-score, kind="stable")
        s, hits = score[order], np.cumsum(positive[order])
        last = np.flatnonzero(
            np.append(s[1:] != s[:-1], True)
        )  # rows of equal score are on the same side of every threshold
        if len(last) > _CURVE:
            last = last[np.linspace(0, len(last) - 1, _CURVE).round().astype(int)]
        area = (
            float(area_under_roc(score, positive, np.ones((1, len(score))))[0])
            if 0 < positive.sum() < len(positive)
            else None
        )
        return {
            "class": k,
            "tp": hits[last].tolist(),
            "fp": (last + 1 - hits[last]).tolist(),
            "p": int(positive.sum()),
            "n": int(len(positive) - positive.sum()),
            "auc": area,
            "ap": _average_precision(hits[_ends(s)], _ends(s) + 1, positive.sum()),
            "calibration": _calibration(score, positive),
        }

    def thresholds(self) -> list[list[int]] | None:
        """Return how many rows are predicted as the second of two classes, by threshold and actual class.

        A row is predicted as the second class if its probability is above the threshold, as `predict` does at
        0.5. One list for each actual class, and one for labels that are not a class of the model, with 101
        thresholds (0, 0.01, … 1); its last entry is the number of rows of that class.

        >>> judged = Judged(np.array([0, 1, 1]), np.array([[0.6, 0.4], [0.5, 0.5], [0.1, 0.9]]), ["a", "b"])
        >>> [(rows[39], rows[40], rows[50], rows[-1]) for rows in judged.thresholds()]
        [(1, 0, 0, 1), (2, 2, 1, 2)]
        """
        if self.answers.shape[1] != 2:
            return None
        counts = []
        for k in (0, 1, -1):
            here = self.answers[self.actual == k]
            score = np.sort(here[:, 1])
            above = len(score) - np.searchsorted(score, _THRESHOLDS, side="right")
            above[50] = np.sum(here.argmax(axis=1))  # forests round the sum of both probabilities
            counts.append([*above.tolist(), len(score)])
        return counts if counts[2][-1] else counts[:2]

    # ------------------------------------------------------------------ numbers
    def residuals(self, seed: int = 0) -> dict[str, Any]:
        """Return predicted and actual values of some rows, and a histogram of all errors."""
        y, predicted = self.actual, self.answers[:, 0]
        rng = np.random.default_rng(seed)
        some = (
            np.arange(len(y))
            if len(y) <= _POINTS
            else np.sort(rng.choice(len(y), _POINTS, replace=False))
        )
        error = y - predicted
        low, high = np.quantile(error, [0.005, 0.995])
        counts, edges = np.histogram(
            np.clip(error, low, high), bins=41, range=(low, high if high > low else low + 1)
        )
        return {
            "predicted": rounded(predicted[some]),
            "actual": rounded(y[some]),
            "row": some.tolist(),
            "shown": len(some),
            "edges": rounded(edges),
            "counts": counts.tolist(),
            "quantiles": rounded(np.quantile(error, [0.05, 0.25, 0.5, 0.75, 0.95])),
        }


def judge(
    model_labels: np.ndarray | None, y: Any, answers: np.ndarray, names: list[str] | None
) -> Judged:
    """Return actual values with the predictions; ``model_labels`` are the model's classes."""
    actual = np.asarray(y)
    if model_labels is None:
        return Judged(actual.astype(np.float64), answers, None)
    place = {label: k for k, label in enumerate(model_labels.tolist())}
    unique, inverse = np.unique(actual, return_inverse=True)
    codes = np.array([place.get(label, -1) for label in unique.tolist()], np.int64)
    return Judged(codes[inverse.reshape(-1)], answers, names)


def _ends(s: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.append(s[1:] != s[:-1], True))


def _average_precision(hits: np.ndarray, predicted: np.ndarray, n_positive: int) -> float | None:
    if not n_positive:
        return None
    recall = hits / n_positive
    return float(np.sum(np.diff(np.append(0.0, recall)) * hits / predicted))


def _calibration(score: np.ndarray, positive: np.ndarray) -> dict[str, Any]:
    """Return mean score and share of the class in bins of equally many rows, with standard errors."""
    order = np.argsort(score, kind="stable")
    parts = [
        part for part in np.array_split(order, min(_BINS, max(1, len(order) // 5))) if len(part)
    ]
    predicted = np.array([score[part].mean() for part in parts])
    seen = np.array([positive[part].mean() for part in parts])
    n = np.array([len(part) for part in parts])
    error = np.sqrt(np.maximum(seen * (1 - seen), 0.25 / n) / n)
    gap = float(np.sum(np.abs(predicted - seen) * n) / n.sum())
    return {
        "predicted": rounded(predicted),
        "seen": rounded(seen),
        "error": rounded(error),
        "gap": gap,
        "n": n.tolist(),
    }


# ---------------------------------------------------------------------- the headline
def _of_classes(actual: np.ndarray, answers: np.ndarray, labels: list[str]) -> str:
    n = len(actual)
    counts = np.bincount(actual[actual >= 0], minlength=len(labels))
    most, right = int(counts.argmax()), answers.argmax(axis=1) == actual
    share, base, whole = _shares([int(right.sum()), int(counts[most])], n)
    text = (
        f"Right in {share} of {whole} rows; always predicting “{labels[most]}” is right in {base}."
    )
    others = [k for k in range(len(counts)) if counts[k] and k != most]
    if not others:
        return text
    hits = {k: int(right[actual == k].sum()) for k in others}
    worst = min(others, key=lambda k: hits[k] / counts[k])
    found, rows = _shares([hits[worst]], int(counts[worst]))
    least = "" if len(others) == 1 else ", the class it finds least often"
    return f"{text} It finds {found} of {rows} rows that are “{labels[worst]}”{least}."


def _shares(parts: list[int], n: int) -> list[int]:
    """Return counts per 100 rows, and 100; for fewer than 100 rows, the counts themselves.

    >>> _shares([150, 30], 200), _shares([7], 9)
    ([75, 15, 100], [7, 9])
    """
    if n < 100:
        return [*parts, n]
    return [*(round(100 * part / n) for part in parts), 100]


def _of_numbers(actual: np.ndarray, figures: list[dict[str, Any]]) -> str:
    named = {one["name"]: one for one in figures}
    mae, mean = named["MAE"], float(actual.mean())
    spread = max(mae["baseline"][1], abs(mae["value"]))
    text = (
        f"Predictions are off by {_number(mae['value'], spread)} on average; always predicting the mean, "
        f"{_number(mean, spread)}, would be off by {_number(mae['baseline'][1], spread)}."
    )
    if "R²" not in named:
        return text
    explained = named["R²"]["value"]
    if explained <= 0:
        return f"{text} By squared error it is no better than the mean."
    return f"{text} It explains {100 * explained:.0f} % of the variance."


def _number(value: float, spread: float) -> str:
    """Write a number with three digits of a spread, thousands apart.

    >>> _number(181233.7, 40210.0), _number(12.0512, 0.2), _number(0.0, 0.0)
    ('181,234', '12.051', '0')
    """
    if not spread:
        return f"{value:,.6g}"
    places = 2 - int(np.floor(np.log10(spread)))
    if not -12 <= places <= 12:
        return f"{value:.3g}"
    text = f"{value:,.{max(places, 0)}f}"
    return "0" if float(text.replace(",", "")) == 0 else text
