"""Worksheets of second-order boosting: XGBoost's and LightGBM's estimators, all objectives and ways to grow.

A round is played again up to its tree (replay.py); the textbook's scan says what the rows of a node offered.

Histogram growth rounds g and h to 16 bits, at random, before it looks for splits: gains it keeps are those of
the rounded numbers, so they differ from the sums shown by up to a unit per row (said on the sheet). What
leaves answer is summed from finer numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from arboretum.explain.worksheet.cart import truth_of
from arboretum.explain.worksheet.family import class_names, index_of
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.replay import AtNode, Replay, RoundState
from arboretum.explain.worksheet.sheet import Formula, Sheet, Table
from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    GradientScan,
    gradient_answer,
    gradient_score,
    scan_one,
)
from arboretum.tree.condition import Condition, format_category
from arboretum.tree.tree import SUBSET

__all__ = ["SecondOrderFamily"]

_RIVALS = 8
_MANY = 1 << 29  # more than any limit that somebody sets
_OPTIONAL = ("missing", "rows left", "rows right", "tried", "H left", "H right")


class SecondOrderFamily(Replay):
    """XGBoost's and LightGBM's boosters."""

    answers: ClassVar = ("node", "leaf", "row", "round")
    without: ClassVar = {
        "pruning": "trees of boosting are held back by γ, depth and leaves, not pruned along a path",
        "oob": "boosting keeps no out-of-bag answers; ask .round(m) for the rows that a round drew",
    }

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
    ) -> Table:
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
        return Table("Best split of every column", header, lines, marked, optional=_OPTIONAL)

    def _rivals_table(
        self, scans: dict[int, GradientScan], winner: GradientCandidate | None
    ) -> Table:
        every = [c for scan in scans.values() for c in scan.best(_RIVALS, refused=True)]
        others = [c for c in every if not self._is_winner(c, winner)]
        others.sort(key=lambda c: -c.gain)
        lines = [] if winner is None else [(*self._line(winner), "wins")]
        lines += [(*self._line(c), self.verdict_of(c, winner)) for c in others[:_RIVALS]]
        marked = frozenset() if winner is None else frozenset([0])
        return Table(
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

    # ------------------------------------------------------------------ a leaf
    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        t = self.number_of_tree(tree)
        grown = self.trees[t]
        k = self.number_of_node(grown, leaf, what="leaf")
        at = self.at(t, k)
        formulas, notes = self._leaf_formulas(t, k, at), []
        columns, _ = self.columns_of(t, k, at)
        if len(grown) > 1 or self.plan.unsplit_answers:
            scans = (
                {f: self.scan(t, f, at) for f in columns}
                if at.depth < self.plan.rules.max_depth
                else {}
            )
            notes.append(f"It is a leaf: {self.why_leaf(t, k, at, scans)}.")
        else:
            notes.append("The tree found no split, and LightGBM lets such a tree answer 0.")
        return Sheet(
            f"leaf {k} of {self.title(t)}",
            self._facts(t, k, at),
            formulas,
            [self._leaf_rows(t, at)],
            [*notes, *self._row_notes(t)],
        )

    def _leaf_formulas(self, t: int, k: int, at: AtNode) -> list[Formula]:
        """Return the step of a leaf, and what is added to the margin."""
        node, r, plan = at.node, self.rules, self.plan
        m, output, _ = self.place_of(t)
        formulas: list[Formula] = []
        renew = self.objective.renew_leaf
        if renew is not None and len(self.trees[t]) > 1:
            state = self.state(m)
            step = float(
                renew(self.table.y, state.margin, self.table.weight, np.sort(at.rows), output)
            )
            formulas.append(
                Formula(
                    "b",
                    f"best constant for {len(at.rows)} residuals y - F (renewed leaf)",
                    "",
                    step,
                )
            )
        else:
            raw = float(
                gradient_answer(
                    node.G,
                    node.H,
                    node.n,
                    rules=replace(r, path_smooth=0.0, max_delta_step=0.0),
                    extra_l2=at.extra_l2,
                )
            )
            pull = (
                f"soft({number(node.G)}, {number(r.reg_alpha)})" if r.reg_alpha else signed(node.G)
            )
            below = f"{number(node.H)} + {number(r.reg_lambda + at.extra_l2)}"
            rule = "-soft(G, α) / (H + λ)" if r.reg_alpha else "-G / (H + λ)"
            formulas.append(Formula("b", rule, f"-{pull} / ({below})", raw))
            step = float(
                gradient_answer(node.G, node.H, node.n, at.lean, node.bounds, r, at.extra_l2)
            )
            if self.is_light(t, at):
                step = 0.0
            if step != raw:
                formulas.append(self._bent_formula(at, raw, step))
        if len(self.trees[t]) == 1 and not plan.unsplit_answers:
            step = 0.0
        rate = 1.0 if self.ensemble.averaged else plan.learning_rate
        value = float(self.trees[t].value[k, 0, 0])
        formulas.append(Formula("value", "η · b", f"{number(rate)} · {signed(step)}", rate * step))
        formulas.append(Formula("value the model keeps", "", "", value))
        weight = float(self.ensemble.weights[t])
        if weight != 1.0:
            formulas.append(
                Formula(
                    "added to the margin",
                    "weight of the tree · value",
                    f"{number(weight)} · {signed(value)}",
                    weight * value,
                )
            )
        return formulas

    def _bent_formula(self, at: AtNode, raw: float, step: float) -> Formula:
        r, (low, high) = self.rules, at.node.bounds
        why = []
        if r.max_delta_step:
            why.append(f"at most {number(r.max_delta_step)} in size")
        if r.path_smooth and not np.isnan(at.lean):
            ratio = at.node.n / r.path_smooth
            why.append(f"(b · {number(ratio)} + {signed(at.lean)}) / ({number(ratio)} + 1)")
        if (low, high) != (-np.inf, np.inf):
            why.append(f"within [{number(low)}, {number(high)}]")
        if not why:
            why.append(f"H below min_child_weight={number(r.min_weight)} answers 0")
        return Formula("b kept", "; ".join(why), number(raw), step)

    def _leaf_rows(self, t: int, at: AtNode) -> Table:
        """Return some rows of a leaf with their derivatives."""
        m, output, _ = self.place_of(t)
        g, h = self.gradients(t)
        state, rows = self.state(m), np.sort(at.rows)
        lines = [
            (
                int(self.kept[i]),
                truth_of(self.given.y, int(self.kept[i])),
                float(state.margin[i, output]),
                float(g[i]),
                float(h[i]),
            )
            for i in rows[:200].tolist()
        ]
        title = (
            f"Its rows ({len(rows)})"
            if len(rows) <= 200
            else f"The first 200 of its {len(rows)} rows"
        )
        return Table(title, ("row", "y", "margin before", "g", "h"), lines, shown=10)

    # ------------------------------------------------------------------ losses
    def losses(self, y: np.ndarray, margin: np.ndarray) -> np.ndarray | None:
        """Return the loss of every row at its margins; None where the objective has none by row."""
        losses = getattr(self.objective, "losses", ())
        if not losses:
            return None
        if len(losses) == 1 and margin.shape[1] > 1 and losses[0].kernel == "softmax":
            return losses[0].value(y.astype(np.int64), margin)
        each = []
        for k in range(margin.shape[1]):
            loss = losses[k if len(losses) > 1 else 0]
            try:
                each.append(
                    loss.value(self.objective._labels(y, k), np.ascontiguousarray(margin[:, k]))
                )
            except NotImplementedError:
                return None
        return np.sum(each, axis=0)

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        matrix, title, i = self.encoded(row)
        ensemble, model = self.ensemble, self.model
        part = model._part(0, model._best_end)
        start = self._start_of(i)
        final = part.answers(matrix, 1, start[None])
        facts: dict[str, Any] = {
            "answer": self._answer(final),
            "margin": final[0].tolist() if final.shape[1] > 1 else float(final[0, 0]),
        }
        if ensemble.link.name not in ("identity", "own"):
            facts["link"] = ensemble.link.name
            facts["prediction"] = self.objective.predict(final).ravel().tolist()
        if i is not None:
            facts["in training"] = truth_of(self.given.y, i)
        formulas = []
        for k in range(ensemble.n_outputs):
            name = "margin" if ensemble.n_outputs == 1 else f"margin of {self._output_name(k)}"
            numbers = f"{number(float(start[k]))} + {signed(float(final[0, k] - start[k]))}"
            formulas.append(
                Formula(name, "start + Σ of what trees add", numbers, float(final[0, k]))
            )
        leaves, values = part.leaves(matrix, 1)[0], part.terms.values
        added = [float(v[leaf, 0]) for v, leaf in zip(values, leaves, strict=True)]
        heaviest = int(np.argmax(np.abs(added)))
        title_of_way = f"The way down tree {heaviest}, which adds most"
        tables = [
            self.values_table(matrix),
            self._rounds_table(part, leaves, added, start, i),
            self.journey(part.trees[heaviest], matrix, title_of_way),
        ]
        return Sheet(f"{title} in {self.name}", facts, formulas, tables, self._answer_notes(i))

    def _start_of(self, i: int | None) -> np.ndarray:
        """Return the margins a row begins with: those that were given to the fit, or the base."""
        if i is None or self.given.base_margin is None or i not in self.kept:
            return self.ensemble.base
        return self.start[int(np.searchsorted(self.kept, i))]

    def _answer_notes(self, i: int | None) -> list[str]:
        end, notes = self.model._best_end, []
        if end is not None:
            notes.append(f"Early stopping keeps the rounds before {end} for predictions.")
        if self.ensemble.averaged:
            notes.append(
                "Trees are averaged (a boosted forest): what one adds is divided by the rounds."
            )
        if i is not None and self.whole.weight is not None and not self._weight_of(i):
            notes.append("The row has weight 0: no tree was grown on it.")
        return notes

    def _weight_of(self, i: int) -> float:
        weight = self.whole.weight
        return 1.0 if weight is None or len(weight) != self.n_rows else float(weight[i])

    def _rounds_table(
        self, part: Any, leaves: np.ndarray, added: list[float], start: np.ndarray, i: int | None
    ) -> Table:
        """Return what every tree adds to a row, and for training rows what drove it there."""
        margin, per = start.copy(), part.per_round
        label = None if i is None else self.whole.y[[i]]
        costs = label is not None and self.losses(label, margin[None]) is not None
        derived = i is not None and self.model.target != "orders" and self.plan.dart is None
        before, g, h = margin.copy(), np.empty(0), np.empty(0)
        lines = []
        for t, (leaf, more) in enumerate(zip(leaves.tolist(), added, strict=True)):
            m, output, _ = self.place_of(t)
            if t % per == 0:
                before = margin.copy()
                if derived:
                    assert i is not None
                    g, h = self._of_row(i, start if part.averaged else before, m)
            margin[output] += more
            line: list[Any] = [m, t, leaf, more, float(margin[output])]
            line += [float(g[output, 0]), float(h[output, 0])] if derived else []
            if costs:
                assert label is not None
                ends = (t + 1) % per == 0
                line += [self._loss_of(label, x) if ends else None for x in (before, margin)]
            lines.append(tuple(line))
        header = ["round", "tree", "leaf", "adds", "margin"]
        header += ["g", "h"] if derived else []
        header += ["loss before", "loss after"] if costs else []
        return Table("Round by round", header, lines, shown=30, optional=("h", "g", "round"))

    def _loss_of(self, label: np.ndarray, margin: np.ndarray) -> float | None:
        values = self.losses(label, margin[None])
        return None if values is None else float(values[0])

    def _output_name(self, k: int) -> str:
        classes = class_names(self.model)
        return (
            str(classes[k])
            if classes is not None and len(classes) == self.ensemble.n_outputs
            else f"output {k}"
        )

    def _of_row(self, i: int, margin: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of one training row at its margins, weight multiplied in."""
        table = self.whole
        shape = (self.ensemble.n_outputs, 1)
        g, h = np.empty(shape, np.float32), np.empty(shape, np.float32)
        weight = None if table.weight is None else table.weight[[i]]
        self.objective.derivatives(
            table.y[[i]], np.ascontiguousarray(margin[None]), weight, g, h, 1, iteration=m
        )
        return g, h

    def _answer(self, margin: np.ndarray) -> Any:
        said = self.model._predicted(margin)[0]
        return said.tolist() if hasattr(said, "tolist") else said

    # ------------------------------------------------------------------ a round
    def round(self, m: Any) -> Sheet:
        ensemble = self.ensemble
        m = index_of(m, ensemble.n_rounds, ("round", "rounds"), self.name)
        state, y, w = self.state(m), self.table.y, self.table.weight
        per = ensemble.per_round
        trees = list(range(m * per, (m + 1) * per))
        after = self._after(m, state)
        facts: dict[str, Any] = {
            "trees": per,
            "learning rate": self.plan.learning_rate,
            "rows": len(y),
            "rows the round drew": len(self.drawn_rows(trees[0])[0]),
        }
        formulas = []
        losses = [self.losses(y, margin) for margin in (state.before, after)]
        if losses[0] is not None and losses[1] is not None:
            weight = np.ones(len(y)) if w is None or len(w) != len(y) else w
            for name, values in zip(("loss before", "loss after"), losses, strict=True):
                assert values is not None
                total = float(weight @ values)
                formulas.append(
                    Formula(
                        name,
                        "Σ w L / Σ w",
                        f"{number(total)} / {number(float(weight.sum()))}",
                        total / weight.sum(),
                    )
                )
        tables = [
            self._trees_table(trees),
            self._spread_table(state),
            self._rows_table(state, after, losses),
        ]
        notes = self._row_notes(trees[0])
        if state.dropped:
            notes.insert(
                0, f"dart left out {len(state.dropped)} earlier trees: {number(state.dropped)}."
            )
        return Sheet(f"round {m} of {self.name}", facts, formulas, tables, notes)

    def _after(self, m: int, state: RoundState) -> np.ndarray:
        """Return the margins after a round."""
        ensemble, matrix = self.ensemble, self.matrix_seen
        if ensemble.averaged:
            return ensemble.rounds(0, m + 1).answers(matrix, self.threads, self.start)
        if self.plan.dart is None:
            return ensemble.rounds(m, m + 1).answers(matrix, self.threads, state.margin)
        now, dropped = self.dart_rounds[m]
        per = ensemble.per_round
        new, old = 1.0, 1.0
        if dropped:
            new, old = self.plan.dart.shares(len(dropped) // per, self.plan.learning_rate)
        weights = np.append(now, [new] * per)
        weights[dropped] *= old
        trees = ensemble.trees[: len(weights)]
        return replace(ensemble, trees=trees, weights=weights).answers(
            matrix, self.threads, self.start
        )

    def _trees_table(self, trees: list[int]) -> Table:
        lines = []
        for t in trees:
            tree = self.trees[t]
            asked = "no split" if tree.is_leaf[0] else tree.condition(0, 0).pretty(max_categories=4)
            values = tree.value[tree.leaves, 0, 0]
            lines.append(
                (
                    t,
                    tree.n_leaves,
                    tree.max_depth,
                    asked,
                    float(tree.gain[0]),
                    float(values.min()),
                    float(values.max()),
                )
            )
        header = ("tree", "leaves", "depth", "root asks", "gain", "smallest value", "largest value")
        return Table("Its trees", header, lines)

    def _spread_table(self, state: RoundState) -> Table:
        lines: list[tuple[Any, ...]] = []
        for k in range(len(state.g)):
            name = "" if len(state.g) == 1 else self._output_name(k)
            for what, values in (("g", state.g[k]), ("h", state.h[k])):
                v = values.astype(np.float64)
                low, middle, high = (float(np.quantile(v, q)) for q in (0.25, 0.5, 0.75))
                lines.append(
                    (name, what, float(v.sum()), float(v.min()), low, middle, high, float(v.max()))
                )
        header: tuple[str, ...] = (
            "output",
            "",
            "sum",
            "least",
            "quarter",
            "median",
            "3 quarters",
            "most",
        )
        if len(state.g) == 1:
            header, lines = header[1:], [line[1:] for line in lines]
        return Table("Gradients and hessians", header, lines)

    def _rows_table(
        self, state: RoundState, after: np.ndarray, losses: list[np.ndarray | None]
    ) -> Table:
        """Return the rows that are pulled hardest."""
        pull = np.abs(state.g).sum(axis=0)
        order = np.argsort(-pull, kind="stable")[:10]
        lines = []
        for j in order.tolist():
            k = int(np.abs(state.g[:, j]).argmax())
            i = int(self.kept[j])
            line = [
                i,
                truth_of(self.given.y, i),
                float(state.before[j, k]),
                float(state.g[k, j]),
                float(state.h[k, j]),
                float(after[j, k] - state.before[j, k]),
            ]
            if losses[0] is not None and losses[1] is not None:
                line += [float(losses[0][j]), float(losses[1][j])]
            lines.append(tuple(line))
        header = ["row", "y", "margin", "g", "h", "step"]
        if losses[0] is not None:
            header += ["loss before", "loss after"]
        return Table("Rows that are pulled hardest", header, lines, optional=("h",))

    def more_facts(self) -> dict[str, Any]:
        return {
            "objective": self.objective.name,
            "rounds": self.ensemble.n_rounds,
            "start": self.ensemble.base.tolist()
            if self.ensemble.n_outputs > 1
            else float(self.ensemble.base[0]),
        }


def _gain_formula(c: GradientCandidate) -> Formula:
    numbers = f"{number(c.score_left)} + {number(c.score_right)} - {signed(c.score_node)}"
    return Formula(
        "gain", "similarity left + similarity right - similarity of the node", numbers, c.gain
    )
