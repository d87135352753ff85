"""What a model remembers of its making: learning curves, bounds, out-of-bag errors, pruning, proximities."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.effects.asking import table_for
from arboretum.explain.report.ranked import Ranked, whole_groups
from arboretum.explain.report.tree_code import rounded

__all__ = ["learning_curve", "oob_of", "proximity_map", "pruning_of", "theory_of"]

_MOST_STAGED = 2_000  # rows that are asked about after every round
_MOST_CELLS = 4_000_000  # rows times rounds
_POINTS = 300  # of a curve


def learning_curve(model: Any, rows: np.ndarray, judged: Any) -> dict[str, Any] | None:
    """Return lines over rounds or trees: what the fit kept, and the error on the rows of the page."""
    lines: list[dict[str, Any]] = []
    for table, kept in (getattr(model, "evals_result_", None) or {}).items():
        lines += [_line(f"{table}: {name}", values, name) for name, values in kept.items()]
    if hasattr(model, "train_score_"):
        lines.append(_line("training loss", model.train_score_, "loss"))
    if hasattr(model, "oob_scores_"):
        lines.append(_line("out-of-bag loss", model.oob_scores_, "loss"))
    if hasattr(model, "train_errors_"):
        lines.append(_line("training error", model.train_errors_, "error"))
    if hasattr(model, "validation_scores_"):
        lines.append(_line("held out", model.validation_scores_, "error"))
    staged = _staged(model, rows, judged)
    if staged is not None:
        lines.append(staged)
    if not lines:
        return None
    best = getattr(model, "_best", None)
    return {
        "lines": lines,
        "best": None if best is None else int(best[0]) + 1,
        "stop": str(getattr(model, "stop_", "")),
    }


def _line(name: str, values: Any, unit: str) -> dict[str, Any]:
    values = np.asarray(values, np.float64)
    at = np.arange(len(values))
    if len(at) > _POINTS:
        at = np.unique(np.linspace(0, len(values) - 1, _POINTS).round().astype(int))
    return {"name": name, "unit": unit, "x": (at + 1).tolist(), "y": rounded(values[at])}


def _staged(model: Any, rows: np.ndarray, judged: Any) -> dict[str, Any] | None:
    """Return the error on some rows of the page after every round."""
    classes = judged.labels is not None
    ask = getattr(model, "staged_predict", None)
    held: Any = getattr(model, "trees_", None) or getattr(model, "estimators_", ())
    rounds = len(held)
    if ask is None or not rounds:
        return None
    n = int(min(len(rows), _MOST_STAGED, max(_MOST_CELLS // rounds, 50)))
    if isinstance(judged, Ranked):
        return _staged_order(ask, model, rows, judged, n)
    some = np.unique(np.linspace(0, len(rows) - 1, n).round().astype(int))
    actual, errors = judged.actual[some], []
    known = np.asarray(getattr(model, "classes_", ()))
    for predicted in ask(table_for(model, rows[some])):
        predicted = np.asarray(predicted)
        if classes:
            right = (actual >= 0) & (predicted == known[np.maximum(actual, 0)])
            errors.append(1.0 - right.mean())
        else:
            errors.append(float(np.sqrt(np.mean((predicted.reshape(-1) - actual) ** 2))))
    unit = "error" if classes else "RMSE"
    return _line(f"these rows: {unit}", errors, unit)


def _staged_order(ask: Any, model: Any, rows: np.ndarray, judged: Ranked, n: int) -> dict[str, Any]:
    """Return how good the order of some groups is after every round."""
    some, sizes = whole_groups(judged.queries.sizes, n, seed=0)
    part = Ranked(judged.actual[some], judged.answers[some], sizes)
    found = [
        part.ndcg(np.asarray(predicted).reshape(-1))
        for predicted in ask(table_for(model, rows[some]))
    ]
    return _line("these rows: NDCG@10", found, "NDCG@10")


def theory_of(model: Any, rows: np.ndarray, y: Any) -> dict[str, Any] | None:
    """Return AdaBoost's bounds round by round, and the margins of the rows after some rounds."""
    if not hasattr(model, "staged_margins") or getattr(model, "algorithm", "") == "SAMME.R":
        return None
    n = len(model.estimators_)
    chosen = sorted({1, max(n // 10, 1), max(n // 3, 1), n})
    some = np.unique(
        np.linspace(0, len(rows) - 1, min(len(rows), _MOST_STAGED)).round().astype(int)
    )
    table, margins = table_for(model, rows[some]), []
    known = np.isin(np.asarray(y)[some], model.classes_)
    if known.all():
        for number, found in enumerate(model.staged_margins(table, np.asarray(y)[some]), start=1):
            if number in chosen:
                place = np.quantile(found, np.linspace(0, 1, 81))
                margins.append({"rounds": number, "theta": rounded(place)})
    bound = model.training_error_bound()
    return {
        "errors": _line("ε: weighted error of the learner", model.estimator_errors_, "share"),
        "weights": _line("α: weight of the learner", model.estimator_weights_, "weight"),
        "bound": _line("bound: Π Z", bound, "share"),
        "train": _line("training error", model.train_errors_, "share")
        if hasattr(model, "train_errors_")
        else None,
        "margins": margins,
        "stop": str(model.stop_),
    }


def oob_of(model: Any) -> dict[str, Any] | None:
    """Return the out-of-bag error after every tree, where the fit kept it."""
    curve = getattr(model, "oob_error_curve_", None)
    if curve is None or not hasattr(model, "oob_score_"):
        return None
    values = np.asarray(curve, np.float64)
    return {"line": _line("out-of-bag error", values, "error"), "score": float(model.oob_score_)}


def pruning_of(model: Any) -> dict[str, Any] | None:
    """Return the cross-validated error of every pruned tree, where `prune_cv` kept it."""
    curve = getattr(model, "pruning_curve_", None)
    if curve is None:
        return None
    return {
        "alpha": rounded(np.asarray(curve.alpha, np.float64)),
        "leaves": np.asarray(curve.n_leaves).tolist(),
        "error": rounded(np.asarray(curve.mean_score, np.float64)),
        "spread": rounded(np.asarray(curve.std_error, np.float64)),
        "best": int(curve.best),
        "rule": str(curve.rule),
    }


def proximity_map(model: Any, rows: np.ndarray, judged: Any) -> dict[str, Any] | None:
    """Return rows of the page on a plane, near each other where trees send them to the same leaves."""
    from arboretum.forest.proximity_geometry import mds

    trees = getattr(model, "trees_", None) if hasattr(model, "_bags") else None
    if not trees or len(rows) < 3:
        return None
    from arboretum.data.matrix import DenseMatrix

    leaves = model.ensemble_.leaves(DenseMatrix(np.ascontiguousarray(rows)))
    near = np.mean(leaves[:, None, :] == leaves[None, :, :], axis=2)
    found = mds(near)
    return {
        "x": rounded(found.coordinates[:, 0], 4),
        "y": rounded(found.coordinates[:, 1], 4),
        "actual": judged.actual.tolist()
        if judged.labels is not None
        else rounded(judged.actual, 4),
    }
