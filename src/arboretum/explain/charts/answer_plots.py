"""Predicted and actual classes: `plot_calibration` and `plot_confusion`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import DataError, ParameterError
from arboretum.explain.labels import check_int
from arboretum.explain.mpl import LINES, QUIET, TEXT, axes_for, tidy
from arboretum.explain.pipeline import classes_of
from arboretum.structure.condition import format_category

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_calibration", "plot_confusion"]

_MOST_CLASSES = 30


def plot_calibration(
    model: Any, X: Any, y: Any, *, n_bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw predicted probabilities against observed frequencies; on the diagonal, 70 % means 7 of 10.

    Rows are sorted by probability and divided into bins of equal size; the band is two standard errors.

    Parameters
    ----------
    model : fitted classifier
    X, y : rows it was not fitted on, and their classes
    n_bins : int, default 10
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from arboretum import RandomForestClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> ax = plot_calibration(forest, X[1::2], y[1::2])
    """
    check_int(n_bins, "n_bins of plot_calibration", 2)
    classes, codes = _actual(model, y, "plot_calibration")
    probability = np.asarray(model.predict_proba(X))
    if len(probability) != len(codes):
        raise DataError(f"X has {len(probability)} rows and y has {len(codes)}")
    ax = axes_for("plot_calibration", ax, (5.6, 5.2))
    ax.plot([0, 1], [0, 1], color=QUIET, lw=1, ls=(0, (4, 3)))
    two = len(classes) == 2
    for k in [1] if two else range(len(classes)):
        predicted, observed, error = _bins(probability[:, k], codes == k, n_bins)
        color = LINES[0] if two else LINES[k % len(LINES)]
        ax.plot(
            predicted, observed, color=color, marker="o", ms=4, label=format_category(classes[k])
        )
        if two:
            low, high = np.clip((observed - 2 * error, observed + 2 * error), 0, 1)
            ax.fill_between(predicted, low, high, color=color, alpha=0.15, lw=0)
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("observed frequency")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.legend(frameon=False, fontsize="small")
    tidy(ax, "both")
    return ax


def plot_confusion(
    model: Any, X: Any, y: Any, *, normalize: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw the confusion matrix: actual classes down, predicted classes across.

    Parameters
    ----------
    model : fitted classifier of up to 30 classes
    X, y : rows and their classes
    normalize : bool, default False
        Write shares of the actual class instead of counts; colours always show shares.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_confusion(CARTClassifier(max_depth=2).fit(X, y), X, y)
    >>> ax.get_xlabel()
    'predicted'
    """
    classes, codes = _actual(model, y, "plot_confusion")
    K = len(classes)
    if K > _MOST_CLASSES:
        raise DataError(f"plot_confusion draws up to {_MOST_CLASSES} classes, got {K}")
    predicted = _codes(classes, np.asarray(model.predict(X)))
    if len(predicted) != len(codes):
        raise DataError(f"X has {len(predicted)} rows and y has {len(codes)}")
    known = codes >= 0
    counts = np.zeros((K, K), np.int64)
    np.add.at(counts, (codes[known], predicted[known]), 1)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    size = 2.2 + 0.62 * K
    ax = axes_for("plot_confusion", ax, (size + 0.8, size))
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    for r in range(K):
        for c in range(K):
            text = f"{share[r, c]:.0%}" if normalize else f"{counts[r, c]:,}"
            ax.text(
                c,
                r,
                text,
                ha="center",
                va="center",
                fontsize=9 if K <= 12 else 6,
                color="white" if share[r, c] > 0.55 else TEXT,
            )
    names = [format_category(one) for one in classes]
    ax.set_xticks(range(K), names, rotation=40 if K > 4 else 0)
    ax.set_yticks(range(K), names)
    ax.set_xlabel("predicted")
    ax.set_ylabel("actual")
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    unknown = int((~known).sum())
    if unknown:
        ax.set_title(
            f"left out: {unknown} rows with classes the model does not have",
            fontsize="small",
            color=QUIET,
        )
    return ax


def _actual(model: Any, y: Any, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and the codes of the labels, -1 for classes the model does not have."""
    classes = classes_of(model)
    if classes is None:
        raise ParameterError(
            f"{caller} needs a fitted classifier of one target, got {type(model).__name__}"
        )
    codes = _codes(classes, np.asarray(y).reshape(-1))
    if not np.any(codes >= 0):
        raise DataError(f"{caller}: no label of y is a class of the model")
    return classes, codes


def _codes(classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in labels.tolist()], np.int64)


def _bins(share: np.ndarray, hit: np.ndarray, n_bins: int) -> tuple[np.ndarray, ...]:
    parts = [p for p in np.array_split(np.argsort(share, kind="stable"), n_bins) if len(p)]
    predicted = np.array([share[p].mean() for p in parts])
    seen = np.array([hit[p].mean() for p in parts])
    n = np.array([len(p) for p in parts])
    return predicted, seen, np.sqrt(np.maximum(seen * (1 - seen), 0.25 / n) / n)
