"""C4.5 by the engine and by the textbook on the same encoded table, and what "the same tree" means.

Both work on category codes, so a column may have categories that never occur: the schema is made by
hand and the case table built from it, past the part of `fit` that reads tables.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import C45Classifier
from arboretum.c45.pruning import prune_by_holdout
from arboretum.c45.table import case_table
from arboretum.data.matrix import DenseMatrix
from arboretum.data.schema import Column, Schema
from arboretum.predict.walk import proba_of
from arboretum.structure.sound import validate_tree
from arboretum.structure.tree import GROUPS, LEAF, MULTIWAY, THRESHOLD, Tree
from arboretum.textbook.c45 import C45Node, grow_c45, predict_proba_c45
from arboretum.textbook.c45_pruning import collapse_c45, prune_c45, prune_reduced_error
from arboretum.textbook.c45_splits import C45Settings

_GROWING = ("min_cases", "criterion", "epsilon", "gate", "subset", "max_depth")


@dataclass(frozen=True, eq=False)
class Problem:
    """A training table in codes; ``n_values`` is 0 for numbers, else how many categories there are."""

    X: np.ndarray
    y: np.ndarray
    n_values: tuple[int, ...]
    w: np.ndarray | None = None
    n_classes: int = 2
    options: dict = field(default_factory=dict)

    @property
    def weights(self) -> np.ndarray:
        return np.ones(len(self.y)) if self.w is None else np.asarray(self.w, float)

    @property
    def schema(self) -> Schema:
        columns = [
            Column(
                f"x{f}",
                "categorical" if size else "numeric",
                tuple(float(v) for v in range(size)) if size else None,
                bool(np.isnan(self.X[:, f]).any()),
                "float64",
            )
            for f, size in enumerate(self.n_values)
        ]
        return Schema(tuple(columns), named=False)

    def table(self, rows: np.ndarray | slice = slice(None)):
        """Return the case table of some rows."""
        return case_table(
            DenseMatrix(self.X[rows]),
            self.schema,
            self.y[rows],
            self.weights[rows],
            self.n_classes,
        )


def engine_tree(problem: Problem, held: np.ndarray | None = None) -> Tree:
    """Grow and prune with the engine; ``held`` marks the rows that reduced-error pruning looks at."""
    model = C45Classifier(n_jobs=1, **problem.options)
    if held is None:
        draft = model._grow(problem.table())
    else:
        draft = model.set_params(pruning="reduced_error")._grow(problem.table(~held))
        prune_by_holdout(draft, problem.table(held))
    tree = draft.to_tree(problem.schema, laplace=model.laplace)
    validate_tree(tree)
    return tree


def engine_proba(tree: Tree, X: np.ndarray) -> np.ndarray:
    return proba_of(tree, DenseMatrix(np.asarray(X, float)), 1)


def textbook_tree(problem: Problem, held: np.ndarray | None = None) -> C45Node:
    """Grow and prune with the textbook."""
    options = dict(problem.options)
    growing = C45Settings(**{name: options[name] for name in _GROWING if name in options})
    X, y, w = problem.X, problem.y, problem.weights
    kept = np.ones(len(y), bool) if held is None else ~held
    tree = grow_c45(X[kept], y[kept], w[kept], problem.n_values, growing, problem.n_classes)
    if options.get("collapse", True):
        tree, _ = collapse_c45(tree)
    if held is not None:
        return prune_reduced_error(tree, X[held], y[held], w[held])[0]
    if options.get("pruning", "error") is None:
        return tree
    return prune_c45(
        tree,
        options.get("confidence", 0.25),
        options.get("subtree_raising", True),
        options.get("error_limit", "quinlan"),
    )[0]


def assert_same(tree: Tree, book: C45Node, laplace: bool = False) -> None:
    """Compare two trees node by node: the questions exactly, the weights up to rounding."""
    pairs = [(0, book, book)]
    seen = 0
    while pairs:
        node, theirs, parent = pairs.pop()
        seen += 1
        assert int(tree.count[node]) == len(theirs.rows), theirs.path
        _assert_same_node(tree, node, theirs, parent, laplace, book.weight)
        first = int(tree.first_child[node])
        pairs += [(first + v, child, theirs) for v, child in enumerate(theirs.children)]
    assert seen == len(tree)


def _assert_same_node(
    tree: Tree, node: int, book: C45Node, parent: C45Node, laplace: bool, whole: float
) -> None:
    assert int(tree.n_children[node]) == len(book.children), book.path
    assert_allclose(tree.weight[node], book.weight, rtol=1e-9, atol=1e-12)
    counts = (book if book.weight > 0 else parent).counts + float(laplace)
    assert_allclose(tree.value[node, 0], counts / counts.sum(), rtol=1e-9, atol=1e-9)
    assert_allclose(tree.impurity[node], _entropy(book.counts), atol=1e-9)
    if book.test is None:
        assert tree.kind[node] == LEAF
        return
    after = sum(child.weight * _entropy(child.counts) for child in book.children)
    gain = (book.weight * _entropy(book.counts) - after) / whole
    assert_allclose(tree.gain[node], max(gain, 0.0), atol=1e-9)
    assert tree.feature[node] == book.test.feature, book.path
    assert tree.missing_child[node] == -1
    first = int(tree.first_child[node])
    assert_allclose(tree.share[first : first + len(book.children)], book.shares, atol=1e-9)
    if not book.test.groups:
        assert tree.kind[node] == THRESHOLD
        assert tree.threshold[node] == book.test.threshold, book.path
        return
    assert tree.kind[node] == (MULTIWAY if book.test.multiway else GROUPS)
    if not book.test.multiway:
        start, size = int(tree.bits_start[node]), len(tree.column(book.test.feature).categories)
        goes = tree.bits[start : start + size]
        found = [set(np.flatnonzero(goes == v).tolist()) for v in range(len(book.children))]
        assert found == [set(group) for group in book.test.groups], book.path


def _entropy(counts: np.ndarray) -> float:
    share = counts[counts > 0] / max(counts.sum(), 1e-300)
    return float(-np.sum(share * np.log2(share)))


def check(problem: Problem, fresh: np.ndarray | None = None, held: np.ndarray | None = None):
    """Grow both ways, compare trees and answers; return the engine's tree and the textbook's."""
    tree, book = engine_tree(problem, held), textbook_tree(problem, held)
    laplace = bool(problem.options.get("laplace", False))
    assert_same(tree, book, laplace)
    for X in (problem.X, fresh):
        if X is None:
            continue
        theirs, ours = predict_proba_c45(book, X, laplace), engine_proba(tree, X)
        assert_allclose(ours, theirs, atol=1e-9)
        assert_allclose(ours.sum(axis=1), 1.0, atol=1e-9)
        clear = np.sort(theirs, axis=1)[:, -1] > np.sort(theirs, axis=1)[:, -2:].mean(axis=1) + 1e-9
        if problem.n_classes > 1:
            assert_array_equal(ours.argmax(axis=1)[clear], theirs.argmax(axis=1)[clear])
    return tree, book


def saved(model) -> bytes:
    buffer = io.BytesIO()
    model.save(buffer)
    return buffer.getvalue()


QUESTIONS = ("kind", "feature", "threshold", "first_child", "n_children", "missing_child")


def assert_same_questions(a: Tree, b: Tree) -> None:
    """The two trees ask the same, bit for bit."""
    for name in QUESTIONS:
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert groups_of(a) == groups_of(b)


def groups_of(tree: Tree) -> list[list[int]]:
    """The child of every category, of the nodes that group them."""
    return [
        tree.bits[start : start + len(tree.column(f).categories)].tolist()
        for kind, f, start in zip(tree.kind, tree.feature, tree.bits_start)
        if kind == GROUPS
    ]


def assert_same_tree(a: Tree, b: Tree, rtol: float = 1e-9) -> None:
    """The same questions, and the same figures up to rounding."""
    assert_same_questions(a, b)
    for name in ("value", "impurity", "gain", "weight"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-9, err_msg=name)
