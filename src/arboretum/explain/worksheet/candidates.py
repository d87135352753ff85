"""The candidates of one node of a CART tree: the winner, the best of every column, close rivals and why
they lost.

All gains of a column come from one pass (textbook/column_scan.py); only what is shown is judged row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine import parallel
from arboretum.explain.worksheet.draws import columns_visited, drawn_question, node_key
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.lazy import cached_property
from arboretum.textbook.cart import EPSILON, TIE
from arboretum.textbook.column_scan import Channels, ColumnScan, ValueBins, scan_column
from arboretum.textbook.questions import Question
from arboretum.textbook.splits import Candidate, Sample, judge_question

if TYPE_CHECKING:
    from arboretum.explain.worksheet.grown import ShownTree

__all__ = ["NodeCandidates", "drawn_columns", "slack_of", "tried_note", "why_not_taken"]

_JUDGED = 12  # rivals
_RIVALS = 8  # of them, shown besides the best of every column
_OPTIONAL = ("charge", "W left", "W right", "tried")  # columns that a narrow screen leaves out
_SHARED_ROWS = 10_000  # of a node of absolute_error whose columns threads share
_MEDIANS = 2_000_000  # rows × cuts of absolute_error that are judged one by one, for a column


class NodeCandidates:
    """The candidates of one node: the winner, the best of every column, close rivals.

    Parameters
    ----------
    grown : ShownTree
    node : int
    sample : Sample
        The rows of the node.
    bins : callable, optional
        Returns the bins of a column of the sample; cuts are tried between those only.
    drawn_only : bool
        Leave out columns that the node did not draw.
    """

    def __init__(
        self,
        grown: ShownTree,
        node: int,
        sample: Sample,
        bins: Callable[[int], ValueBins] | None = None,
        *,
        drawn_only: bool = False,
    ) -> None:
        self.grown, self.node, self.sample = grown, node, sample
        self.whole = np.ones(len(sample.X), bool)
        self.rivals = lru_cache(maxsize=2)(self._rivals)
        self._n_questions = lru_cache(maxsize=None)(self._count_questions)
        self._bins = bins
        self.drawn = self._drawn()
        columns = self.drawn if drawn_only and self.drawn is not None else range(sample.X.shape[1])
        self.scans = self._look_at(columns)
        self.tried = {f: scan.n_tried for f, scan in self.scans.items()}
        if sample.rules.criterion == "absolute_error" and not self._draws_cuts:
            self.tried = {f: self._n_questions(f) for f in self.scans}
        self.winner = None if grown.tree.is_leaf[node] else self._winner()
        self.before = sample.impurity(self.whole)
        if self.winner is not None and grown.rules.surrogates:
            known = ~np.isnan(sample.X[:, self.winner.feature])
            self.before = sample.impurity(known)

    @property
    def _draws_cuts(self) -> bool:
        return self.grown.draw is not None and self.grown.draw.random_splits

    def _varies(self, feature: int) -> bool:
        x = self.sample.X[:, feature]
        known = x[~np.isnan(x)]
        return bool(len(known)) and (len(known) < len(x) or known.min() < known.max())

    def _drawn(self) -> list[int] | None:
        """Return the columns the node drew, in order; None if it looked at all, or they are unknown."""
        return drawn_columns(self.grown, self.node, self._varies)

    def _key(self) -> int:
        return _key_of(self.grown, self.node)

    # ------------------------------------------------------------------ candidates
    def _look_at(self, columns: Sequence[int]) -> dict[int, ColumnScan]:
        """Return the candidates of columns; threads share them where medians of many rows take long."""
        found: dict[int, ColumnScan] = {}

        def look(feature: int) -> None:
            found[feature] = self._look(feature)

        slow = (
            self.sample.rules.criterion == "absolute_error" and len(self.sample.X) >= _SHARED_ROWS
        )
        parallel.run(look, columns, parallel.effective_jobs(None) if slow else 1)
        return {f: found[f] for f in sorted(found)}

    @cached_property
    def best(self) -> dict[int, Candidate | None]:
        """The best candidate of every column, judged."""
        return {f: self._first(scan) for f, scan in self.scans.items()}

    def closest(self, n: int) -> list[Candidate]:
        """Return the best of the n columns that come closest to the winner's; its own is left out."""
        firsts = []
        for f, scan in self.scans.items():
            if self.winner is not None and f == self.winner.feature:
                continue
            some = scan.allowed if scan.allowed.any() else ~scan.allowed
            firsts += [(self._charge(f) - scan.gain[i], f, i) for i in scan.leading(1, some)]
        return [self.scans[f].candidate(i) for _, f, i in sorted(firsts)[:n]]

    def _look(self, feature: int) -> ColumnScan:
        """Return the candidates of a column."""
        draw = self.grown.draw
        if draw is not None and draw.random_splits:
            return _as_scan(feature, self._one_question(feature) if draw.key is not None else [])
        if self.sample.rules.criterion == "absolute_error":
            return _as_scan(feature, self._by_medians(feature))
        bins = None if self._bins is None else self._bins(feature)
        return scan_column(self.sample, feature, bins, self._channels)

    @cached_property
    def _channels(self) -> Channels:
        return Channels(self.sample)

    def _first(self, scan: ColumnScan) -> Candidate | None:
        """Return the best of a column, refused ones only if there is no other."""
        found = scan.best() or scan.best(refused=True)
        return found[0] if found else None

    def _one_question(self, feature: int) -> list[Candidate]:
        """Return the question drawn of a column, with missing values on either side."""
        x = self.sample.X[:, feature]
        test = drawn_question(self._key(), feature, x, self.sample.kinds[feature])
        gaps = bool(np.isnan(x).any())
        found = []
        if test is not None:
            sides: tuple[str | None, ...] = ("right", "left") if gaps else (None,)
            found = [judge_question(self.sample, test, side) for side in sides]
        if gaps and not np.isnan(x).all():
            found.append(judge_question(self.sample, self.sample.is_present(feature), "right"))
        return found

    def _by_medians(self, feature: int) -> list[Candidate]:
        """Return candidates of absolute_error, judged one by one; of a large node only the best."""
        x = self.sample.X[:, feature]
        if len(x) * self._n_questions(feature) > _MEDIANS:
            questions = self._best_cut(feature)
        else:
            questions = self.sample.questions(feature)
        sides: tuple[str | None, ...] = ("right", "left") if self._gaps(feature) else (None,)
        found = [judge_question(self.sample, q, side) for q in questions for side in sides]
        if self._gaps(feature) and not np.isnan(self.sample.X[:, feature]).all():
            found.append(judge_question(self.sample, self.sample.is_present(feature), "right"))
        return found

    def _gaps(self, feature: int) -> bool:
        """Whether missing values are tried on both sides."""
        some = bool(np.isnan(self.sample.X[:, feature]).any())
        return some and not self.sample.rules.surrogates

    def _best_cut(self, feature: int) -> list[Question]:
        """Return the best question of a column as a stump of the compiled engine finds it."""
        from arboretum.cart.cart import CARTRegressor

        sample, rules = self.sample, self.sample.rules
        kind = sample.kinds[feature]
        weight = None if np.all(sample.w == 1.0) else sample.w  # medians are quicker without
        stump = CARTRegressor(
            criterion="absolute_error",
            max_depth=1,
            min_samples_leaf=rules.min_samples_leaf,
            n_jobs=1,
            categorical_features=[0] if kind == "categorical" else None,
        ).fit(
            sample.X[:, [feature]], sample.y[:, 0] if sample.y.shape[1] == 1 else sample.y, weight
        )
        tree = stump.tree_
        if tree.is_leaf[0]:
            return []
        if kind != "categorical":
            return [Question(feature, "threshold", float(tree.threshold[0]))]
        left, right = (frozenset(map(int, some)) for some in tree.categories_of(0, 0))
        return [Question(feature, "subset", np.nan, left, right)] if left and right else []

    def _count_questions(self, feature: int) -> int:
        x = self.sample.X[:, feature]
        known = np.unique(x[~np.isnan(x)])
        if self.sample.kinds[feature] == "categorical":
            n = len(self.sample.questions(feature))
        else:
            n = max(len(known) - 1, 0)
        return 2 * n + bool(len(known)) if self._gaps(feature) else n

    def _winner(self) -> Candidate:
        """Return the split of the model, judged."""
        grown, tree = self.grown, self.grown.tree
        feature = int(tree.feature[self.node])
        x = self.sample.X[:, feature]
        test = grown.split_question(self.node, x)
        gaps = bool(np.isnan(x).any()) and not grown.rules.surrogates
        if not gaps:
            return judge_question(self.sample, test, None)
        side = "left" if tree.missing_child[self.node] == 0 else "right"
        return judge_question(self.sample, test, side)

    def _same(self, one: Candidate, other: Candidate) -> bool:
        if one.feature != other.feature:
            return False
        same = np.array_equal(one.left, other.left)
        if one.kind == "subset":
            used = ~np.isnan(self.sample.X[:, one.feature]) | (not self.sample.rules.surrogates)
            same |= np.array_equal(one.left[used], ~other.left[used])
        return bool(same)

    def looked_at(self, feature: int) -> bool:
        return self.drawn is None or feature in self.drawn

    def best_allowed(self) -> Candidate | None:
        """Return the best admissible candidate of the columns that were looked at."""
        allowed = [
            c
            for f, c in self.best.items()
            if c is not None and self.looked_at(f) and c.verdict == "admissible"
        ]
        return max(allowed, key=lambda c: c.worth, default=None)

    def _rivals(self, n: int) -> list[Candidate]:
        """Return the n candidates that gain most, and refused ones that gain more than the winner."""
        floor = self.winner.worth if self.winner is not None else -np.inf
        found = []
        for f, scan in self.scans.items():
            if self.looked_at(f) and scan.n_tried:
                charge = self._charge(f)
                for i in scan.leading(n + 1, scan.allowed | (scan.gain - charge >= floor)):
                    found.append((charge - scan.gain[i], f, i))
        return [self.scans[f].candidate(i) for _, f, i in sorted(found)[: n + 1]]

    def refused(self, n: int) -> list[Candidate]:
        """Return refused splits that would gain more than the winner, at most n, the best first."""
        floor = self.winner.gain if self.winner is not None else 0.0
        found = [
            (-scan.gain[i], f, i)
            for f, scan in self.scans.items()
            if self.looked_at(f) and scan.n_tried
            for i in scan.leading(n, ~scan.allowed & (scan.gain > floor))
        ]
        return [self.scans[f].candidate(i) for _, f, i in sorted(found)[:n]]

    def sides(self, c: Candidate) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that a split sends left, and right."""
        used = self.whole
        if self.sample.rules.surrogates:
            used = ~np.isnan(self.sample.X[:, c.feature])
        return c.left, used & ~c.left

    @property
    def slack(self) -> float:
        """Gains that differ by less are a tie."""
        return slack_of(self.before, float(self.sample.w.sum()) / self.sample.total)

    def _charge(self, feature: int) -> float:
        """Return what is subtracted from the gains of a column before columns are compared."""
        return self.sample.charge(feature, self.before)

    # ------------------------------------------------------------------ tables
    def add_tables(self, sheet: Sheet) -> None:
        """Write the best candidate of every column, and the candidates that came closest."""
        weighted = " | W left | W right" if self.grown.is_weighted else ""
        charged = any(c is not None and c.charge for c in self.best.values())
        header = f"split | left | right{weighted} | imp left | imp right | gain"
        header += " | charge" if charged else ""
        winner, marked = self.winner, [] if self.winner is None else [0]
        firsts = [(f, self._shown(f)) for f in self.best]
        firsts.sort(key=lambda pair: _rank(pair[1], winner))
        lines: list[tuple[Any, ...]] = []
        for f, c in firsts:
            if c is None:
                name, blank = self.grown.tree.column(f).name, [None] * header.count("|")
                lines.append((name, *blank, self.tried[f], "one value only"))
            else:
                lines.append((*self._line(c, charged), self.tried[f], self.verdict(c)))
        columns, title = f"{header} | tried | verdict", "Best split of every column"
        sheet.add_table(title, columns, lines, marked, optional=_OPTIONAL)
        others = self.rivals(_JUDGED)[: _RIVALS + 1]
        others = [c for c in others if winner is None or not self._same(c, winner)]
        rivals = [*([] if winner is None else [winner]), *others[:_RIVALS]]
        if rivals:
            lines = [(*self._line(c, charged), self.verdict(c)) for c in rivals]
            title = "Closest rivals"
            sheet.add_table(title, f"{header} | verdict", lines, marked, optional=_OPTIONAL)

    def _shown(self, f: int) -> Candidate | None:
        """Return the candidate of a column in the table: the best one, or the winner."""
        winner = self.winner
        return winner if winner is not None and f == winner.feature else self.best[f]

    def _line(self, c: Candidate, charged: bool) -> tuple[Any, ...]:
        weights = (c.weight_left, c.weight_right) if self.grown.is_weighted else ()
        impurities = (c.impurity_left, c.impurity_right, c.gain)
        charge = (c.charge,) if charged else ()
        return (self.words(c), c.n_left, c.n_right, *weights, *impurities, *charge)

    def words(self, c: Candidate) -> str:
        """Return a split in the words of the table."""
        more = c.missing_goes == "left" and not c.tests_presence
        return self.grown.question(c) + (" or missing" if more else "")

    def verdict(self, c: Candidate) -> str:
        """Return why a candidate was not taken."""
        winner = self.winner
        if c is winner:
            return "wins"
        if not self.looked_at(c.feature):
            return "not drawn"
        if c.verdict != "admissible":
            return c.verdict
        if winner is None:
            return "admissible"
        if self._same(c, winner):
            return "wins"
        return why_not_taken(self.grown, c, winner, self.slack)

    # ------------------------------------------------------------------ notes
    def missing_notes(self) -> list[str]:
        """Return where missing values went, and what the other way would have gained."""
        winner, sample = self.winner, self.sample
        assert winner is not None
        missing = np.isnan(sample.X[:, winner.feature])
        name = self.grown.tree.column(winner.feature).name
        goes = "left" if self.grown.tree.missing_child[self.node] == 0 else "right"
        if not missing.any():
            return [
                f"No training row here lacks {name}; new rows without it go {goes}, with the majority."
            ]
        count = int(missing.sum())
        if self.grown.rules.surrogates:
            return [
                f"{count} rows lack {name}: the split was chosen without them, surrogate splits place them, "
                f"and rows that no surrogate can place go {goes}."
            ]
        if winner.tests_presence:
            return [
                f"The {count} rows without {name} go {goes}, and only they: the split tests for its presence."
            ]
        other = judge_question(sample, winner, "right" if winner.missing_goes == "left" else "left")
        return [
            f"{count} rows lack {name} and go {winner.missing_goes}; the other way the split would gain "
            f"{number(other.gain)}, {number(winner.gain - other.gain)} less."
            + ("" if other.verdict == "admissible" else f" ({other.verdict})")
        ]

    def notes(self) -> list[str]:
        """Return how much was tried, and what was drawn."""
        grown, draw, columns = self.grown, self.grown.draw, self.grown.tree.schema.columns
        here = [f for f in self.tried if self.looked_at(f)]
        tried = sum(self.tried[f] for f in here)
        found = [tried_note(tried, len(here))]
        if draw is not None and draw.key is None:
            found.append(
                "Nodes draw columns or cuts, by a random_state that was None or is a generator: the draws "
                "are unknown, so every column is shown."
            )
        elif self.drawn is not None:
            names = ", ".join(columns[f].name for f in self.drawn)
            order = ", in this order," if len(self.drawn) > 1 else ""
            found.append(f"The node drew {names}{order} and looked at nothing else.")
        if draw is not None and draw.random_splits and draw.key is not None:
            found.append("Every column gets one question, drawn at random: the best of them wins.")
        if grown.binned:
            found.append(
                f"Columns of more than {grown.binned} values were put into bins: cuts lie between those."
            )
        if any(c is not None and c.charge for f, c in self.best.items() if f in here):
            found.append(
                "Columns with many categories look good by chance, so a charge is subtracted before "
                "columns are compared; a column with at most four categories in the training table is "
                "never charged."
            )
        return found


def drawn_columns(grown: ShownTree, node: int, varies: Callable[[int], bool]) -> list[int] | None:
    """Return the columns a node drew, in order; None if it looked at all, or they are unknown."""
    draw, n_columns = grown.draw, grown.matrix.n_columns
    if draw is None or draw.key is None or draw.max_features >= n_columns:
        return None
    return columns_visited(_key_of(grown, node), n_columns, draw.max_features, varies)


def _key_of(grown: ShownTree, node: int) -> int:
    assert grown.draw is not None
    assert grown.draw.key is not None
    return node_key(grown.draw.key, grown.sides(node))


def slack_of(before: float, share: float) -> float:
    """Return how far the gains of a tie may be apart; ``share`` is the node's of the tree's weight."""
    return max(TIE * before * share, EPSILON)


def why_not_taken(grown: ShownTree, c: Candidate, winner: Candidate, slack: float) -> str:
    """Return why an admissible candidate was not taken."""
    if abs(c.worth - winner.worth) <= slack:
        return "tie: lower column or cut wins"
    if c.worth > winner.worth:
        if grown.binned:
            return "not a cut between bins"
        if grown.draw is not None and grown.draw.key is None:
            return "not drawn, it seems"
        return "missed by the order of categories" if c.kind == "subset" else "gains more"
    return "gains less" if c.gain <= winner.gain else "gains less after its charge"


def tried_note(candidates: int, columns: int) -> str:
    """Write how much was tried.

    >>> tried_note(1, 1), tried_note(1200, 3)
    ('1 candidate of 1 column was tried.', '1,200 candidates of 3 columns were tried.')
    """
    one, few = ("", "was") if candidates == 1 else ("s", "were")
    return f"{candidates:,} candidate{one} of {columns} column{'' if columns == 1 else 's'} {few} tried."


def _as_scan(feature: int, found: list[Candidate]) -> ColumnScan:
    """Return candidates that were judged one by one as a scan."""
    gain = np.array([c.gain for c in found])
    allowed = np.array([c.verdict == "admissible" for c in found], bool)
    return ColumnScan(feature, gain, allowed, found.__getitem__)


def _rank(c: Candidate | None, winner: Candidate | None) -> float:
    """Return what columns are sorted by: the winner first, then by worth."""
    if c is None:
        return np.inf
    return -np.inf if c is winner else -c.worth
