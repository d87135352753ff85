"""Nodes of second-order trees: what their rows offered, who won and why.

Histogram growth rounds g and h to 16 bits, at random, before it looks for splits: gains it keeps are those of
the rounded numbers, so they differ from the sums shown by up to a unit per row (said on the sheet). What
leaves answer is summed from finer numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from arboretum.explain.worksheet.candidates import tried_note
from arboretum.explain.worksheet.families.second_order.refusals import BoosterRefusals, Looked
from arboretum.explain.worksheet.families.second_order.replay import AtNode
from arboretum.explain.worksheet.family import class_names
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.structure.tree import SUBSET
from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    GradientScan,
    gradient_answer,
    gradient_score,
    scan_one,
)

__all__ = ["NodeSheets"]

_RIVALS = 8
_MANY = 1 << 29  # more than any limit that somebody sets
_OPTIONAL = ("missing", "rows left", "rows right", "tried", "H left", "H right")


class NodeSheets(BoosterRefusals):
    """A booster that tells of its nodes."""

    # ------------------------------------------------------------------ a node
    def node(self, tree: Any, node: Any) -> Sheet:
        t = self.number_of_tree(tree)
        grown = self.trees[t]
        k = self.number_of_node(grown, node)
        at = self.at(t, k)
        looked, drawn = self.look(t, k, at), self.columns_of(t, k, at)[1]
        winner = None if grown.is_leaf[k] else self._winner(t, k, at, looked.scans)
        what = "a leaf" if winner is None else grown.condition(k, 0).pretty() + "?"
        formulas = [self._score_formula(at)]
        if winner is not None:
            formulas.append(_gain_formula(winner))
        notes = self._tried_notes(looked, drawn)
        if winner is None:
            notes.append(f"It is a leaf: {self.why_leaf(t, k, at, looked)}.")
        else:
            notes += self.refusal_notes(looked, winner)
            notes += self.held_back_notes(t, at, looked, winner)
            notes += self._kept_despite_gamma(winner) + self._missing_note(t, at, winner)
        notes += self._row_notes(t)
        tables = [self._columns_table(t, at, looked, winner)]
        tables.append(self._rivals_table(looked.tried, winner))
        return Sheet(
            f"node {k} of {self.title(t)}: {what}",
            self._facts(t, k, at),
            formulas,
            [one for one in tables if one.rows],
            notes,
        )

    def title(self, t: int) -> str:
        m, output, twin = self.place_of(t)
        text = f"tree {t}, round {m}" if self.ensemble.per_round > 1 else f"tree {t}"
        classes = class_names(self.model)
        if self.ensemble.n_outputs > 1:
            text += f", class {classes[output]}" if classes is not None else f", output {output}"
        return text + (f", twin {twin}" if self.ensemble.n_parallel > 1 else "")

    def _facts(self, t: int, node: int, at: AtNode) -> dict[str, Any]:
        tree = self.trees[t]
        way = " and ".join(one.pretty() for one in tree.path_to(node)) or "all rows"
        facts: dict[str, Any] = {
            "path": way,
            "rows": len(at.rows),
            "ΣG": at.node.G,
            "ΣH": at.node.H,
            "cover the model keeps": float(tree.weight[node]),
        }
        if not tree.is_leaf[node]:
            facts["gain the model keeps"] = float(tree.gain[node])
        return facts

    def _winner(
        self, t: int, node: int, at: AtNode, scans: dict[int, GradientScan]
    ) -> GradientCandidate:
        """Return the split of the model, with its figures."""
        tree = self.trees[t]
        f = int(tree.feature[node])
        left = self.goes_left(tree, node, t, at.rows)
        g, h = self.gradients(t)
        inside = at.rows[left]
        sums = np.array([g[inside].sum(), h[inside].sum(), len(inside)], np.float64)
        cut, categories = float(tree.threshold[node]), None
        if tree.kind[node] == SUBSET:
            words = tree.column(f).categories or ()
            among = set(tree.categories_of(int(tree.bits_start[node]), f)[0])
            categories = frozenset(c for c, word in enumerate(words) if word in among)
        default = "left" if tree.missing_child[node] == 0 else "right"
        found = scans[f].find(sums) if f in scans else None
        if found is not None:
            return replace(found, cut=cut, categories=categories, default=default)
        missing = float(np.isnan(self.matrix_seen.column(f)[at.rows]).sum())
        sign = 0 if self.plan.monotone is None or categories else int(self.plan.monotone[f])
        extra = self.extra_l2(tree, node, t)
        return scan_one(at.node, f, sums, cut, categories, default, sign, extra, missing)

    def _line(self, c: GradientCandidate) -> tuple[Any, ...]:
        return (
            self.question(c),
            c.G_left,
            c.G_right,
            c.H_left,
            c.H_right,
            int(c.n_left),
            int(c.n_right),
            c.score_left,
            c.score_right,
            c.gain,
        )

    _header: ClassVar = (
        "split",
        "G left",
        "G right",
        "H left",
        "H right",
        "rows left",
        "rows right",
        "sim. left",
        "sim. right",
        "gain",
    )

    def _columns_table(
        self, t: int, at: AtNode, looked: Looked, winner: GradientCandidate | None
    ) -> SheetTable:
        scans, others = looked.scans, looked.others
        firsts: list[tuple[int, GradientCandidate | None]] = []
        for f, scan in scans.items():
            best = scan.best() or scan.best(refused=True)
            firsts.append((f, best[0] if best else None))
        if winner is not None:
            firsts = [(f, winner if f == winner.feature else c) for f, c in firsts]
        firsts.sort(
            key=lambda pair: -np.inf if pair[1] is winner else -pair[1].gain if pair[1] else np.inf
        )
        lines: list[tuple[Any, ...]] = []
        for f, c in firsts:
            tried = 0 if f in others else scans[f].n_tried
            if c is None:
                blank = [None] * (len(self._header) - 1)
                name, why = self.table.schema.columns[f].name, self._why_nothing(t, f, at)
                lines.append((name, *blank, tried, why))
            elif f in others:
                why = "not drawn" if "drawn" in others[f] else "interaction constraint"
                lines.append((*self._line(c), tried, why))
            else:
                lines.append((*self._line(c), tried, self.verdict_of(c, winner)))
        marked = frozenset() if winner is None else frozenset([0])
        header = (*self._header, "tried", "verdict")
        return SheetTable("Best split of every column", header, lines, marked, optional=_OPTIONAL)

    def _why_nothing(self, t: int, f: int, at: AtNode) -> str:
        """Return why a column has no candidate."""
        code, _, categories = self.binned(t, f, at.rows)
        met = len(np.unique(code[code >= 0]))
        if categories is None or met < 2 or self.rules.xgboost:
            return "nothing to part"
        return "categories of too few rows"

    def _rivals_table(
        self, scans: dict[int, GradientScan], winner: GradientCandidate | None
    ) -> SheetTable:
        every = [c for scan in scans.values() for c in scan.best(_RIVALS, refused=True)]
        others = [c for c in every if not self.is_winner(c, winner)]
        others.sort(key=lambda c: -c.gain)
        lines = [] if winner is None else [(*self._line(winner), "wins")]
        lines += [(*self._line(c), self.verdict_of(c, winner)) for c in others[:_RIVALS]]
        marked = frozenset() if winner is None else frozenset([0])
        return SheetTable(
            "Closest rivals", (*self._header, "verdict"), lines, marked, optional=_OPTIONAL
        )

    def _tried_notes(self, looked: Looked, drawn: str) -> list[str]:
        scans, rules = looked.tried, self.rules
        notes = [tried_note(sum(scan.n_tried for scan in scans.values()), len(scans))]
        if drawn:
            notes.append(f"Columns: {drawn}.")
        untried = [f for f, scan in scans.items() if not scan.n_tried]
        if not rules.xgboost and any(self.table.schema.columns[f].categories for f in untried):
            notes.append(
                "LightGBM leaves out categories of fewer than "
                f"cat_smooth={number(rules.cat_min_rows)} rows, and asks for "
                f"min_data_per_group={number(rules.min_group)} rows in a group of them."
            )
        return notes

    def _kept_despite_gamma(self, winner: GradientCandidate) -> list[str]:
        """Return why a split of less than γ stands: exact growth cuts back from the leaves."""
        if not (self.is_exact and winner.gain < self.rules.min_gain):
            return []
        return [
            f"It gains less than {self.option('gamma')}={number(self.rules.min_gain)} and stays: trees are "
            "cut back from their leaves, and a split below it gained enough."
        ]

    def _missing_note(self, t: int, at: AtNode, winner: GradientCandidate) -> list[str]:
        """Return where missing values went, and what the other way would have gained."""
        name = self.table.schema.columns[winner.feature].name
        if not winner.missing_rows:
            return [f"No training row here lacks {name}; new rows without it go {winner.default}."]
        rows = int(winner.missing_rows)
        if winner.cut == np.inf:
            return [f"The split separates the {rows} rows without {name} from all others."]
        text = f"{rows} rows lack {name} and go {winner.default}"
        if winner.categories is not None and not self.rules.xgboost:
            text += ", as LightGBM lets missing categories always go"
        other = self._other_way(t, at, winner)
        less = winner.gain - other.gain
        refused = other.verdict in ("min_child_weight", "min_child_samples", "monotone constraint")
        why = f", but {self.refused_because(other)}" if refused else ""
        return [
            f"{text}; the other way the split would gain {number(other.gain)}, "
            f"{number(abs(less))} {'less' if less >= 0 else 'more'}{why}."
        ]

    def _other_way(self, t: int, at: AtNode, winner: GradientCandidate) -> GradientCandidate:
        """Return the winner with missing values on the other side."""
        f = winner.feature
        gone = at.rows[self.binned(t, f, at.rows)[0] < 0]
        g, h = self.gradients(t)
        missing = np.array([g[gone].sum(), h[gone].sum(), float(len(gone))])
        left = np.array([winner.G_left, winner.H_left, winner.n_left])
        right_now = winner.default == "right"
        sums = left + missing if right_now else left - missing
        signs = self.plan.monotone
        sign = 0 if signs is None or winner.categories is not None else int(signs[f])
        return scan_one(
            at.node,
            f,
            sums,
            winner.cut,
            winner.categories,
            "left" if right_now else "right",
            sign,
            0.0 if winner.categories is None else self.column_l2(t, f),
            winner.missing_rows,
        )

    def _row_notes(self, t: int) -> list[str]:
        """Return which rows the tree saw, and how their g and h were rounded."""
        rows, factor = self.drawn_rows(t)
        total, notes = len(self.table.y), []
        if factor is not None:
            kept = int((factor == 1).sum())
            notes.append(
                f"GOSS: {kept} rows of largest |g·h| were kept, {len(rows) - kept} of the others "
                "drawn, which count "
                f"{number(float(factor.max()))} times."
            )
        elif len(rows) < total:
            notes.append(f"The tree was grown on {len(rows)} of {total} rows, drawn for its round.")
        if not self.is_exact:
            g, h = self.units(t)
            notes.append(
                f"Splits were searched with g rounded to multiples of {number(g, 3)} and h to "
                f"{number(h, 3)}: kept gains and "
                "covers are those of the rounded sums. The values of leaves come from finer sums."
            )
        else:
            notes.append("The gain that the model keeps is rounded to single precision.")
        bins = self.bins_for(t)
        if bins is not None and bins.conflicts.any():
            notes.append(
                f"Columns share bundles (EFB) in which {int(bins.conflicts.sum())} values were lost "
                "to another column."
            )
        return notes

    def why_leaf(self, t: int, node: int, at: AtNode, looked: Looked) -> str:
        """Return what made a node a leaf."""
        rules, tree = self.plan.rules, self.trees[t]
        if at.depth >= rules.max_depth:
            return f"max_depth={rules.max_depth} is reached"
        if len(at.rows) < max(2 * rules.min_rows, 2):
            return f"{len(at.rows)} rows cannot give two sides that are large enough"
        able = [c for scan in looked.tried.values() for c in scan.best()]
        if not able:
            return "no split is admissible" + self.why_refused(looked)
        best = max(able, key=lambda c: c.gain)
        if rules.max_leaves < _MANY and tree.n_leaves >= rules.max_leaves:
            return (
                f"the tree has its {rules.max_leaves} leaves; the best split here would gain "
                f"{number(best.gain)}"
            )
        if rules.min_gain > 0:
            name = self.option("gamma")
            return f"its best split gains {number(best.gain)}; {name}={number(rules.min_gain)} took it back"
        return f"its best split, of gain {number(best.gain)}, was lost by rounding"

    # ------------------------------------------------------------------ formulas
    def _score_formula(self, at: AtNode) -> Formula:
        """Return the similarity of a node with its numbers."""
        node, r = at.node, self.rules
        answer = float(
            gradient_answer(node.G, node.H, node.n, at.lean, node.bounds, r, at.extra_l2)
        )
        value = float(gradient_score(node.G, node.H, answer, r))
        plain = (
            not (r.max_delta_step or r.path_smooth)
            and node.bounds == (-np.inf, np.inf)
            and not at.extra_l2
        )
        if plain:
            pull = (
                f"soft({number(node.G)}, {number(r.reg_alpha)})" if r.reg_alpha else signed(node.G)
            )
            numbers = f"{pull}² / ({number(node.H)} + {number(r.reg_lambda)})"
            return Formula("similarity", "soft(G, α)² / (H + λ)", numbers, value)
        numbers = (
            f"-(2 · soft({number(node.G)}, {number(r.reg_alpha)}) · {signed(answer)} + ({number(node.H)} + "
            f"{number(r.reg_lambda)}) · {signed(answer)}²)"
        )
        return Formula("similarity", "-(2 · soft(G, α) · b + (H + λ) · b²)", numbers, value)


def _gain_formula(c: GradientCandidate) -> Formula:
    numbers = f"{number(c.score_left)} + {number(c.score_right)} - {signed(c.score_node)}"
    return Formula(
        "gain", "similarity left + similarity right - similarity of the node", numbers, c.gain
    )
