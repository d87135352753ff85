"""The headline figures of a page: each with a bootstrap interval, a baseline and the better direction.

A bootstrap draws the rows again with replacement, 200 times; the interval holds 95 % of the results. Every
figure is a function of sums over rows, so a draw is a vector of weights and no row is copied.

    classes    accuracy, ROC AUC (two classes), balanced accuracy, log loss, Brier score
    numbers    R², RMSE, MAE

The baseline of a figure is the result of a model without columns on the same rows:

    accuracy, balanced accuracy    always the most frequent class
    log loss, Brier score          the frequencies of the classes as the probabilities of every row
    ROC AUC                        guessing, 0.5
    R², RMSE, MAE                  always the mean
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["DRAWS", "area_under_roc", "class_figures", "class_losses", "figure", "number_figures"]

DRAWS = 200
_MOST_DRAWN = 8_000  # rows per draw, also from larger tables
_LEAST_PROBABILITY = 1e-15


class _Draws:
    """Bootstrap draws of the rows of a table."""

    def __init__(self, n: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.some = np.arange(n)
        if n > _MOST_DRAWN:
            self.some = np.sort(rng.choice(n, _MOST_DRAWN, replace=False))
            rng = np.random.default_rng(seed)
        size = len(self.some)
        self.width = float(np.sqrt(size / n))
        self.counts = np.array(
            [np.bincount(rng.integers(0, size, size), minlength=size) for _ in range(DRAWS)]
        )

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of every draw."""
        return self.counts @ values[self.some] / len(self.some)


def class_figures(
    actual: np.ndarray, probability: np.ndarray, labels: list[str], seed: int
) -> list[dict[str, Any]]:
    """Return the figures of class probabilities; ``actual`` holds class codes, -1 for other labels."""
    n, K = probability.shape
    draws, classes = _Draws(n, seed), [k for k in range(K) if np.any(actual == k)]
    right = (probability.argmax(axis=1) == actual).astype(np.float64)
    frequency = np.bincount(actual[actual >= 0], minlength=K) / max(int(np.sum(actual >= 0)), 1)
    most = int(frequency.argmax())
    always = f"always “{labels[most]}”"

    loss, brier = _row_penalties(actual, probability)
    guess = _row_penalties(actual, np.broadcast_to(frequency, (n, K)))
    found = [
        figure("accuracy", float(right.mean()), draws.means(right), draws.width,
               "share of rows predicted correctly", high=True,
               baseline=(always, float(np.mean(actual == most)))),
        figure("log loss", float(loss.mean()), draws.means(loss), draws.width,
               "penalty for confident wrong probabilities", high=False,
               baseline=("class frequencies", float(guess[0].mean()))),
        figure("Brier score", float(brier.mean()), draws.means(brier), draws.width,
               "mean squared error of the probabilities", high=False,
               baseline=("class frequencies", float(guess[1].mean()))),
    ]  # fmt: skip
    if len(classes) > 1:
        whole, drawn = _balanced(actual, right, classes, draws)
        found.insert(
            1, figure("balanced accuracy", whole, drawn, draws.width,
                      "accuracy with every class counting equally", high=True,
                      baseline=(always, 1 / len(classes))),
        )  # fmt: skip
    if K == 2 and len(classes) == 2:
        score, positive, some = probability[:, 1], actual == 1, draws.some
        drawn = area_under_roc(score[some], positive[some], draws.counts)
        whole = float(area_under_roc(score, positive, np.ones((1, n)))[0])
        what = (
            f"chance that a random “{labels[1]}” gets a higher score than a random “{labels[0]}”; "
            "1 is perfect"
        )
        found.insert(
            1, figure("ROC AUC", whole, drawn, draws.width, what, high=True, baseline=("guessing", 0.5))
        )  # fmt: skip
    return found


def class_losses(actual: np.ndarray, probability: np.ndarray) -> tuple[float, float]:
    """Return the mean log loss, and the share of rows predicted wrongly.

    >>> loss, error = class_losses(np.array([0, 1]), np.array([[0.5, 0.5], [0.0, 1.0]]))
    >>> round(loss, 4), error
    (0.3466, 0.0)
    """
    wrong = probability.argmax(axis=1) != actual
    return float(_row_penalties(actual, probability)[0].mean()), float(wrong.mean())


def _row_penalties(actual: np.ndarray, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log loss and Brier score of every row."""
    n, K = probability.shape
    own = np.where(actual >= 0, probability[np.arange(n), np.maximum(actual, 0)], 0.0)
    loss = -np.log(np.clip(own, _LEAST_PROBABILITY, 1.0))
    brier = (probability**2).sum(axis=1) - 2 * own + 1.0
    return loss, brier / 2 if K == 2 else brier


def _balanced(
    actual: np.ndarray, right: np.ndarray, classes: list[int], draws: _Draws
) -> tuple[float, np.ndarray]:
    """Return the mean recall of the classes, and the same for every draw that contains all classes."""
    parts = []
    for k in classes:
        here = actual[draws.some] == k
        counts = draws.counts[:, here]
        with np.errstate(invalid="ignore"):
            parts.append(counts @ right[draws.some][here] / counts.sum(axis=1))
    drawn = np.mean(parts, axis=0)
    whole = float(np.mean([right[actual == k].mean() for k in classes]))
    return whole, drawn[np.isfinite(drawn)]


def number_figures(actual: np.ndarray, predicted: np.ndarray, seed: int) -> list[dict[str, Any]]:
    """Return the figures of predicted numbers."""
    draws, error, away = _Draws(len(actual), seed), actual - predicted, actual - actual.mean()
    squared = draws.means(error**2)
    spread = draws.means(away**2) - draws.means(away) ** 2
    mean = "always the mean"
    found = [
        figure("RMSE", float(np.sqrt(np.mean(error**2))), np.sqrt(squared), draws.width,
               "typical error; large errors count more", high=False,
               baseline=(mean, float(np.sqrt(np.mean(away**2))))),
        figure("MAE", float(np.abs(error).mean()), draws.means(np.abs(error)), draws.width,
               "mean absolute error", high=False, baseline=(mean, float(np.abs(away).mean()))),
    ]  # fmt: skip
    if actual.var() > 0:
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = 1 - squared / spread
        value = float(1 - np.mean(error**2) / actual.var())
        found.insert(
            0, figure("R²", value, drawn[np.isfinite(drawn)], draws.width,
                      "share of the variance explained; 1 is perfect", high=True, baseline=(mean, 0.0)),
        )  # fmt: skip
    return found


def figure(
    name: str,
    value: float,
    drawn: np.ndarray,
    width: float,
    what: str,
    *,
    high: bool,
    baseline: tuple[str, float],
) -> dict[str, Any]:
    """Return a figure with its interval; ``width`` scales it if draws are smaller than the table."""
    low, top = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (value, value)
    middle = float(np.median(drawn)) if len(drawn) else value
    ends = [value + width * (float(end) - middle) for end in (low, top)]
    return {
        "name": name, "value": value, "low": ends[0], "high": ends[1], "what": what, "more": high,
        "baseline": list(baseline),
    }  # fmt: skip


def area_under_roc(score: np.ndarray, positive: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return the area under the ROC curve for every draw of the rows; equal scores count half."""
    order = np.argsort(score, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(score[order]) != 0))
    w = draws[:, order]
    p = np.add.reduceat(w * positive[order], starts, axis=1).astype(np.float64)
    n = np.add.reduceat(w * ~positive[order], starts, axis=1).astype(np.float64)
    below = np.cumsum(n, axis=1) - n
    pairs = p.sum(axis=1) * n.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        area = (p * (below + n / 2)).sum(axis=1) / pairs
    return area[np.isfinite(area)]
