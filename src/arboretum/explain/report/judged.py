"""How good the answers are: headline figures with bootstrap intervals, and what the curves are drawn from.

A bootstrap draws the rows again with replacement, 200 times; the interval holds 95 % of what comes out. Every
figure is a function of sums over rows, so a draw is a vector of weights and no row is copied.

    classes    accuracy, balanced accuracy, log loss, Brier score, ROC AUC (two classes)
    numbers    R², RMSE, MAE, median absolute error (no interval)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.report.tree_code import rounded

__all__ = ["DRAWS", "Judged", "figure", "judge"]

DRAWS = 200
_MOST_DRAWN = 8_000  # rows of a draw; larger tables are drawn from by that many rows
_CURVE = 160  # thresholds of a curve
_BINS = 12  # of a calibration curve
_POINTS = 900  # of a scatter
_LEAST_SHARE = 1e-15


class Judged:
    """Truth and answers of one table.

    Attributes
    ----------
    truth : int64 array of class codes (those the model does not know are -1), or float64 array
    answers : float64 array of shape (rows, classes) or (rows, 1)
    labels : list of str or None
    """

    def __init__(self, truth: np.ndarray, answers: np.ndarray, labels: list[str] | None) -> None:
        self.truth, self.answers, self.labels = truth, answers, labels

    # ------------------------------------------------------------------ figures
    def figures(self, seed: int = 0) -> list[dict[str, Any]]:
        """Return name, value, interval and what each means."""
        if self.labels is None:
            return self._number_figures(seed)
        return self._class_figures(seed)

    def _draws(self, n: int, seed: int) -> np.ndarray:
        """Return how often each row is drawn, (draws, n)."""
        rng = np.random.default_rng(seed)
        return np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(DRAWS)])

    def _some(self, seed: int) -> np.ndarray:
        n = len(self.truth)
        if n <= _MOST_DRAWN:
            return np.arange(n)
        return np.sort(np.random.default_rng(seed).choice(n, _MOST_DRAWN, replace=False))

    def _class_figures(self, seed: int) -> list[dict[str, Any]]:
        truth, share = self.truth, self.answers
        n, K = share.shape
        known = truth >= 0
        right = (share.argmax(axis=1) == truth).astype(np.float64)
        own = np.where(known, share[np.arange(n), np.maximum(truth, 0)], 0.0)
        loss = -np.log(np.clip(own, _LEAST_SHARE, 1.0))
        brier = (share**2).sum(axis=1) - 2 * own + 1.0
        if K == 2:
            brier = brier / 2
        some = self._some(seed)
        draws, width = self._draws(len(some), seed), np.sqrt(len(some) / n)

        def mean(values: np.ndarray) -> tuple[float, np.ndarray]:
            return float(values.mean()), draws @ values[some] / len(some)

        found = [
            figure("accuracy", *mean(right), width, "share of rows told right", high=True),
            figure(
                "log loss",
                *mean(loss),
                width,
                "how surprised the shares are by the truth",
                high=False,
            ),
            figure(
                "Brier score",
                *mean(brier),
                width,
                "squared distance of the shares from the truth",
                high=False,
            ),
        ]
        classes = [k for k in range(K) if np.any(truth == k)]
        if len(classes) > 1:
            whole = np.mean([right[truth == k].mean() for k in classes])
            parts = []
            for k in classes:
                here = truth[some] == k
                with np.errstate(invalid="ignore"):
                    parts.append(draws[:, here] @ right[some][here] / draws[:, here].sum(axis=1))
            drawn = np.mean(parts, axis=0)
            found.insert(
                1, figure("balanced accuracy", float(whole), drawn[np.isfinite(drawn)], width,
                           "mean over the classes of the share told right", high=True),
            )  # fmt: skip
        if K == 2 and len(classes) == 2:
            score, positive = share[:, 1], truth == 1
            drawn = _areas(score[some], positive[some], draws)
            whole = _areas(score, positive, np.ones((1, n)))[0]
            found.insert(
                1, figure("ROC AUC", float(whole), drawn, width,
                           "chance that a row of the second class scores above one of the first", high=True),
            )  # fmt: skip
        return found

    def _number_figures(self, seed: int) -> list[dict[str, Any]]:
        y, told = self.truth, self.answers[:, 0]
        error = y - told
        some = self._some(seed)
        draws, width = self._draws(len(some), seed), np.sqrt(len(some) / len(y))
        n = len(some)
        squared, absolute, ys = (
            draws @ error[some] ** 2 / n,
            draws @ np.abs(error[some]) / n,
            y[some],
        )
        middle = ys.mean()
        spread = draws @ (ys - middle) ** 2 / n - (draws @ (ys - middle) / n) ** 2
        rmse = float(np.sqrt(np.mean(error**2)))
        found = [
            figure(
                "RMSE",
                rmse,
                np.sqrt(squared),
                width,
                "typical error, large ones weigh more",
                high=False,
            ),
            figure(
                "MAE",
                float(np.abs(error).mean()),
                absolute,
                width,
                "mean absolute error",
                high=False,
            ),
        ]
        if y.var() > 0:
            with np.errstate(divide="ignore", invalid="ignore"):
                drawn = 1 - squared / spread
            value = float(1 - np.mean(error**2) / y.var())
            found.insert(
                0,
                figure(
                    "R²",
                    value,
                    drawn[np.isfinite(drawn)],
                    width,
                    "share of the variance explained",
                    high=True,
                ),
            )
        return found

    def losses(self) -> np.ndarray:
        """Return how wrong the answer to every row is."""
        if self.labels is None:
            return np.abs(self.truth - self.answers[:, 0])
        own = self.answers[np.arange(len(self.truth)), np.maximum(self.truth, 0)]
        return np.where(self.truth < 0, 1.0, 1.0 - own)

    # ------------------------------------------------------------------ classes
    def confusion(self) -> list[list[int]]:
        """Return counts, truth by told; a last line for classes the model does not know."""
        K = self.answers.shape[1]
        told = self.answers.argmax(axis=1)
        table = np.zeros((K + 1, K), np.int64)
        np.add.at(table, (np.where(self.truth < 0, K, self.truth), told), 1)
        return table[: K + bool(np.any(self.truth < 0))].tolist()

    def class_curves(self) -> list[dict[str, Any]]:
        """Return of every class (of two, the second) what is told at some thresholds, and calibration."""
        K = self.answers.shape[1]
        return [self._curve(k) for k in ([1] if K == 2 else range(min(K, 12)))]

    def _curve(self, k: int) -> dict[str, Any]:
        score, positive = self.answers[:, k], self.truth == k
        order = np.argsort(-score, kind="stable")
        s, hits = score[order], np.cumsum(positive[order])
        last = np.flatnonzero(
            np.append(s[1:] != s[:-1], True)
        )  # a threshold takes all of equal score
        if len(last) > _CURVE:
            wanted = np.linspace(0, len(last) - 1, _CURVE).round().astype(int)
            by_score = np.searchsorted(-s[last], -np.linspace(1, 0, 41))
            last = last[np.unique(np.concatenate([wanted, np.clip(by_score, 0, len(last) - 1)]))]
        area = (
            float(_areas(score, positive, np.ones((1, len(score))))[0])
            if 0 < positive.sum() < len(positive)
            else None
        )
        return {
            "class": k,
            "cut": rounded(s[last], 7),
            "tp": hits[last].tolist(),
            "fp": (last + 1 - hits[last]).tolist(),
            "p": int(positive.sum()),
            "n": int(len(positive) - positive.sum()),
            "auc": area,
            "ap": _average_precision(hits[_ends(s)], _ends(s) + 1, positive.sum()),
            "calibration": _calibration(score, positive),
        }

    # ------------------------------------------------------------------ numbers
    def residuals(self, seed: int = 0) -> dict[str, Any]:
        """Return told and truth of some rows, and the errors of all as a histogram."""
        y, told = self.truth, self.answers[:, 0]
        rng = np.random.default_rng(seed)
        some = (
            np.arange(len(y))
            if len(y) <= _POINTS
            else np.sort(rng.choice(len(y), _POINTS, replace=False))
        )
        error = y - told
        low, high = np.quantile(error, [0.005, 0.995])
        counts, edges = np.histogram(
            np.clip(error, low, high), bins=41, range=(low, high if high > low else low + 1)
        )
        return {
            "told": rounded(told[some]),
            "truth": rounded(y[some]),
            "row": some.tolist(),
            "shown": len(some),
            "edges": rounded(edges),
            "counts": counts.tolist(),
            "quantiles": rounded(np.quantile(error, [0.05, 0.25, 0.5, 0.75, 0.95])),
        }


def judge(
    model_labels: np.ndarray | None, y: Any, answers: np.ndarray, names: list[str] | None
) -> Judged:
    """Return truth and answers side by side; ``model_labels`` are the model's classes."""
    truth = np.asarray(y)
    if model_labels is None:
        return Judged(truth.astype(np.float64), answers, None)
    place = {label: k for k, label in enumerate(model_labels.tolist())}
    unique, inverse = np.unique(truth, return_inverse=True)
    codes = np.array([place.get(label, -1) for label in unique.tolist()], np.int64)
    return Judged(codes[inverse.reshape(-1)], answers, names)


def figure(
    name: str, value: float, drawn: np.ndarray, width: float, what: str, *, high: bool
) -> dict[str, Any]:
    """Return a figure with its interval; ``width`` shrinks that of draws smaller than the table."""
    low, top = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (value, value)
    middle = float(np.median(drawn)) if len(drawn) else value
    ends = [value + width * (float(end) - middle) for end in (low, top)]
    return {
        "name": name, "value": value, "low": ends[0], "high": ends[1], "what": what, "more": high,
    }  # fmt: skip


def _areas(score: np.ndarray, positive: np.ndarray, draws: np.ndarray) -> np.ndarray:
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


def _ends(s: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.append(s[1:] != s[:-1], True))


def _average_precision(hits: np.ndarray, told: np.ndarray, n_positive: int) -> float | None:
    if not n_positive:
        return None
    recall = hits / n_positive
    return float(np.sum(np.diff(np.append(0.0, recall)) * hits / told))


def _calibration(score: np.ndarray, positive: np.ndarray) -> dict[str, Any]:
    """Return mean score and share of the class in bins of equally many rows, with standard errors."""
    order = np.argsort(score, kind="stable")
    parts = [
        part for part in np.array_split(order, min(_BINS, max(1, len(order) // 5))) if len(part)
    ]
    told = np.array([score[part].mean() for part in parts])
    seen = np.array([positive[part].mean() for part in parts])
    n = np.array([len(part) for part in parts])
    error = np.sqrt(np.maximum(seen * (1 - seen), 0.25 / n) / n)
    gap = float(np.sum(np.abs(told - seen) * n) / n.sum())
    return {
        "told": rounded(told),
        "seen": rounded(seen),
        "error": rounded(error),
        "gap": gap,
        "n": n.tolist(),
    }
