"""Answers against the truth: `plot_calibration` and `plot_confusion`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import DataError, ParameterError
from arboretum.explain.labels import check_int
from arboretum.explain.mpl import require_pyplot
from arboretum.structure.condition import format_category

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_calibration", "plot_confusion"]

_LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_QUIET = "#5b6770"
_MOST_CLASSES = 30


def plot_calibration(
    model: Any, X: Any, y: Any, *, n_bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw how often what the model tells comes true: on the diagonal, 70 % means 7 times of 10.

    Rows are sorted by the share told and cut into bins of equally many; the band is two standard errors.

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
    plt = require_pyplot("plot_calibration")
    check_int(n_bins, "n_bins of plot_calibration", 2)
    classes, codes = _truth(model, y, "plot_calibration")
    share = np.asarray(model.predict_proba(X))
    if len(share) != len(codes):
        raise DataError(f"X has {len(share)} rows and y has {len(codes)}")
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
    ax.plot([0, 1], [0, 1], color=_QUIET, lw=1, ls=(0, (4, 3)))
    for k in [1] if len(classes) == 2 else range(len(classes)):
        told, seen, error = _bins(share[:, k], codes == k, n_bins)
        color = _LINES[k % len(_LINES)] if len(classes) > 2 else _LINES[0]
        ax.plot(told, seen, color=color, marker="o", ms=4, label=format_category(classes[k]))
        if len(classes) == 2:
            ax.fill_between(
                told,
                np.clip(seen - 2 * error, 0, 1),
                np.clip(seen + 2 * error, 0, 1),
                color=color,
                alpha=0.15,
                lw=0,
            )
    ax.set_xlabel("share the model tells")
    ax.set_ylabel("share that turns out so")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.legend(frameon=False, fontsize="small")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(color="#e6e9ec", lw=0.8)
    return ax


def plot_confusion(
    model: Any, X: Any, y: Any, *, normalize: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw what rows of every class are told to be: truth down, told across.

    Parameters
    ----------
    model : fitted classifier of up to 30 classes
    X, y : rows and their classes
    normalize : bool, default False
        Write shares of the class instead of counts; colours are shares either way.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_confusion(CARTClassifier(max_depth=2).fit(X, y), X, y)
    >>> ax.get_xlabel()
    'told'
    """
    plt = require_pyplot("plot_confusion")
    classes, codes = _truth(model, y, "plot_confusion")
    K = len(classes)
    if K > _MOST_CLASSES:
        raise DataError(
            f"a table of {K} classes shows nothing: plot_confusion draws up to {_MOST_CLASSES}"
        )
    told = _codes(classes, np.asarray(model.predict(X)))
    if len(told) != len(codes):
        raise DataError(f"X has {len(told)} rows and y has {len(codes)}")
    known = codes >= 0
    counts = np.zeros((K, K), np.int64)
    np.add.at(counts, (codes[known], told[known]), 1)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    if ax is None:
        size = 2.2 + 0.62 * K
        _, ax = plt.subplots(figsize=(size + 0.8, size), layout="constrained")
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
                color="white" if share[r, c] > 0.55 else "#1d2329",
            )
    names = [format_category(one) for one in classes]
    ax.set_xticks(range(K), names, rotation=40 if K > 4 else 0)
    ax.set_yticks(range(K), names)
    ax.set_xlabel("told")
    ax.set_ylabel("truth")
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    unknown = int((~known).sum())
    if unknown:
        ax.set_title(
            f"{unknown} rows of classes the model does not know are left out",
            fontsize="small",
            color=_QUIET,
        )
    return ax


def _truth(model: Any, y: Any, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and the codes of the truth, -1 for classes the model does not know."""
    classes = getattr(model, "classes_", None)
    if not isinstance(classes, np.ndarray) or not hasattr(model, "predict_proba"):
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
    told = np.array([share[p].mean() for p in parts])
    seen = np.array([hit[p].mean() for p in parts])
    n = np.array([len(p) for p in parts])
    return told, seen, np.sqrt(np.maximum(seen * (1 - seen), 0.25 / n) / n)
