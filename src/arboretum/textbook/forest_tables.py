"""Tables of forests, proximities, fillings, SHAP values and stacks; see tables.py.

>>> from arboretum.textbook.forest import ForestRules, grow_forest
>>> forest = grow_forest([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1], recipe=ForestRules(2))
>>> table(forest).columns
('tree', 'rows drawn', 'left out', 'leaves', 'depth')
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from arboretum.textbook.filling import Copy, Filling, FillingStep, Guess
from arboretum.textbook.forest import Bag, TextbookForest
from arboretum.textbook.forest_figures import Importance, Jackknife, OOBStep, OutOfBag
from arboretum.textbook.isolation_forest import IsolationNode, IsolationScores
from arboretum.textbook.proximities import MDS, Prototype
from arboretum.textbook.shap import Addition, Attribution, Branching
from arboretum.textbook.stacking import Stack
from arboretum.textbook.tables import LINES, Table, numbers, table

__all__: list[str] = []


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
def _(bag: Bag) -> Table:
    return Table(("row", "times drawn"), tuple(enumerate(bag.counts.tolist())))


@table.register
def _(oob: OutOfBag) -> Table:
    rows = tuple(
        (row, int(n), numbers(total), answer if covered else None)
        for row, (n, total, answer, covered) in enumerate(
            zip(oob.n_trees, oob.total, oob.prediction.tolist(), oob.covered)
        )
    )
    return Table(("row", "trees that never saw it", "sum of answers", "answer"), rows)


@table.register
def _(tree: IsolationNode) -> Table:
    return Table(("node", "rows", "depth", "column", "cut", "path length"), tuple(_cuts(tree)))


def _cuts(node: IsolationNode, path: str = "root") -> Iterator[tuple[Any, ...]]:
    if node.left is None or node.right is None:
        yield path, len(node.rows), node.depth, None, None, node.path_length
        return
    yield path, len(node.rows), node.depth, node.feature, node.threshold, None
    below = "" if path == "root" else path
    yield from _cuts(node.left, below + "L")
    yield from _cuts(node.right, below + "R")


@table.register
def _(scores: IsolationScores) -> Table:
    each = zip(scores.mean_path_length.tolist(), scores.scores.tolist())
    rows = tuple((row, length, score) for row, (length, score) in enumerate(each))
    return Table(("row", "mean path length", "score"), rows)


@table.register
def _(importance: Importance) -> Table:
    mean, spread = importance.per_tree.mean(axis=0), importance.per_tree.std(axis=0)
    rows = tuple((f"x{f}", a, b) for f, (a, b) in enumerate(zip(mean.tolist(), spread.tolist())))
    return Table(("column", "mean over trees", "standard deviation"), rows)


@table.register
def _(jackknife: Jackknife) -> Table:
    figures = (jackknife.raw, jackknife.noise, jackknife.variance)
    lines = zip(*(np.ravel(figure).tolist() for figure in figures))
    return Table(("row", "raw", "noise", "variance"), tuple((i, *r) for i, r in enumerate(lines)))


# ---------------------------------------------------------------------- proximities and fillings
@table.register
def _(proximities: np.ndarray) -> Table:
    if proximities.ndim != 2:
        raise TypeError(f"a matrix of proximities has two axes, got {proximities.shape}")
    columns = ("row", *(str(j) for j in range(proximities.shape[1])))
    return Table(columns, tuple((i, *row) for i, row in enumerate(proximities.tolist())))


@table.register
def _(scaling: MDS) -> Table:
    columns = ("row", *(f"dimension {j + 1}" for j in range(scaling.coordinates.shape[1])))
    return Table(columns, tuple((i, *row) for i, row in enumerate(scaling.coordinates.tolist())))


@table.register
def _(prototype: Prototype) -> Table:
    parts = zip(*(p.tolist() for p in (prototype.value, prototype.low, prototype.high)))
    rows = tuple((f"x{f}", *figures) for f, figures in enumerate(parts))
    return Table(("column", "value", "lower quartile", "upper quartile"), rows)


@table.register
def _(filling: Filling) -> Table:
    return table(list(filling.steps))


@table.register
def _(guess: Guess) -> Table:
    if guess.shares:
        return Table(("code", "sum of weights"), tuple(sorted(guess.shares.items())))
    return Table(("row", "weight"), tuple(enumerate(guess.weights.tolist())))


# ---------------------------------------------------------------------- SHAP and stacks
@table.register
def _(values: Attribution) -> Table:
    rows = [("expected", *values.base.tolist())]
    rows += [(f"x{f}", *line) for f, line in enumerate(values.values.tolist())]
    total = values.base + values.values.sum(axis=0)
    columns = ("column", *(f"output {j}" for j in range(len(values.base))))
    return Table(columns, (*rows, ("sum", *total.tolist())))


def _branches(node: Branching, path: str = "root") -> Iterator[tuple[Any, ...]]:
    split = f"x{node.column}" if node.column >= 0 else "leaf"
    yield path, split, node.weight, numbers(node.value)
    for number, branch in enumerate(node.branches):
        yield from _branches(branch, f"{path} {number}")


@table.register
def _(tree: Branching) -> Table:
    return Table(("node", "split", "weight", "value"), tuple(_branches(tree)))


@table.register
def _(stack: Stack) -> Table:
    answers = stack.answers.reshape(len(stack.fold_of), -1)
    columns = ("row", "fold", *(f"answer {j}" for j in range(answers.shape[1])))
    parts = zip(stack.fold_of.tolist(), answers.tolist())
    return Table(columns, tuple((i, fold, *line) for i, (fold, line) in enumerate(parts)))


# ---------------------------------------------------------------------- a line for each
LINES |= {
    OOBStep: (("trees", "rows covered", "error"), lambda s: (s.n_trees, s.covered, s.error)),
    Copy: (
        ("as class", "filled row", "votes", "for itself"),
        lambda c: (c.label, numbers(c.filling.X), numbers(c.votes), c.own_votes),
    ),
    FillingStep: (
        ("round", "codes changed", "farthest move", "fell back", "guesses"),
        lambda s: (s.number, s.changed, s.moved, s.fallbacks, numbers(s.values)),
    ),
    Prototype: (
        ("class", "row", "class-mates", "value"),
        lambda p: (p.label, p.row, len(p.mates), numbers(p.value)),
    ),
    Addition: (
        ("column", "known before", "v before", "v after", "weight"),
        lambda a: (
            f"x{a.column}", ", ".join(f"x{f}" for f in sorted(a.known)) or "nothing",
            numbers(a.before), numbers(a.after), a.weight,
        ),
    ),
}  # fmt: skip
