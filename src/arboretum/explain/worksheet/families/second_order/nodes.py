"""Nodes and leaves of second-order trees: what the rows of a node offered, and what a leaf adds.

Histogram growth rounds g and h to 16 bits, at random, before it searches splits: gains that the model keeps
are those of the rounded numbers, so they differ from the sums shown by up to a unit per row (the sheet names
the unit). The values of leaves are summed from finer numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from arboretum.explain.worksheet.candidates import tried_note
from arboretum.explain.worksheet.families.second_order.level_table import add_level, why_whole
from arboretum.explain.worksheet.families.second_order.refusals import (
    Looked,
    held_back_notes,
    option,
    refusal_notes,
    refused_because,
    why_refused,
)
from arboretum.explain.worksheet.families.second_order.replay import Replay
from arboretum.explain.worksheet.journey import way_to
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet
from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    gradient_answer,
    gradient_score,
    scan_one,
)

__all__ = ["leaf_sheet", "node_sheet", "row_notes"]

_RIVALS = 8
_MANY = 1 << 29  # more than any limit that a user sets
_LEAF_ROWS = 200
_OPTIONAL = ("missing", "rows left", "rows right", "tried", "H left", "H right")
_SIDES = ("G", "H", "rows", "sim.")
_HEADER = " | ".join(["split", *(f"{one} left | {one} right" for one in _SIDES), "gain"])


# ---------------------------------------------------------------------- a node
def node_sheet(replay: Replay, t: int, k: int) -> Sheet:
    """Return how a node came about: its candidates, and why the winner won."""
    looked, tree = Looked(replay, t, k), replay.trees[t]
    winner = looked.winner
    what = "a leaf" if winner is None else tree.condition(k, 0).pretty() + "?"
    sheet = Sheet(
        f"node {k} of {replay.title(t)}: {what}", _facts(looked), [_score_formula(looked)]
    )
    sheet.notes = _tried_notes(looked)
    if winner is None:
        sheet.notes.append(f"It is a leaf: {why_leaf(looked)}.")
    else:
        rule = "similarity left + similarity right - similarity of the node"
        scores = (winner.score_left, winner.score_right, winner.score_node)
        numbers = "{} + {} - {}".format(*map(signed, scores))
        sheet.add_formula("gain", rule, numbers, winner.gain)
        sheet.notes += refusal_notes(looked) + held_back_notes(looked)
        sheet.notes += _kept_despite_gamma(looked, winner) + _missing_note(looked, winner)
    sheet.notes += row_notes(replay, t)
    if winner is not None and replay.plan.rules.symmetric:
        add_level(sheet, looked)
    _add_columns(sheet, looked)
    _add_rivals(sheet, looked)
    return sheet


def _facts(looked: Looked) -> dict[str, Any]:
    tree, at = looked.tree, looked.at
    facts: dict[str, Any] = {
        "path": way_to(tree, looked.node),
        "rows": len(at.rows),
        "ΣG": at.node.G,
        "ΣH": at.node.H,
        "cover the model keeps": float(tree.weight[looked.node]),
    }
    if not tree.is_leaf[looked.node]:
        facts["gain the model keeps"] = float(tree.gain[looked.node])
    return facts


def _line(looked: Looked, c: GradientCandidate) -> tuple[Any, ...]:
    covers, rows = (c.H_left, c.H_right), (int(c.n_left), int(c.n_right))
    scores = (c.score_left, c.score_right, c.gain)
    return (looked.question(c), c.G_left, c.G_right, *covers, *rows, *scores)


def _add_columns(sheet: Sheet, looked: Looked) -> None:
    """Write the table of the best split of every column."""
    winner, others = looked.winner, looked.others
    firsts: list[tuple[int, GradientCandidate | None]] = []
    for f, scan in looked.scans.items():
        best = scan.best() or scan.best(refused=True)
        c = best[0] if best else None
        firsts.append((f, winner if winner is not None and f == winner.feature else c))
    firsts.sort(key=lambda pair: _place(pair[1], winner))
    lines: list[tuple[Any, ...]] = []
    for f, c in firsts:
        tried = 0 if f in others else looked.scans[f].n_tried
        if c is None:
            name, blank = looked.replay.table.schema.columns[f].name, [None] * _HEADER.count("|")
            lines.append((name, *blank, tried, _why_nothing(looked, f)))
            continue
        verdict = looked.verdict(c)
        if f in others:
            verdict = "not drawn" if "drawn" in others[f] else "interaction constraint"
        lines.append((*_line(looked, c), tried, verdict))
    header, marked = f"{_HEADER} | tried | verdict", [] if winner is None else [0]
    sheet.add_table("Best split of every column", header, lines, marked, optional=_OPTIONAL)


def _place(c: GradientCandidate | None, winner: GradientCandidate | None) -> float:
    """Return what columns are sorted by: the winner first, then by gain."""
    if c is None:
        return np.inf
    return -np.inf if c is winner else -c.gain


def _why_nothing(looked: Looked, f: int) -> str:
    """Return why a column has no candidate."""
    code, _, categories = looked.replay.binned(looked.t, f, looked.at.rows)
    n_values = len(np.unique(code[code >= 0]))
    if categories is None or n_values < 2 or looked.rules.xgboost:
        return "one value only"
    return "categories of too few rows"


def _add_rivals(sheet: Sheet, looked: Looked) -> None:
    """Write the table of the candidates that came closest, whatever their column."""
    winner = looked.winner
    every = [c for scan in looked.tried.values() for c in scan.best(_RIVALS, refused=True)]
    rivals = [(c, looked.verdict(c)) for c in sorted(every, key=lambda c: -c.gain)]
    rivals = [(c, verdict) for c, verdict in rivals if verdict != "wins"][:_RIVALS]
    first = [] if winner is None else [(winner, "wins")]
    lines = [(*_line(looked, c), verdict) for c, verdict in [*first, *rivals]]
    if lines:
        marked = [] if winner is None else [0]
        header = f"{_HEADER} | verdict"
        sheet.add_table("Closest rivals", header, lines, marked, optional=_OPTIONAL)


def _score_formula(looked: Looked) -> Formula:
    """Return the similarity of a node with its numbers."""
    at, r = looked.at, looked.rules
    node, extra = at.node, at.extra_l2
    b = float(gradient_answer(node.G, node.H, node.n, at.lean, node.bounds, r, extra))
    value = float(gradient_score(node.G, node.H, b, r))
    free = node.bounds == (-np.inf, np.inf)
    if free and not (r.max_delta_step or r.path_smooth or extra):
        numbers = f"{_pull(looked)}² / ({number(node.H)} + {number(r.reg_lambda)})"
        return Formula("similarity", "soft(G, α)² / (H + λ)", numbers, value)
    pull, step = f"soft({number(node.G)}, {number(r.reg_alpha)})", signed(b)
    curvature = f"({number(node.H)} + {number(r.reg_lambda)})"
    numbers = f"-(2 · {pull} · {step} + {curvature} · {step}²)"
    return Formula("similarity", "-(2 · soft(G, α) · b + (H + λ) · b²)", numbers, value)


def _pull(looked: Looked) -> str:
    """Return G with its soft threshold, in numbers."""
    G, alpha = looked.at.node.G, looked.rules.reg_alpha
    return f"soft({number(G)}, {number(alpha)})" if alpha else signed(G)


# ---------------------------------------------------------------------- notes
def _tried_notes(looked: Looked) -> list[str]:
    scans, rules, columns = looked.tried, looked.rules, looked.replay.table.schema.columns
    notes = [tried_note(sum(scan.n_tried for scan in scans.values()), len(scans))]
    if looked.draws:
        notes.append(f"Columns: {looked.draws}.")
    if looked.replay.plan.rules.random_cuts:
        notes.append("Of every column one random cut is tried (extra_trees).")
    untried = [f for f, scan in scans.items() if not scan.n_tried]
    if not rules.xgboost and any(columns[f].categories for f in untried):
        notes.append(
            f"LightGBM leaves out categories of fewer than cat_smooth={number(rules.cat_min_rows)} rows, and "
            f"a group of them needs min_data_per_group={number(rules.min_group)} rows."
        )
    return notes


def _kept_despite_gamma(looked: Looked, winner: GradientCandidate) -> list[str]:
    """Return why a split of less than γ stands: exact growth cuts back from the leaves."""
    least = looked.rules.min_gain
    if not (looked.replay.is_exact and winner.gain < least):
        return []
    return [
        f"It gains less than {option(looked.replay, 'gamma')}={number(least)} and stays: trees are cut back "
        "from their leaves, and a split below it gained enough."
    ]


def _missing_note(looked: Looked, winner: GradientCandidate) -> list[str]:
    """Return where missing values went, and what the other way would have gained."""
    name, rows = looked.name_of(winner), int(winner.missing_rows)
    if not rows:
        return [f"No training row here lacks {name}; new rows without it go {winner.default}."]
    if winner.cut == np.inf:
        return [f"The split separates the {rows} rows without {name} from all others."]
    text = f"{rows} rows lack {name} and go {winner.default}"
    if winner.categories is not None and not looked.rules.xgboost:
        text += ", as LightGBM lets missing categories always go"
    other = _other_way(looked, winner)
    less = winner.gain - other.gain
    refused = other.verdict in ("min_child_weight", "min_child_samples", "monotone constraint")
    why = f", but {refused_because(looked, other)}" if refused else ""
    return [
        f"{text}; the other way the split would gain {number(other.gain)}, "
        f"{number(abs(less))} {'less' if less >= 0 else 'more'}{why}."
    ]


def _other_way(looked: Looked, winner: GradientCandidate) -> GradientCandidate:
    """Return the winner with missing values on the other side."""
    replay, t, at, f = looked.replay, looked.t, looked.at, winner.feature
    gone = at.rows[replay.binned(t, f, at.rows)[0] < 0]
    g, h = replay.gradients(t)
    missing = np.array([g[gone].sum(), h[gone].sum(), float(len(gone))])
    left, goes_right = (
        np.array([winner.G_left, winner.H_left, winner.n_left]),
        winner.default == "right",
    )
    sums = left + missing if goes_right else left - missing
    side, sign = "left" if goes_right else "right", replay.sign(f, winner.categories)
    extra = 0.0 if winner.categories is None else replay.column_l2(t, f)
    return scan_one(
        at.node, f, sums, winner.cut, winner.categories, side, sign, extra, winner.missing_rows
    )


def row_notes(replay: Replay, t: int) -> list[str]:
    """Return which rows a tree was grown on, and how their g and h were rounded."""
    rows, factor = replay.drawn_rows(t)
    total, notes = len(replay.table.y), []
    if factor is not None:
        kept = int((factor == 1).sum())
        notes.append(
            f"GOSS: {kept} rows of largest |g·h| were kept, {len(rows) - kept} of the others drawn, each "
            f"with {number(float(factor.max()))} times its weight."
        )
    elif len(rows) < total:
        notes.append(f"The tree was grown on {len(rows)} of {total} rows, drawn for its round.")
    if replay.is_exact:
        notes.append("The gain that the model keeps is rounded to single precision.")
    else:
        g, h = replay.units(t)
        notes.append(
            f"Splits were searched with g rounded to multiples of {number(g, 3)} and h to {number(h, 3)}: "
            "kept gains and covers are those of the rounded sums. The values of leaves come from finer sums."
        )
    bins = replay.bins_for(t)
    if bins is not None and bins.conflicts.any():
        lost = int(bins.conflicts.sum())
        notes.append(
            f"Columns share bundles (EFB) in which {lost} values were lost to another column."
        )
    return notes


def why_leaf(looked: Looked) -> str:
    """Return what made a node a leaf."""
    rules, tree, at = looked.replay.plan.rules, looked.tree, looked.at
    if rules.symmetric:
        return why_whole(looked)
    if at.depth >= rules.max_depth:
        return f"max_depth={rules.max_depth} is reached"
    if len(at.rows) < max(2 * rules.min_rows, 2):
        return f"{len(at.rows)} rows cannot give two sides that are large enough"
    able = [c for scan in looked.tried.values() for c in scan.best()]
    if not able:
        return "no split is admissible" + why_refused(looked)
    gain = number(max(c.gain for c in able))
    if rules.max_leaves < _MANY and tree.n_leaves >= rules.max_leaves:
        return f"the tree has its {rules.max_leaves} leaves; the best split here would gain {gain}"
    if rules.min_gain > 0:
        limit = f"{option(looked.replay, 'gamma')}={number(rules.min_gain)}"
        return f"its best split gains {gain}; {limit} took it back"
    return f"its best split, of gain {gain}, was lost by rounding"


# ---------------------------------------------------------------------- a leaf
def leaf_sheet(replay: Replay, t: int, k: int) -> Sheet:
    """Return the arithmetic of a leaf: -soft(G, α)/(H + λ), what bends it, what is added to the margin."""
    looked, tree = Looked(replay, t, k), replay.trees[t]
    sheet = Sheet(f"leaf {k} of {replay.title(t)}", _facts(looked))
    step = _add_step(sheet, looked)
    rate = 1.0 if replay.ensemble.averaged else replay.plan.learning_rate
    value, weight = float(tree.value[k, 0, 0]), float(replay.ensemble.weights[t])
    sheet.add_formula("value", "η · b", f"{number(rate)} · {signed(step)}", rate * step)
    sheet.add_formula("value the model keeps", "", "", value)
    if weight != 1.0:
        numbers = f"{number(weight)} · {signed(value)}"
        sheet.add_formula(
            "added to the margin", "weight of the tree · value", numbers, weight * value
        )
    if len(tree) > 1 or replay.plan.unsplit_answers:
        sheet.notes.append(f"It is a leaf: {why_leaf(looked)}.")
    else:
        sheet.notes.append("The tree found no split, and LightGBM lets such a tree answer 0.")
    sheet.notes += row_notes(replay, t)
    _add_rows(sheet, looked)
    return sheet


def _add_step(sheet: Sheet, looked: Looked) -> float:
    """Write the step of a leaf, and return it."""
    replay, t, at, r = looked.replay, looked.t, looked.at, looked.rules
    node, grew = at.node, len(looked.tree) > 1
    m, output, _ = replay.place_of(t)
    renew = replay.objective.renew_leaf
    if renew is not None and grew:
        y, w, margin = replay.table.y, replay.table.weight, replay.state(m).margin
        step = float(renew(y, margin, w, np.sort(at.rows), output))
        rule = f"best constant for {len(at.rows)} residuals y - F (renewed leaf)"
        sheet.add_formula("b", rule, "", step)
        return step
    plain = replace(r, path_smooth=0.0, max_delta_step=0.0)
    raw = float(gradient_answer(node.G, node.H, node.n, rules=plain, extra_l2=at.extra_l2))
    below = f"{number(node.H)} + {number(r.reg_lambda + at.extra_l2)}"
    rule = "-soft(G, α) / (H + λ)" if r.reg_alpha else "-G / (H + λ)"
    sheet.add_formula("b", rule, f"-{_pull(looked)} / ({below})", raw)
    step = float(gradient_answer(node.G, node.H, node.n, at.lean, node.bounds, r, at.extra_l2))
    if replay.is_light(t, at):
        step = 0.0
    if step != raw:
        sheet.add_formula("b kept", _what_bends(looked), number(raw), step)
    return step if grew or replay.plan.unsplit_answers else 0.0


def _what_bends(looked: Looked) -> str:
    """Return the rules that moved the step of a leaf."""
    r, at = looked.rules, looked.at
    why = []
    if r.max_delta_step:
        why.append(f"at most {number(r.max_delta_step)} in size")
    if r.path_smooth and not np.isnan(at.lean):
        ratio = number(at.node.n / r.path_smooth)
        why.append(f"(b · {ratio} + {signed(at.lean)}) / ({ratio} + 1)")
    if at.node.bounds != (-np.inf, np.inf):
        why.append("within [{}, {}]".format(*map(number, at.node.bounds)))
    return "; ".join(why) or f"H below min_child_weight={number(r.min_weight)} answers 0"


def _add_rows(sheet: Sheet, looked: Looked) -> None:
    """Write some rows of a leaf with their derivatives."""
    replay, t, rows = looked.replay, looked.t, np.sort(looked.at.rows)
    m, output, _ = replay.place_of(t)
    g, h = replay.gradients(t)
    margin = replay.state(m).margin[:, output]
    lines = [
        (*replay.row_and_target(i), float(margin[i]), float(g[i]), float(h[i]))
        for i in rows[:_LEAF_ROWS].tolist()
    ]
    title = f"Its rows ({len(rows)})"
    if len(rows) > _LEAF_ROWS:
        title = f"The first {_LEAF_ROWS} of its {len(rows)} rows"
    sheet.add_table(title, "row | y | margin before | g | h", lines, shown=10)
