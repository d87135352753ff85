"""What the textbook has computed, as tables to read: rows of figures, and the same as aligned text.

    table(x)        x                                   a line is
                    a tree of CART, ID3, C4.5           a node
                    candidates of a node                a question and its figures
                    pruning_path, AlphaChoice           a tree of the path; an α and its errors
                    a rule list of C4.5                 a rule
                    a table of small_tables             a row
    forest_tables   a forest                            a tree
                    OutOfBag, oob_curve                 a row of the data; a number of trees
                    a matrix of proximities             a row of the data
                    Filling, copies of a row            a round; a class
    boosting_tables a model of any boosting             a round
                    one round, one tree                 a row of the data; a node

Every public dataclass of the textbook that holds figures has a table; a single figure and a list of
them have the same columns. `Table.rows` are values to compute with, ``str`` is for reading. Columns
and categories have their names if the tree was grown on words (words.py).

>>> from arboretum.textbook.id3 import grow_id3
>>> from arboretum.textbook.small_tables import play_tennis
>>> days = play_tennis()
>>> tree = grow_id3(days.X, days.y, names=days.names)
>>> print(table(tree.candidates))
attribute      H(D)  H(D|A)    gain  verdict
outlook      0.9403  0.6935  0.2467  chosen
temperature  0.9403  0.9111  0.0292  smaller gain
humidity     0.9403  0.7885  0.1518  smaller gain
wind         0.9403  0.8922  0.0481  smaller gain
>>> print(table(tree))
node                                split     rows    gain  no  yes
root                                outlook     14  0.2467   5    9
outlook = overcast                  pure         4       -   0    4
outlook = rain                      wind         5  0.9710   2    3
outlook = rain, wind = strong       pure         2       -   2    0
outlook = rain, wind = weak         pure         3       -   0    3
outlook = sunny                     humidity     5  0.9710   3    2
outlook = sunny, humidity = high    pure         3       -   3    0
outlook = sunny, humidity = normal  pure         2       -   0    2
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from arboretum.textbook.c45 import C45Node
from arboretum.textbook.c45_pruning import Decision
from arboretum.textbook.c45_rule_list import (
    C45RuleList,
    Choice,
    Dropping,
    RuleCondition,
    TextbookRule,
)
from arboretum.textbook.c45_splits import C45Candidate, C45Test, Cut, Grouping
from arboretum.textbook.cart import Surrogate, TextbookNode
from arboretum.textbook.column_scan import ColumnScan
from arboretum.textbook.discretize import MDLDecision
from arboretum.textbook.id3 import ID3Candidate, ID3Node
from arboretum.textbook.impurities import Branch, InformationGain
from arboretum.textbook.pruning import AlphaChoice, AlphaFigures, Link, PruningStep
from arboretum.textbook.questions import Question
from arboretum.textbook.small_tables import SmallTable
from arboretum.textbook.splits import Candidate
from arboretum.textbook.weak_learners import Stump
from arboretum.textbook.words import NO_WORDS, Words

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

    def column(self, name: str) -> list[Any]:
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


def numbers(values: Any) -> str:
    return " ".join(f"{value:.4g}" for value in np.ravel(values))


def path_text(letters: Any) -> str:
    return "root" if len(letters) == 0 else "".join(map(str, letters))


# ---------------------------------------------------------------------- what can be shown
LINES: dict[
    type, tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]
] = {}  # columns, and one line


@singledispatch
def table(thing: Any) -> Table:
    """Return a table of a textbook's object; the module's docstring lists what has one.

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
    if type(thing) not in LINES:
        raise TypeError(f"there is no table of {type(thing).__name__}")
    return _lines([thing])


def _lines(things: Sequence[Any]) -> Table:
    kind = type(things[0]) if len(things) else None
    if kind not in LINES:
        name = "an empty list" if kind is None else f"a list of {kind.__name__}"
        raise TypeError(f"there is no table of {name}")
    columns, line = LINES[kind]
    return Table(columns, tuple(line(thing) for thing in things))


table.register(list)(_lines)
table.register(tuple)(_lines)


# ---------------------------------------------------------------------- questions in words
def _words(thing: Any) -> Words:
    return getattr(thing, "words", NO_WORDS)


def _codes(words: Words, column: int, codes: Any) -> str:
    return ", ".join(words.word(column, int(code)) for code in sorted(codes))


def _question(question: Question, words: Words | None = None) -> str:
    words = words or _words(question)
    name = words.name(question.feature)
    if question.kind == "subset":
        return f"{name} in {{{_codes(words, question.feature, question.left_categories)}}}"
    return f"{name} <= {question.threshold:.6g}"


def _test(test: C45Test, words: Words) -> str:
    name = words.name(test.feature)
    if not test.groups:
        return f"{name} <= {test.threshold:.6g}"
    return f"{name}: " + " | ".join(_codes(words, test.feature, group) for group in test.groups)


def _branch(test: C45Test, v: int, words: Words) -> str:
    name = words.name(test.feature)
    if test.groups:
        return f"{name} = {_codes(words, test.feature, test.groups[v])}"
    return f"{name} {('<=', '>')[v]} {test.threshold:.6g}"


def _condition(condition: RuleCondition, words: Words = NO_WORDS) -> str:
    feature, value = condition.feature, condition.value
    if isinstance(value, frozenset):
        shown = f"{{{_codes(words, feature, value)}}}"
    else:
        shown = words.word(feature, int(value)) if condition.operator == "=" else f"{value:.6g}"
    return f"{words.name(feature)} {condition.operator} {shown}"


def _conditions(rule: Any, words: Words = NO_WORDS) -> str:
    return " and ".join(_condition(c, words) for c in rule.conditions) or "always"


def _class_columns(words: Words, n_classes: int) -> tuple[str, ...]:
    return tuple(words.label(k) if words.classes else f"class {k}" for k in range(n_classes))


def _plain(values: Any) -> tuple[Any, ...]:
    """Return numbers, whole ones without a point."""
    return tuple(int(v) if float(v).is_integer() else float(v) for v in np.ravel(values))


# ---------------------------------------------------------------------- one tree
@table.register
def _(tree: TextbookNode) -> Table:
    rows = []
    for node in tree:
        split, gain = (_question(node.chosen), node.chosen.gain) if node.chosen else ("leaf", None)
        rows.append(
            (path_text(node.path), split, len(node.rows), node.impurity, gain, numbers(node.value))
        )
    return Table(("node", "question", "rows", "impurity", "gain", "value"), tuple(rows))


def _named_id3(node: ID3Node, name: str = "") -> Iterator[tuple[str, ID3Node]]:
    yield name or "root", node
    for value, child in node.children.items():
        assert node.feature is not None
        step = f"{node.words.name(node.feature)} = {node.words.word(node.feature, value)}"
        yield from _named_id3(child, f"{name}, {step}" if name else step)


@table.register
def _(tree: ID3Node) -> Table:
    rows = []
    for name, node in _named_id3(tree):
        chosen = next((c for c in node.candidates if c.verdict == "chosen"), None)
        split, gain = node.stop or "leaf", None
        if chosen:
            split, gain = node.words.name(chosen.feature), chosen.gain
        rows.append((name, split, len(node.rows), gain, *_plain(node.counts)))
    classes = _class_columns(tree.words, len(tree.counts))
    return Table(("node", "split", "rows", "gain", *classes), tuple(rows))


def _named_c45(node: C45Node, name: str = "") -> Iterator[tuple[str, C45Node]]:
    yield name or "root", node
    for v, child in enumerate(node.children):
        assert node.test is not None
        step = _branch(node.test, v, node.cases.words)
        yield from _named_c45(child, f"{name}, {step}" if name else step)


@table.register
def _(tree: C45Node) -> Table:
    words, rows = tree.cases.words, []
    for name, node in _named_c45(tree):
        split = _test(node.test, words) if node.test and node.children else node.stop or "leaf"
        rows.append((name, split, node.weight, node.errors, *_plain(node.counts)))
    classes = _class_columns(words, len(tree.counts))
    return Table(("node", "test", "weight", "errors", *classes), tuple(rows))


@table.register
def _(choice: AlphaChoice) -> Table:
    rows = tuple(
        (f.start, f.alpha, f.n_leaves, f.mean_error, f.standard_error, f.alpha == choice.alpha)
        for f in choice.table
    )
    columns = ("from α", "α tried", "leaves", "mean error", "standard error", "chosen")
    return Table(columns, rows)


@table.register
def _(gain: InformationGain) -> Table:
    whole = ("all", 1.0, gain.entropy)
    branches = tuple((str(b.value), b.share, b.entropy) for b in gain.branches)
    return Table(("value", "share", "entropy"), (whole, *branches))


@table.register
def _(rules: C45RuleList) -> Table:
    words = rules.cases.words
    lines: list[tuple[Any, ...]] = [
        (_conditions(rule, words), words.label(rule.answer), sum(rule.counts), rule.rate)
        for rule in rules.rules
    ]
    lines.append(("otherwise", words.label(rules.default), float(sum(rules.default_counts)), None))
    return Table(("if", "then", "cases", "pessimistic error"), tuple(lines))


@table.register
def _(choice: Choice) -> Table:
    rows = tuple(
        (_conditions(rule), bits, i in choice.chosen)
        for i, (rule, bits) in enumerate(zip(choice.candidates, choice.bits))
    )
    return Table(("rule", "bits", "chosen"), rows)


@table.register
def _(scan: ColumnScan) -> Table:
    rows = tuple(enumerate(zip(scan.gain.tolist(), scan.allowed.tolist())))
    return Table(("split", "gain", "allowed"), tuple((i, *figures) for i, figures in rows))


@table.register
def _(rows: SmallTable) -> Table:
    lines = tuple((*row, label) for row, label in zip(rows.X, rows.y))
    return Table((*rows.names, rows.target), lines)


# ---------------------------------------------------------------------- figures of one tree
LINES |= {
    Question: (("question",), lambda q: (_question(q),)),
    Candidate: (
        ("question", "left", "right", "impurity left", "impurity right", "gain", "verdict"),
        lambda c: (
            _question(c), c.n_left, c.n_right, c.impurity_left, c.impurity_right, c.gain, c.verdict
        ),
    ),
    Surrogate: (
        ("question", "yes goes", "left", "right", "majority", "agreement"),
        lambda s: (
            _question(s), "right" if s.reverse else "left", s.n_left, s.n_right, s.majority,
            s.agreement,
        ),
    ),
    Branch: (("value", "share", "entropy"), lambda b: (str(b.value), b.share, b.entropy)),
    ID3Candidate: (
        ("attribute", "H(D)", "H(D|A)", "gain", "verdict"),
        lambda c: (
            _words(c).name(c.feature), c.figures.entropy, c.figures.entropy - c.gain, c.gain,
            c.verdict,
        ),
    ),
    C45Candidate: (
        ("test", "branches", "missing", "gain", "charge", "split information", "ratio", "verdict"),
        lambda c: (
            _test(c.test, c.words) if c.test else c.words.name(c.feature), numbers(c.weights),
            c.missing, c.gain, c.charge, c.split_information, c.ratio, c.verdict,
        ),
    ),
    C45Test: (("test", "branches"), lambda t: (_test(t, NO_WORDS), t.n_branches)),
    Cut: (
        ("below", "above", "weights", "gain", "split information"),
        lambda c: (c.below, c.above, numbers(c.weights), c.gain, c.split_information),
    ),
    Grouping: (
        ("groups", "gain", "split information", "ratio"),
        lambda g: (
            " | ".join(", ".join(map(str, sorted(group))) for group in g.groups), g.gain,
            g.split_information, g.ratio,
        ),
    ),
    Decision: (
        ("node", "weight", "as tree", "as leaf", "as raised", "verdict"),
        lambda d: (
            " ".join(map(str, d.path)) or "root", d.weight, d.as_tree, d.as_leaf, d.as_raised,
            d.verdict,
        ),
    ),
    RuleCondition: (("condition",), lambda c: (_condition(c),)),
    TextbookRule: (
        ("if", "then", "class weights", "pessimistic error"),
        lambda r: (_conditions(r), r.answer, numbers(r.counts), r.rate),
    ),
    Dropping: (
        ("rule", "cases", "errors", "rate", "without each", "dropped"),
        lambda d: (
            _conditions(d), d.cases, d.errors, d.rate, numbers(d.without),
            _condition(d.dropped) if d.dropped else None,
        ),
    ),
    MDLDecision: (
        ("from", "to", "weight", "cut", "H(S)", "gain", "cost", "accepted"),
        lambda d: (d.low, d.high, d.weight, d.cut, d.entropy, d.gain, d.cost, d.accepted),
    ),
    PruningStep: (
        ("α", "leaves", "risk", "cut", "leaves removed"),
        lambda s: (
            s.alpha, s.n_leaves, s.risk, None if s.cut is None else path_text(s.cut),
            s.leaves_removed,
        ),
    ),
    Link: (
        ("node", "as leaf", "as branch", "leaves", "g"),
        lambda k: (path_text(k.path), k.as_leaf, k.as_branch, k.n_leaves, k.g),
    ),
    AlphaFigures: (
        ("from α", "α tried", "leaves", "mean error", "standard error"),
        lambda f: (f.start, f.alpha, f.n_leaves, f.mean_error, f.standard_error),
    ),
    Stump: (
        ("question", "yes", "no"),
        lambda s: (f"x{s.feature} <= {s.threshold:.6g}", s.left, s.right),
    ),
}  # fmt: skip
