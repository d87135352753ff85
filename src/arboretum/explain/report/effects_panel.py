"""The effects of columns: importances of several kinds, curves, and pairs of columns that act together."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from arboretum.data.matrix import DenseMatrix
from arboretum.errors import ArboretumError
from arboretum.explain.dependence.importances import feature_importances
from arboretum.explain.dependence.model_function import table_for
from arboretum.explain.dependence.partial_dependence import Grid, as_sum, curves, grid_of
from arboretum.explain.pipeline import anatomy_of
from arboretum.explain.report.budget import Budget
from arboretum.explain.report.tree_code import rounded, whole
from arboretum.explain.worksheet.family import Given

__all__ = ["dependence_of", "importances_panel", "order_of", "pairs_of"]

_PERMUTED = 1_000  # rows that are shuffled
_MEAN_ROWS = 2_000  # averaged for a curve; fewer for a model that is not a sum of trees
_BRUTE_FORCE_ROWS = 100
_LINES = 30  # curves of single rows drawn with the mean
_CURVES = 10  # columns that get a curve
_PAIRED = 5  # columns whose pairs are compared
_PAIR_ROWS = 300
_PAIRS = 8  # pairs that are shown
_SHAP_ROWS = 200  # rows whose SHAP values of pairs are computed
_SHAP_COLUMNS = 120
_SHAP_LEAVES = 40_000
_OOB_CELLS = 30_000_000  # rows × trees × columns; larger models take too long

_WHAT = {
    "gain": "Share of the total gain of all splits that comes from splits on the column",
    "cover": "Share of the rows that pass a split on the column",
    "split": "Number of splits on the column",
    "permutation": "Increase of the error when the values of the column are shuffled",
    "oob_permutation": "Increase of the error on out-of-bag rows when the values are shuffled",
    "shap": "How far the column moves the score of a row on average (mean |SHAP value|)",
}


def importances_panel(
    model: Any, rows: np.ndarray, y: np.ndarray, train: Given | None, budget: Budget
) -> list[dict[str, Any]]:
    """Return the kinds of importance that the model has, the fastest to compute first."""
    anatomy = anatomy_of(model, "report")
    repeats = 3 if as_sum(anatomy) is not None and rows.shape[1] <= 60 else 1
    most, columns = min(len(rows), _PERMUTED), rows.shape[1]
    shuffled = budget.rows(
        "permutation importances", most, (repeats * columns + 1) * budget.walk_row
    )
    explained = budget.rows("SHAP importances", most, budget.shap_row)
    some, few = (_spread(len(rows), n) for n in (shuffled, explained))
    table = table_for(model, rows[some])
    requests: list[tuple[str, Any, Any, int]] = [
        (kind, None, None, 1) for kind in ("gain", "cover", "split")
    ]
    requests.append(("permutation", table, y[some], repeats))
    requests.append(("shap", table_for(model, rows[few]), None, 1))
    cells = 0 if anatomy.bags is None else len(anatomy.trees) * rows.size
    if train is not None and 0 < cells <= _OOB_CELLS:
        requests.append(("oob_permutation", train.X, train.y, 1))
    found = []
    for kind, X, target, n_repeats in requests:
        try:
            one = feature_importances(model, kind, X, target, n_repeats=n_repeats)
        except (ArboretumError, AttributeError):
            continue  # the model has no importances of this kind
        entry = {"kind": kind, "what": _WHAT[kind], "value": rounded(one.mean)}
        if len(one.per_tree) > 1:
            entry["error"] = rounded(one.standard_error)
        found.append(entry)
    return found


def _spread(n_rows: int, n: int) -> np.ndarray:
    """Return the numbers of n rows, evenly spread over all rows."""
    return np.unique(np.linspace(0, n_rows - 1, n).round().astype(int))


def order_of(panel: list[dict[str, Any]], n_columns: int) -> list[int]:
    """Return the columns, most important first, by the least biased kind there is."""
    best = {one["kind"]: one for one in panel}
    chosen = best.get("shap") or best.get("permutation") or best.get("gain")
    if chosen is None:
        return list(range(n_columns))
    value = np.array([0.0 if v is None else v for v in chosen["value"]])
    gain = best.get("gain")
    tie = np.zeros(n_columns) if gain is None else np.array([v or 0.0 for v in gain["value"]])
    return np.lexsort((-tie, -value)).tolist()


def dependence_of(
    model: Any, rows: np.ndarray, order: list[int], budget: Budget, *, lines: bool
) -> list[dict[str, Any]]:
    """Return curves of the most important columns: the mean, and those of some rows."""
    quick = as_sum(anatomy_of(model, "report")) is not None
    most = min(len(rows), _MEAN_ROWS if quick else _BRUTE_FORCE_ROWS)
    walks = _CURVES if quick else 5 * 15  # walks of a row
    some = _spread(len(rows), budget.rows("curves", most, walks * budget.walk_row))
    matrix, found = DenseMatrix(rows[some]), []
    shown = np.unique(np.linspace(0, len(some) - 1, min(_LINES, len(some))).round().astype(int))
    for f in order[: _CURVES if quick else 5]:
        try:
            grid = grid_of(
                model.schema_,
                matrix,
                [f],
                40 if quick else 15,
                (0.01, 0.99),
            )
        except ArboretumError:
            continue  # all values are missing
        mean, _ = curves(model, matrix, grid, n_jobs=1)
        entry = {"f": f, "x": whole(grid.axes[0]), "mean": rounded(mean, 6), "rows": len(some)}
        if lines:
            _, each = curves(model, matrix.take(shown), grid, each=True, n_jobs=1)
            assert each is not None
            entry["each"] = rounded(each[-1] if each.shape[0] == 1 else each[_widest(mean)], 4)
            entry["of"] = 0 if each.shape[0] == 1 else _widest(mean)
        found.append(entry)
    return found


def _widest(mean: np.ndarray) -> int:
    """Return the output that a column moves most."""
    return int(np.ptp(mean, axis=1).argmax())


# ---------------------------------------------------------------------- pairs
def pairs_of(model: Any, rows: np.ndarray, order: list[int], budget: Budget) -> dict[str, Any]:
    """Return the pairs of columns that act together most, strongest first, each with a map of mean answers.

    Where the model has SHAP values of pairs, all pairs are compared by their mean size, in the unit of the
    model's score. Otherwise pairs of the most important columns are compared by the root mean square of
    PD(a, b) - PD(a) - PD(b), all centred, over a grid of quantiles: Friedman and Popescu's H without its
    denominator, in the unit of the prediction.
    """
    quick = as_sum(anatomy_of(model, "report")) is not None
    most = min(len(rows), _PAIR_ROWS if quick else 40)
    walks = _PAIRS if quick else 3 * 36  # walks of a row
    some = _spread(len(rows), budget.rows("maps of pairs", most, walks * budget.walk_row))
    matrix = DenseMatrix(rows[some])
    found, how = [], "dependence"
    strongest = _shap_pairs(model, rows) if quick else None
    if strongest is not None:
        how = "shap"
        for a, b, strength in strongest:
            drawn = _pair_map(model, rows, matrix, (a, b), 12)
            if drawn is not None:
                found.append({**drawn, "strength": float(f"{strength:.5g}")})
        return {"how": how, "list": found, "why": "" if found else _without_pairs(model)}
    for a, b in combinations(order[: _PAIRED if quick else 3], 2):
        drawn = _pair_map(model, rows, matrix, (a, b), 12 if quick else 6)
        if drawn is not None:
            found.append(drawn)
    found.sort(key=lambda one: -one["strength"])
    return {"how": how, "list": found, "why": "" if found else _without_pairs(model)}


def _without_pairs(model: Any) -> str:
    """Return the reason why a model has no pairs of columns to show; "" if there is none to give."""
    trees = anatomy_of(model, "report").trees
    if trees and all(tree.max_depth <= 1 for tree in trees):
        return (
            "Every tree of this model has at most one split, so the columns only add up: no two of "
            "them have a joint effect."
        )
    return ""


def _shap_pairs(model: Any, rows: np.ndarray) -> list[tuple[int, int, float]] | None:
    """Return the pairs with the largest mean |SHAP value of the pair|; None where the model has none."""
    leaves = sum(tree.n_leaves for tree in anatomy_of(model, "report").trees)
    n_columns = rows.shape[1]
    if n_columns > _SHAP_COLUMNS or leaves > _SHAP_LEAVES:
        return None
    n = min(len(rows), _SHAP_ROWS)
    some = np.unique(np.linspace(0, len(rows) - 1, n).round().astype(int))
    try:
        values = model.shap_values(table_for(model, rows[some]), interactions=True)
    except (ArboretumError, NotImplementedError):
        return None
    values = np.asarray(values).reshape(len(some), n_columns, n_columns, -1)
    size = 2 * np.abs(values).mean(axis=0).max(
        axis=-1
    )  # a pair appears twice, with half of its value each
    pairs = [(a, b, float(size[a, b])) for a, b in combinations(range(n_columns), 2)]
    leading = sorted(pairs, key=lambda pair: -pair[2])[:_PAIRS]
    return [pair for pair in leading if pair[2] > 0]


def _pair_map(
    model: Any, rows: np.ndarray, matrix: DenseMatrix, pair: tuple[int, int], size: int
) -> dict[str, Any] | None:
    """Return mean predictions over a grid of two columns, and their distance from a sum of two curves."""
    a, b = pair
    axes = [_quantiles(rows[:, f], model.schema_.columns[f], size) for f in pair]
    if any(len(axis) < 2 for axis in axes):
        return None
    mesh = np.array([one.ravel() for one in np.meshgrid(*axes, indexing="ij")])
    mean, _ = curves(model, matrix, Grid([a, b], axes, axes, mesh), n_jobs=1)
    table = mean.reshape(len(mean), len(axes[0]), len(axes[1]))
    alone = table - table.mean(axis=1, keepdims=True) - table.mean(axis=2, keepdims=True)
    alone = alone + table.mean(axis=(1, 2), keepdims=True)
    strength = np.sqrt(np.mean(alone**2, axis=(1, 2)))
    k = int(strength.argmax())
    return {
        "a": a, "b": b, "strength": float(f"{strength[k]:.5g}"), "of": k,
        "axes": [whole(axis) for axis in axes], "mean": rounded(table[k], 6),
    }  # fmt: skip


def _quantiles(x: np.ndarray, column: Any, n: int) -> np.ndarray:
    present = x[~np.isnan(x)]
    if not len(present):
        return present
    if column.categories is not None:
        codes, counts = np.unique(present, return_counts=True)
        return np.sort(codes[np.argsort(-counts, kind="stable")[:n]])
    unique = np.unique(present)
    if len(unique) <= n:
        return unique
    return np.unique(np.quantile(present, np.linspace(0.03, 0.97, n), method="nearest"))
