"""The history of a model: learning curves, bounds, out-of-bag predictions, pruning, proximities, rounds.

The panel of rounds has a few numbers of every round, and the whole worksheets of some:

    {"count": 100, "lines": [["loss after", [0.61, 0.55, …]], …], "whole": {"0": sheet, …}}

Lines hold the figures that the model keeps (losses, ε, α, …). For second-order boosters they also hold sums
computed along with the outlines, because the margins of a round need the predictions of all earlier trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.dependence.model_function import table_for
from arboretum.explain.pick_tree import rounds_of
from arboretum.explain.pipeline import anatomy_of
from arboretum.explain.report.figures import class_losses
from arboretum.explain.report.inputs import whole_groups
from arboretum.explain.report.ranked import Ranked
from arboretum.explain.report.tree_code import rounded
from arboretum.explain.worksheet.families.second_order.rounds import losses
from arboretum.predict.out_of_bag import out_of_bag

if TYPE_CHECKING:
    from collections.abc import Callable

    from arboretum.base.anatomy import Anatomy, FitHistory
    from arboretum.data.matrix import Matrix
    from arboretum.explain.report.judged import Judged
    from arboretum.explain.worksheet.families.second_order.replay import Replay

__all__ = [
    "RoundLog",
    "learning_curve",
    "oob_of",
    "out_of_bag_of",
    "proximity_map",
    "pruning_of",
    "rounds_panel",
    "theory_of",
]

_MOST_STAGED = 2_000  # rows that are predicted after every round
_MOST_CELLS = 4_000_000  # rows times rounds
_POINTS = 300  # of a curve
_OOB_CELLS = 30_000_000  # rows times trees, for out-of-bag predictions

# boosters' names for the measures of the page
_SHEETS = 12
_WALKED = 30_000_000  # rows times trees, for whole worksheets

# figure of a round in the model -> its name in the page
_ROUND_FIGURES = (
    ("loss", "loss after"),
    ("rate", "learning rate"),
    ("error", "ε: weighted error of the learner"),
    ("weight", "α: weight of the learner"),
    ("training error", "training error after"),
    ("step", "δ: step of the coordinate"),
    ("exponential loss", "loss after"),
)
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
        The same for the training table, measured in the same way.
    """
    anatomy = anatomy_of(model, "report")
    history = anatomy.history
    lines = _staged(model, anatomy, rows, judged, "these rows")
    if train is not None:
        lines += _staged(model, anatomy, *train, "training rows")
    measured = {(line["name"], line["unit"]) for line in lines}
    kept = _kept(history, *_loss_of(model, anatomy))
    lines += [one for one in kept if (one["name"], one["unit"]) not in measured]
    if not lines:
        return None
    return {"lines": lines, "best": history.end, "stop": history.stop}


def _kept(history: FitHistory, unit: str, measure: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """Return the lines that the fit recorded, under the page's names of measures."""
    lines = [
        _line(table, values, _UNITS.get(name, name))
        for (table, name), values in history.curves.items()
    ]
    for table, name in (("training rows", "loss"), ("out-of-bag rows", "out-of-bag loss")):
        if name in history.figures:
            lines.append(_line(table, measure(history.figures[name]), unit))
    for table, name in (("training rows", "training error"), ("held-out rows", "held-out error")):
        if name in history.figures:
            lines.append(_line(table, history.figures[name], "error"))
    return lines


def _loss_of(model: Any, anatomy: Anatomy) -> tuple[str, Callable[[Any], Any]]:
    """Return the name of the measure in which a fit records losses, and the losses in that measure."""
    loss = model.loss if anatomy.family == "friedman" else None
    if loss == "squared_error":
        return "RMSE", np.sqrt
    if loss == "log_loss":
        # the deviance of two classes is twice their log loss
        two = anatomy.labels is not None and len(anatomy.labels) == 2
        return "log loss", lambda v: v / 2 if two else v
    return f"{loss} loss" if isinstance(loss, str) else "loss", np.asarray


def _line(name: str, values: Any, unit: str) -> dict[str, Any]:
    values = np.asarray(values, np.float64)
    at = np.arange(len(values))
    if len(at) > _POINTS:
        at = np.unique(np.linspace(0, len(values) - 1, _POINTS).round().astype(int))
    return {"name": name, "unit": unit, "x": (at + 1).tolist(), "y": rounded(values[at])}


def _staged(
    model: Any, anatomy: Anatomy, rows: np.ndarray, judged: Any, name: str
) -> list[dict[str, Any]]:
    """Return the measures on some rows after every round."""
    rounds = len(anatomy.trees) or anatomy.history.n_rounds
    if not anatomy.history.n_rounds:
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
    found = [class_losses(part.actual, np.asarray(p)) for p in model.staged_predict_proba(table)]
    log_losses, errors = np.array(found).T
    lines = [_line(name, errors, "error")]
    if anatomy.family != "adaboost":  # AdaBoost's rounds minimise another loss
        lines.insert(0, _line(name, log_losses, "log loss"))
    return lines


def theory_of(model: Any, rows: np.ndarray, y: Any) -> dict[str, Any] | None:
    """Return AdaBoost's bounds round by round, and the margins of the rows after some rounds."""
    anatomy = anatomy_of(model, "report")
    if not _has_theory(model, anatomy):
        return None
    figures = anatomy.history.figures
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
        "errors": _line("ε, weighted error of the learner", figures["error"], "share"),
        "weights": _line("α, weight of the learner", figures["weight"], "weight"),
        "bound": _line("bound, product of Z", bound, "share"),
        "train": _line("training error", figures["training error"], "share")
        if "training error" in figures
        else None,
        "margins": margins,
        "stop": anatomy.history.stop,
    }


def _has_theory(model: Any, anatomy: Anatomy) -> bool:
    """Return True if there are bounds and margins: for AdaBoost with learners that vote."""
    votes = anatomy.family == "adaboost" and anatomy.labels is not None
    return votes and model.algorithm != "SAMME.R"


def oob_of(model: Any) -> dict[str, Any] | None:
    """Return the out-of-bag error after every tree, if the fit recorded it."""
    history = anatomy_of(model, "report").history
    if history.oob_curve is None:
        return None
    line = _line("out-of-bag error", history.oob_curve, "error")
    return {"line": line, "score": float(history.oob_score)}


def out_of_bag_of(
    model: Any, matrix: Matrix, judged: Judged
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the training rows that some tree of a forest did not see, and the predictions of such trees.

    None for models without bags of rows or with unknown ones, and where the table is not the training table.
    """
    anatomy = anatomy_of(model, "report")
    bags, trees, ensemble = anatomy.bags, anatomy.trees, anatomy.ensemble
    if bags is None or ensemble is None or bags.n_rows != matrix.n_rows or bags.first:
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
    found = out_of_bag(ensemble, matrix, y, classes, unseen, anatomy.recipe.threads())
    return found.rows, found.mean[found.rows, 0]


def pruning_of(model: Any) -> dict[str, Any] | None:
    """Return the cross-validated error of every pruned tree, if `prune_cv` recorded it."""
    curve = anatomy_of(model, "report").history.pruning
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
    """Return the rows of the page as points of a plane; rows that share many leaves are close together."""
    from arboretum.forest.proximity_geometry import mds

    anatomy = anatomy_of(model, "report")
    if anatomy.bags is None or anatomy.ensemble is None or len(rows) < 3:
        return None
    from arboretum.data.matrix import DenseMatrix

    leaves = anatomy.ensemble.leaves(DenseMatrix(np.ascontiguousarray(rows)))
    near = np.mean(leaves[:, None, :] == leaves[None, :, :], axis=2)
    found = mds(near)
    return {
        "x": rounded(found.coordinates[:, 0], 4),
        "y": rounded(found.coordinates[:, 1], 4),
        "actual": judged.actual.tolist()
        if judged.labels is not None
        else rounded(judged.actual, 4),
    }


# ---------------------------------------------------------------------- rounds
class RoundLog:
    """Sums of gradients and the loss of every round, collected while outlines are made."""

    def __init__(self) -> None:
        self.sums: dict[int, list[float]] = {}

    def look(self, replay: Replay, t: int) -> None:
        """Collect the round of a tree of second-order boosting."""
        m = replay.place_of(t)[0]
        if m in self.sums:
            return
        state = replay.state(m)
        costs = losses(replay, replay.table.y, state.before)
        loss = np.nan
        if costs is not None:
            weight = replay.table.weight
            counted = weight if weight is not None and len(weight) == len(costs) else None
            loss = float(np.average(costs, weights=counted))
        g, h = state.g.astype(np.float64), state.h.astype(np.float64)
        self.sums[m] = [loss, float(g.sum()), float(np.abs(g).max()), float(h.sum())]

    def lines(self, n: int) -> list[list[Any]]:
        """Return the lines, if all n rounds were collected."""
        if sorted(self.sums) != list(range(n)):
            return []
        values = np.array([self.sums[m] for m in range(n)]).T
        names = ("loss before", "Σ g over all rows", "largest |g|", "Σ h over all rows")
        return [
            [name, rounded(line, 6)]
            for name, line in zip(names, values, strict=True)
            if not np.isnan(line).all()
        ]


def rounds_panel(model: Any, book: Any, log: RoundLog, write: Any) -> dict[str, Any] | None:
    """Return the numbers of all rounds and the sheets of some; None for models without rounds.

    Parameters
    ----------
    model : fitted estimator
    book : Worksheet
    log : RoundLog
    write : callable
        Takes the number of a round; returns its sheet, or None.
    """
    anatomy = anatomy_of(model, "report")
    n = anatomy.history.n_rounds
    if not n:
        return None
    each = max(1, max(anatomy.history.n_rows, 1) * len(anatomy.trees))
    wanted = int(np.clip(_WALKED // each, 1, _SHEETS))
    chosen = np.unique(np.concatenate([[0], np.linspace(0, n - 1, wanted).round()]).astype(int))
    sheets = {str(m): sheet for m in chosen.tolist() if (sheet := write(m)) is not None}
    rounds = rounds_of(anatomy)
    return {
        "count": n,
        "per_round": rounds.per_round if rounds is not None else 1,
        "lines": log.lines(n) + _figures_of(model, anatomy),
        "whole": sheets,
    }


def _figures_of(model: Any, anatomy: Anatomy) -> list[list[Any]]:
    """Return the numbers of every round that the model keeps."""
    figures, n = anatomy.history.figures, anatomy.history.n_rounds
    found = [(title, figures.get(name)) for name, title in _ROUND_FIGURES]
    if _has_theory(model, anatomy):
        product = np.asarray(model.training_error_bound(), np.float64)
        found.append(("Z of the round", product / np.append(1.0, product[:-1])))
    return [
        [title, rounded(np.asarray(values, np.float64), 6)]
        for title, values in found
        if values is not None and len(values) == n
    ]
