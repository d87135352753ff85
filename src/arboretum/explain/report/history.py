"""How a model came about: learning curves, bounds, out-of-bag predictions, pruning, proximities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.dependence.asking import table_for
from arboretum.explain.report.figures import class_losses
from arboretum.explain.report.ranked import Ranked, whole_groups
from arboretum.explain.report.tree_code import rounded
from arboretum.predict.out_of_bag import out_of_bag

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.explain.report.judged import Judged

__all__ = [
    "learning_curve",
    "oob_of",
    "out_of_bag_of",
    "proximity_map",
    "pruning_of",
    "theory_of",
]

_MOST_STAGED = 2_000  # rows that are predicted after every round
_MOST_CELLS = 4_000_000  # rows times rounds
_POINTS = 300  # of a curve
_OOB_CELLS = 30_000_000  # rows times trees that are walked for out-of-bag predictions

# names that boosters have for the measures of the page
_UNITS = {
    **dict.fromkeys(("logloss", "mlogloss", "binary_logloss", "multi_logloss"), "log loss"),
    **dict.fromkeys(("error", "merror", "binary_error", "multi_error"), "error"),
    "rmse": "RMSE",
    "ndcg@10": "NDCG@10",
}


def learning_curve(
    model: Any, rows: np.ndarray, judged: Any, train: tuple[np.ndarray, Any] | None
) -> dict[str, Any] | None:
    """Return lines over rounds, those of one measure for one chart.

    Parameters
    ----------
    model : fitted estimator
    rows, judged : rows of the page, with their actual values and predictions
    train : (rows, judged), optional
        The same of the training table, which is measured in the same way.
    """
    lines = _staged(model, rows, judged, "these rows")
    if train is not None:
        lines += _staged(model, *train, "training rows")
    measured = {(line["name"], line["unit"]) for line in lines}
    lines += [one for one in _kept(model) if (one["name"], one["unit"]) not in measured]
    if not lines:
        return None
    best = getattr(model, "_best", None)
    return {
        "lines": lines,
        "best": None if best is None else int(best[0]) + 1,
        "stop": str(getattr(model, "stop_", "")),
    }


def _kept(model: Any) -> list[dict[str, Any]]:
    """Return the lines that the fit kept, under the page's names of measures."""
    lines: list[dict[str, Any]] = []
    for table, kept in (getattr(model, "evals_result_", None) or {}).items():
        for name, values in kept.items():
            lines.append(_line(table, values, _UNITS.get(name, name)))
    unit, measure = _loss_of(model)
    for name, kept in (("training rows", "train_score_"), ("out-of-bag rows", "oob_scores_")):
        if hasattr(model, kept):
            lines.append(_line(name, measure(np.asarray(getattr(model, kept))), unit))
    for name, kept in (("training rows", "train_errors_"), ("held-out rows", "validation_scores_")):
        if hasattr(model, kept):
            lines.append(_line(name, getattr(model, kept), "error"))
    return lines


def _loss_of(model: Any) -> tuple[str, Any]:
    """Return the measure of the losses that Friedman's boosting keeps, and the losses in that measure."""
    loss = getattr(model, "loss", None)
    if loss == "squared_error":
        return "RMSE", np.sqrt
    if loss == "log_loss":
        # the deviance of two classes is twice their log loss
        return "log loss", lambda v: v / 2 if len(model.classes_) == 2 else v
    return f"{loss} loss" if isinstance(loss, str) else "loss", lambda v: v


def _line(name: str, values: Any, unit: str) -> dict[str, Any]:
    values = np.asarray(values, np.float64)
    at = np.arange(len(values))
    if len(at) > _POINTS:
        at = np.unique(np.linspace(0, len(values) - 1, _POINTS).round().astype(int))
    return {"name": name, "unit": unit, "x": (at + 1).tolist(), "y": rounded(values[at])}


def _staged(model: Any, rows: np.ndarray, judged: Any, name: str) -> list[dict[str, Any]]:
    """Return the measures on some rows after every round."""
    held: Any = getattr(model, "trees_", None) or getattr(model, "estimators_", ())
    rounds = len(held)
    if not hasattr(model, "staged_predict") or not rounds:
        return []
    n = int(min(len(rows), _MOST_STAGED, max(_MOST_CELLS // rounds, 50)))
    if isinstance(judged, Ranked):
        some, sizes = whole_groups(judged.queries.sizes, n, seed=0)
        part: Any = Ranked(judged.actual[some], judged.answers[some], sizes)
    else:
        some = np.unique(np.linspace(0, len(rows) - 1, n).round().astype(int))
        part = type(judged)(judged.actual[some], judged.answers[some], judged.labels)
    table = table_for(model, rows[some])
    if part.labels is None:
        measure, unit = (part.ndcg, "NDCG@10") if isinstance(part, Ranked) else (part.rmse, "RMSE")
        values = [measure(np.asarray(found).reshape(-1)) for found in model.staged_predict(table)]
        return [_line(name, values, unit)]
    if not hasattr(model, "staged_predict_proba"):
        known = np.asarray(model.classes_)[np.maximum(part.actual, 0)]
        wrong = [
            float(np.mean((part.actual < 0) | (np.asarray(found) != known)))
            for found in model.staged_predict(table)
        ]
        return [_line(name, wrong, "error")]
    found = [class_losses(part.actual, np.asarray(p)) for p in model.staged_predict_proba(table)]
    log_losses, errors = np.array(found).T
    lines = [_line(name, errors, "error")]
    if not hasattr(model, "estimator_weights_"):  # AdaBoost's rounds minimise another loss
        lines.insert(0, _line(name, log_losses, "log loss"))
    return lines


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
        "errors": _line("ε, weighted error of the learner", model.estimator_errors_, "share"),
        "weights": _line("α, weight of the learner", model.estimator_weights_, "weight"),
        "bound": _line("bound, product of Z", bound, "share"),
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


def out_of_bag_of(
    model: Any, matrix: Matrix, judged: Judged
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the training rows that some tree of a forest did not see, and the predictions of such trees.

    None for models without bags of rows, and where the table is not the training table.
    """
    bags, trees = getattr(model, "_bags", None), getattr(model, "trees_", None)
    if bags is None or not trees or bags.n_rows != matrix.n_rows:
        return None
    if matrix.n_rows * len(trees) > _OOB_CELLS or (
        judged.labels is not None and np.any(judged.actual < 0)
    ):
        return None
    unseen = np.array([np.packbits(bags.counts(t) == 0) for t in range(len(trees))])
    if not unseen.any():
        return None
    classes = judged.labels is not None
    y = judged.actual[:, None]
    found = out_of_bag(model.ensemble_, matrix, y, classes, unseen, model._threads())
    return found.rows, found.mean[found.rows, 0]


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
    """Return rows of the page on a plane, close to each other where trees send them to the same leaves."""
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
