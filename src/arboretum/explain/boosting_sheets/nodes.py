"""Nodes of second-order trees: what their rows offered, who won and why.

Histogram growth rounds g and h to 16 bits, at random, before it looks for splits: gains it keeps are those of
the rounded numbers, so they differ from the sums shown by up to a unit per row (said on the sheet). What
leaves answer is summed from finer numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from arboretum.explain.boosting_sheets.replay import AtNode, Replay
from arboretum.explain.worksheet.family import class_names
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    GradientScan,
    gradient_answer,
    gradient_score,
    scan_one,
)
from arboretum.tree.condition import Condition, format_category
from arboretum.tree.tree import SUBSET

__all__ = ["NodeSheets"]

_RIVALS = 8
_MANY = 1 << 29  # more than any limit that somebody sets
_OPTIONAL = ("missing", "rows left", "rows right", "tried", "H left", "H right")


class NodeSheets(Replay):
    """A booster that tells of its nodes."""

    # ------------------------------------------------------------------ a node
    def node(self, tree: Any, node: Any) -> Sheet:
        t = self.number_of_tree(tree)
        grown = self.trees[t]
        k = self.number_of_node(grown, node)
        at = self.at(t, k)
        columns, drawn = self.columns_of(t, k, at)
        scans = {f: self.scan(t, f, at) for f in columns}
        winner = None if grown.is_leaf[k] else self._winner(t, k, at, scans)
        what = "a leaf" if winner is None else grown.condition(k, 0).pretty() + "?"
        formulas = [self._score_formula(at)]
        if winner is not None:
            formulas.append(_gain_formula(winner))
        notes = self._node_notes(t, k, at, winner, scans, drawn)
        tables = [self._columns_table(scans, winner), self._rivals_table(scans, winner)]
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
            "way here": way,
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

    def question(self, c: GradientCandidate) -> str:
        """Return a candidate's question in the words of the table."""
        column = self.table.schema.columns[c.feature]
        words = column.categories or ()
        if c.categories is not None:
            left = tuple(words[k] for k in sorted(c.categories))
            text = Condition(c.feature, column.name, "in", left, kind=column.kind).pretty(
                max_categories=5
            )
        elif c.cut == np.inf:
            return f"{column.name} is present"
        else:
            shown: Any = format_category(words[int(c.cut)]) if words else c.cut
            text = Condition(
                c.feature, column.name, "<=", (shown,), kind=column.value_kind
            ).pretty()
        return text + (" or missing" if c.default == "left" and c.missing_rows else "")

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

    def _is_winner(self, c: GradientCandidate, winner: GradientCandidate | None) -> bool:
        if winner is None or c.feature != winner.feature or c.n_left != winner.n_left:
            return False
        return c.gain == winner.gain or abs(c.gain - winner.gain) <= 1e-9 * (
            c.score_left + c.score_right
        )

    def verdict_of(self, c: GradientCandidate, winner: GradientCandidate | None) -> str:
        if c is winner or self._is_winner(c, winner):
            return "wins"
        if c.verdict != "admissible":
            return c.verdict
        if winner is None:
            return "admissible"
        close = 1e-9 * (abs(winner.score_left) + abs(winner.score_right) + abs(winner.score_node))
        if abs(c.gain - winner.gain) <= close:
            return "tie: the first wins"
        if c.gain > winner.gain:
            return "lost by rounding to 16 bits" if not self.is_exact else "lost by rounding"
        return "gains less"

    def _columns_table(
        self, scans: dict[int, GradientScan], winner: GradientCandidate | None
    ) -> SheetTable:
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
            tried = scans[f].n_tried
            if c is None:
                blank = [None] * (len(self._header) - 1)
                lines.append((self.table.schema.columns[f].name, *blank, tried, "nothing to part"))
            else:
                lines.append((*self._line(c), tried, self.verdict_of(c, winner)))
        marked = frozenset() if winner is None else frozenset([0])
        header = (*self._header, "tried", "verdict")
        return SheetTable("Best split of every column", header, lines, marked, optional=_OPTIONAL)

    def _rivals_table(
        self, scans: dict[int, GradientScan], winner: GradientCandidate | None
    ) -> SheetTable:
        every = [c for scan in scans.values() for c in scan.best(_RIVALS, refused=True)]
        others = [c for c in every if not self._is_winner(c, winner)]
        others.sort(key=lambda c: -c.gain)
        lines = [] if winner is None else [(*self._line(winner), "wins")]
        lines += [(*self._line(c), self.verdict_of(c, winner)) for c in others[:_RIVALS]]
        marked = frozenset() if winner is None else frozenset([0])
        return SheetTable(
            "Closest rivals", (*self._header, "verdict"), lines, marked, optional=_OPTIONAL
        )

    def _node_notes(
        self,
        t: int,
        node: int,
        at: AtNode,
        winner: GradientCandidate | None,
        scans: dict[int, GradientScan],
        drawn: str,
    ) -> list[str]:
        tried = sum(scan.n_tried for scan in scans.values())
        notes = [f"{tried:,} candidates of {len(scans)} columns were tried."]
        if drawn:
            notes.append(f"Columns: {drawn}.")
        if winner is not None:
            notes += self._missing_note(winner, scans.get(winner.feature))
        else:
            notes.append(f"It is a leaf: {self.why_leaf(t, node, at, scans)}.")
        return notes + self._row_notes(t)

    def _missing_note(self, winner: GradientCandidate, scan: GradientScan | None) -> list[str]:
        """Return where missing values went, and what the other way would have gained."""
        name = self.table.schema.columns[winner.feature].name
        if not winner.missing_rows:
            return [f"No row here misses {name}; later ones that do go {winner.default}."]
        rows = int(winner.missing_rows)
        if winner.cut == np.inf:
            return [f"The {rows} rows that miss {name} are parted from all others."]
        other = None
        if scan is not None:
            each = (
                [scan[i] for i in range(scan.n_tried)]
                if scan.n_tried < 4000
                else scan.best(400, refused=True)
            )
            same = [
                c
                for c in each
                if c.default != winner.default
                and c.categories == winner.categories
                and (c.cut == winner.cut or winner.categories is not None)
            ]
            other = same[0] if same else None
        text = f"{rows} rows miss {name} and go {winner.default}"
        if other is None:
            return [text + "; the other way was not tried."]
        less = winner.gain - other.gain
        return [
            f"{text}; the other way the split would gain {number(other.gain)}, {number(less)} less."
        ]

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
                "covers are those of the rounded sums. What leaves answer is summed more finely."
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

    def why_leaf(self, t: int, node: int, at: AtNode, scans: dict[int, GradientScan]) -> str:
        """Return what made a node a leaf."""
        rules, tree = self.plan.rules, self.trees[t]
        if at.depth >= rules.max_depth:
            return f"max_depth={rules.max_depth} is reached"
        if len(at.rows) < max(2 * rules.min_rows, 2):
            return f"{len(at.rows)} rows cannot give two sides that are large enough"
        able = [c for scan in scans.values() for c in scan.best()]
        if not able:
            refused = [c for scan in scans.values() for c in scan.best(refused=True)]
            best = max(refused, key=lambda c: c.gain, default=None)
            return "no split is admissible" + (
                f"; the best is refused: {best.verdict}" if best else ""
            )
        best = max(able, key=lambda c: c.gain)
        if rules.max_leaves < _MANY and tree.n_leaves >= rules.max_leaves:
            return (
                f"the tree has its {rules.max_leaves} leaves; the best split here would gain "
                f"{number(best.gain)}"
            )
        if rules.min_gain > 0:
            return f"its best split gains {number(best.gain)}; γ = {number(rules.min_gain)} took it back"
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
