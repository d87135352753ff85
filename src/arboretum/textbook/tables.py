"""What the textbook has computed, as tables to read: rows of figures, and the same as aligned text.

    table(x)        x                                   a line is
                    a tree of CART, ID3, C4.5           a node
                    the candidates of a node            a question and its figures
                    pruning_path, AlphaChoice           a tree of the path; an α and its errors
                    a forest                            a tree
                    OutOfBag, oob_curve                 a row of the data; a number of trees
                    a matrix of proximities             a row of the data
                    Filling, copies of a row            a round; a class
                    an AdaBoost, R2, GBM or stagewise   a round

`Table.rows` are values to compute with, ``str`` is for reading.

>>> from arboretum.textbook.cart import grow
>>> tree = grow([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
>>> print(table(tree.candidates))
question   left  right  impurity left  impurity right    gain  verdict
x0 <= 1.5     1      3         0.0000          0.4444  0.1667  admissible
x0 <= 2.5     2      2         0.0000          0.0000  0.5000  admissible
x0 <= 3.5     3      1         0.4444          0.0000  0.1667  admissible
>>> table(tree).rows[0]
('root', 'x0 <= 2.5', 4, 0.5, 0.5, '0.5 0.5')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from arboretum.textbook.adaboost import TextbookAdaBoost
from arboretum.textbook.adaboost_regression import TextbookR2
from arboretum.textbook.c45 import C45Node
from arboretum.textbook.c45_splits import C45Candidate, C45Test
from arboretum.textbook.cart import TextbookNode
from arboretum.textbook.filling import Copy, Filling
from arboretum.textbook.forest import TextbookForest
from arboretum.textbook.forest_figures import OOBStep, OutOfBag
from arboretum.textbook.gbm import TextbookGBM
from arboretum.textbook.id3 import ID3Candidate, ID3Node
from arboretum.textbook.pruning import AlphaChoice, PruningStep
from arboretum.textbook.splits import Candidate, Question
from arboretum.textbook.stagewise_modelling import Stages

__all__ = ["Table", "table"]


@dataclass(frozen=True)
class Table:
    """Rows under named columns; ``str`` aligns them, words to the left and numbers to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __str__(self) -> str:
        cells = [self.columns, *([_cell(value) for value in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells)]
        words = [any(isinstance(row[j], str) for row in self.rows) for j in range(len(widths))]
        lines = (
            "  ".join(
                cell.ljust(width) if word else cell.rjust(width)
                for cell, width, word in zip(line, widths, words)
            )
            for line in cells
        )
        return "\n".join(line.rstrip() for line in lines)

    def column(self, name: str) -> list:
        """Return one column's values.

        >>> Table(("x", "y"), ((1, 2), (3, 4))).column("y")
        [2, 4]
        """
        return [row[self.columns.index(name)] for row in self.rows]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float | np.floating):
        return f"{value:.4f}"
    return str(value)


def _numbers(values: Any) -> str:
    return " ".join(f"{value:.4g}" for value in np.ravel(values))


def _path(letters: Any) -> str:
    return "root" if len(letters) == 0 else "".join(map(str, letters))


# ---------------------------------------------------------------------- what can be shown
@singledispatch
def table(thing: Any) -> Table:
    """Return a table of a textbook's object; the module's docstring lists what has one.

    >>> from arboretum.textbook.forest import ForestRules, grow_forest
    >>> forest = grow_forest([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1], recipe=ForestRules(2))
    >>> table(forest).columns
    ('tree', 'rows drawn', 'left out', 'leaves', 'depth')
    """
    raise TypeError(f"there is no table of {type(thing).__name__}")


def _of_sequence(things: Sequence) -> Table:
    kind = type(things[0]) if len(things) else None
    if kind not in _SEQUENCES:
        name = "an empty list" if kind is None else f"a list of {kind.__name__}"
        raise TypeError(f"there is no table of {name}")
    columns, row = _SEQUENCES[kind]
    return Table(columns, tuple(row(thing) for thing in things))


table.register(list)(_of_sequence)
table.register(tuple)(_of_sequence)


# ---------------------------------------------------------------------- one tree
def _question(question: Question) -> str:
    if question.kind == "subset":
        return f"x{question.feature} in {{{', '.join(map(str, sorted(question.left_categories)))}}}"
    return f"x{question.feature} <= {question.threshold:.6g}"


@table.register
def _(tree: TextbookNode) -> Table:
    rows = []
    for node in tree:
        asked, gain = (_question(node.chosen), node.chosen.gain) if node.chosen else ("leaf", None)
        rows.append(
            (_path(node.path), asked, len(node.rows), node.impurity, gain, _numbers(node.value))
        )
    return Table(("node", "question", "rows", "impurity", "gain", "value"), tuple(rows))


@table.register
def _(tree: ID3Node) -> Table:
    rows = []
    for node in tree:
        chosen = next((c for c in node.candidates if c.verdict == "chosen"), None)
        asked, gain = (f"x{node.feature}", chosen.gain) if chosen else (node.stop or "leaf", None)
        path = " ".join(map(str, node.path)) or "root"
        rows.append((path, asked, len(node.rows), gain, _numbers(node.counts)))
    return Table(("values", "asked", "rows", "gain", "class weights"), tuple(rows))


def _test(test: C45Test) -> str:
    if not test.groups:
        return f"x{test.feature} <= {test.threshold:.6g}"
    return f"x{test.feature}: " + " | ".join(
        ", ".join(map(str, sorted(group))) for group in test.groups
    )


@table.register
def _(tree: C45Node) -> Table:
    rows = []
    for node in tree:
        asked = _test(node.test) if node.test and node.children else node.stop or "leaf"
        path = " ".join(map(str, node.path)) or "root"
        rows.append((path, asked, node.weight, node.errors, _numbers(node.counts)))
    return Table(("branches", "test", "weight", "errors", "class weights"), tuple(rows))


@table.register
def _(choice: AlphaChoice) -> Table:
    rows = tuple(
        (f.start, f.alpha, f.n_leaves, f.mean_error, f.standard_error, f.alpha == choice.alpha)
        for f in choice.table
    )
    columns = ("from α", "α tried", "leaves", "mean error", "standard error", "chosen")
    return Table(columns, rows)


# ---------------------------------------------------------------------- forests
@table.register
def _(forest: TextbookForest) -> Table:
    rows = tuple(
        (
            number,
            int(bag.sum()),
            int(np.sum(bag == 0)),
            sum(node.is_leaf for node in tree),
            max(node.depth for node in tree),
        )
        for number, (tree, bag) in enumerate(zip(forest.trees, forest.in_bag))
    )
    return Table(("tree", "rows drawn", "left out", "leaves", "depth"), rows)


@table.register
def _(oob: OutOfBag) -> Table:
    rows = tuple(
        (row, int(n), _numbers(total), answer if covered else None)
        for row, (n, total, answer, covered) in enumerate(
            zip(oob.n_trees, oob.total, oob.prediction.tolist(), oob.covered)
        )
    )
    return Table(("row", "trees that never saw it", "sum of answers", "answer"), rows)


@table.register
def _(proximities: np.ndarray) -> Table:
    if proximities.ndim != 2:
        raise TypeError(f"a matrix of proximities has two axes, got {proximities.shape}")
    columns = ("row", *(str(j) for j in range(proximities.shape[1])))
    return Table(columns, tuple((i, *row) for i, row in enumerate(proximities.tolist())))


@table.register
def _(filling: Filling) -> Table:
    rows = tuple(
        (s.number, s.changed, s.moved, s.fallbacks, _numbers(s.values)) for s in filling.steps
    )
    return Table(("round", "codes changed", "farthest move", "fell back", "guesses"), rows)


# ---------------------------------------------------------------------- boosting
@table.register
def _(model: TextbookAdaBoost) -> Table:
    rows = tuple((r.number, r.error, r.say, r.Z) for r in model.rounds)
    return Table(("round", "error", "say", "Z"), rows)


@table.register
def _(model: TextbookR2) -> Table:
    rows = tuple((r.number, r.error, r.say) for r in model.rounds)
    return Table(("round", "error", "say"), rows)


@table.register
def _(model: TextbookGBM) -> Table:
    rows = tuple(
        (r.number, sum(len(tree.leaves) for tree in r.trees), r.eta, r.train_score)
        for r in model.rounds
    )
    return Table(("round", "leaves", "η", "train score"), rows)


@table.register
def _(model: Stages) -> Table:
    rows = tuple((stage.number, stage.length, stage.mean_loss) for stage in model.rounds)
    return Table(("round", "length", "mean loss"), rows)


# ---------------------------------------------------------------------- lists: a line for each
_SEQUENCES: dict[type | None, tuple[tuple[str, ...], Any]] = {
    Candidate: (
        ("question", "left", "right", "impurity left", "impurity right", "gain", "verdict"),
        lambda c: (
            _question(c), c.n_left, c.n_right, c.impurity_left, c.impurity_right, c.gain, c.verdict
        ),
    ),
    ID3Candidate: (
        ("attribute", "H(D)", "H(D|A)", "gain", "verdict"),
        lambda c: (
            f"x{c.feature}", c.figures.entropy, c.figures.entropy - c.gain, c.gain, c.verdict
        ),
    ),
    C45Candidate: (
        ("test", "branches", "missing", "gain", "charge", "split information", "ratio", "verdict"),
        lambda c: (
            _test(c.test) if c.test else f"x{c.feature}", _numbers(c.weights), c.missing, c.gain,
            c.charge, c.split_information, c.ratio, c.verdict,
        ),
    ),
    PruningStep: (
        ("α", "leaves", "risk", "cut", "leaves removed"),
        lambda s: (s.alpha, s.n_leaves, s.risk, None if s.cut is None else _path(s.cut),
                   s.leaves_removed),
    ),
    OOBStep: (("trees", "rows covered", "error"), lambda s: (s.n_trees, s.covered, s.error)),
    Copy: (
        ("as class", "filled row", "votes", "for itself"),
        lambda c: (c.label, _numbers(c.filling.X), _numbers(c.votes), c.own_votes),
    ),
}  # fmt: skip
