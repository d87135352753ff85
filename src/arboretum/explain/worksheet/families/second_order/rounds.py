"""A round of second-order boosting, and a row on its way through all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.second_order.nodes import row_notes
from arboretum.explain.worksheet.families.second_order.replay import Replay, RoundState
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet, add_rounds_trees, spread_of

__all__ = ["add_rounds_of_row", "losses", "round_sheet"]


def losses(replay: Replay, y: np.ndarray, margin: np.ndarray) -> np.ndarray | None:
    """Return the loss of every row at its margins; None where the objective has none by row."""
    every = getattr(replay.objective, "losses", ())
    if not every:
        return None
    if len(every) == 1 and margin.shape[1] > 1 and every[0].kernel == "softmax":
        return every[0].value(y.astype(np.int64), margin)
    found = []
    for k in range(margin.shape[1]):
        loss, column = every[k if len(every) > 1 else 0], np.ascontiguousarray(margin[:, k])
        try:
            found.append(loss.value(replay.objective.labels_of(y, k), column))
        except NotImplementedError:
            return None
    return np.sum(found, axis=0)


# ---------------------------------------------------------------------- a round
def round_sheet(replay: Replay, m: int) -> Sheet:
    """Return a round: its gradients, its trees, its loss before and after."""
    ensemble, y, w = replay.ensemble, replay.table.y, replay.table.weight
    state, per = replay.state(m), ensemble.per_round
    trees = list(range(m * per, (m + 1) * per))
    after = _after(replay, m, state)
    facts: dict[str, Any] = {
        "trees": per,
        "learning rate": replay.plan.learning_rate,
        "rows": len(y),
        "rows the round drew": len(replay.drawn_rows(trees[0])[0]),
    }
    sheet = Sheet(f"round {m} of {replay.name}", facts)
    costs = [losses(replay, y, margin) for margin in (state.before, after)]
    weight = np.ones(len(y)) if w is None or len(w) != len(y) else w
    for name, values in zip(("loss before", "loss after"), costs, strict=True):
        if values is not None:
            total, all_ = float(weight @ values), float(weight.sum())
            sheet.add_formula(
                name, "Σ w L / Σ w", f"{number(total)} / {number(all_)}", total / all_
            )
    add_rounds_trees(sheet, replay.trees, trees)
    _add_spread(sheet, replay, state)
    _add_rows(sheet, replay, state, after, costs)
    if state.dropped:
        count = len(state.dropped)
        sheet.notes.append(f"dart left out {count} earlier trees: {number(state.dropped)}.")
    sheet.notes += row_notes(replay, trees[0])
    return sheet


def _after(replay: Replay, m: int, state: RoundState) -> np.ndarray:
    """Return the margins after a round."""
    ensemble, matrix, threads = replay.ensemble, replay.matrix_seen, replay.threads
    if ensemble.averaged:
        return ensemble.rounds(0, m + 1).answers(matrix, threads, replay.start)
    if replay.plan.dart is None:
        return ensemble.rounds(m, m + 1).answers(matrix, threads, state.margin)
    weights = replay.dart_weights(m)
    part = replace(ensemble, trees=ensemble.trees[: len(weights)], weights=weights)
    return part.answers(matrix, threads, replay.start)


def _add_spread(sheet: Sheet, replay: Replay, state: RoundState) -> None:
    several = len(state.g) > 1
    lines = []
    for k in range(len(state.g)):
        for what, values in (("g", state.g[k]), ("h", state.h[k])):
            v = values.astype(np.float64)
            name = [replay.output_name(k)] if several else []
            lines.append((*name, what, float(v.sum()), *spread_of(v)))
    header = (
        "output | " if several else ""
    ) + " | sum | least | quarter | median | 3 quarters | most"
    sheet.add_table("Gradients and hessians", header, lines)


def _add_rows(
    sheet: Sheet, replay: Replay, state: RoundState, after: np.ndarray, costs: list[Any]
) -> None:
    """Write the table of the rows with the largest gradients."""
    lines, with_loss = [], costs[0] is not None and costs[1] is not None
    pull = np.abs(state.g)
    for j in np.argsort(-pull.sum(axis=0), kind="stable")[:10].tolist():
        k = int(pull[:, j].argmax())
        before, g, h = float(state.before[j, k]), float(state.g[k, j]), float(state.h[k, j])
        line = [*replay.row_and_target(j), before, g, h, float(after[j, k] - before)]
        lines.append((*line, *(float(one[j]) for one in costs if with_loss)))
    header = "row | y | margin | g | h | step" + (
        " | loss before | loss after" if with_loss else ""
    )
    sheet.add_table("Rows with the largest gradients", header, lines, optional=("h",))


# ---------------------------------------------------------------------- a row
def add_rounds_of_row(
    sheet: Sheet, replay: Replay, part: Any, added: list[tuple[int, float]], i: int | None
) -> None:
    """Write what every tree adds to a row, and for training rows the derivatives that led there.

    ``part`` is the ensemble that predicts, ``added`` the leaf and what it adds, tree by tree.
    """
    start = replay.start_of(i)
    margin, per = start.copy(), part.per_round
    label = None if i is None else replay.whole.y[[i]]
    costs = label is not None and losses(replay, label, margin[None]) is not None
    derived = i is not None and replay.model.target != "orders" and replay.plan.dart is None
    before, g, h = margin.copy(), np.empty(0), np.empty(0)
    lines = []
    for t, (leaf, more) in enumerate(added):
        m, output, _ = replay.place_of(t)
        if t % per == 0:
            before = margin.copy()
            if derived and i is not None:
                g, h = replay.derivatives_of(i, start if part.averaged else before, m)
        margin[output] += more
        line: list[Any] = [m, t, leaf, more, float(margin[output])]
        line += [float(g[output, 0]), float(h[output, 0])] if derived else []
        if costs:
            ends = (t + 1) % per == 0
            line += [_loss_of(replay, label, x) if ends else None for x in (before, margin)]
        lines.append(tuple(line))
    header = "round | tree | leaf | adds | margin" + (" | g | h" if derived else "")
    header += " | loss before | loss after" if costs else ""
    sheet.add_table("Round by round", header, lines, optional=("h", "g", "round"))


def _loss_of(replay: Replay, label: Any, margin: np.ndarray) -> float | None:
    values = losses(replay, label, margin[None])
    return None if values is None else float(values[0])
