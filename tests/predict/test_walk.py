"""Walking rows down random trees: compiled walks against a plain Python one."""

import numpy as np
import pytest

from arboretum.data.matrix import DenseMatrix
from arboretum.data.schema import Column, Schema
from arboretum.predict.walk import leaves_of, paths_of
from arboretum.structure.sound import validate_tree
from arboretum.structure.tree import LEAF, SUBSET, THRESHOLD, Surrogates, Tree

N_NUMBERS, N_CODES = 3, (40, 5)  # three numeric columns, two of categories


def _schema() -> Schema:
    numbers = [Column(f"x{f}", "numeric") for f in range(N_NUMBERS)]
    words = [
        Column(f"c{f}", "categorical", tuple(f"w{i}" for i in range(n)))
        for f, n in enumerate(N_CODES)
    ]
    return Schema((*numbers, *words), named=False)


def _random_tree(rng, n_splits: int, *, categories: bool, surrogates: bool) -> Tree:
    """Divide random leaves; nodes are numbered in the order they are made."""
    first = [-1]
    for _ in range(n_splits):
        leaf = int(rng.choice([i for i, child in enumerate(first) if child < 0]))
        first[leaf] = len(first)
        first += [-1, -1]
    n, bits = len(first), []

    def ask() -> tuple[int, int, float, int]:
        feature = int(rng.integers(0, N_NUMBERS + len(N_CODES) * categories))
        if feature < N_NUMBERS:
            odd = rng.random() < 0.1
            return THRESHOLD, feature, np.inf if odd else round(rng.normal(), 1), -1
        words = (N_CODES[feature - N_NUMBERS] + 31) // 32
        bits.extend(rng.integers(0, 2**32, words).tolist())
        return SUBSET, feature, np.nan, len(bits) - words

    leaf = np.array(first) < 0
    asked = [(LEAF, -1, np.nan, -1) if is_leaf else ask() for is_leaf in leaf]
    kind, feature, threshold, bits_start = zip(*asked)
    missing = np.where(np.isinf(threshold), 1, rng.integers(0, 2, n))
    table = None
    if surrogates:
        sizes = np.where(leaf, 0, rng.integers(0, 4, n))
        others = [ask() for _ in range(sizes.sum())]
        s_kind, s_feature, s_threshold, s_bits = zip(*others) if others else ((), (), (), ())
        table = Surrogates(
            start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            kind=np.array(s_kind, np.uint8),
            feature=np.array(s_feature, np.int32),
            threshold=np.array(s_threshold, np.float64),
            reverse=rng.integers(0, 2, len(others)).astype(np.uint8),
            bits_start=np.array(s_bits, np.int64),
            agreement=np.ones(len(others)),
        )
    tree = Tree(
        kind=np.array(kind, np.uint8),
        feature=np.array(feature, np.int32),
        threshold=np.array(threshold, np.float64),
        first_child=np.array(first, np.int32),
        n_children=np.where(leaf, 0, 2).astype(np.int32),
        missing_child=np.where(leaf, -1, missing).astype(np.int32),
        bits_start=np.array(bits_start, np.int64),
        bits=np.array(bits, np.uint32),
        value=rng.random((n, 1, 1)),
        impurity=np.zeros(n),
        gain=np.zeros(n),
        weight=np.ones(n),
        count=np.ones(n, np.int64),
        schema=_schema(),
        surrogates=table,
    )
    validate_tree(tree)
    return tree


def _random_rows(rng, n: int) -> np.ndarray:
    X = rng.normal(size=(n, N_NUMBERS + len(N_CODES))).round(1)  # often exactly a threshold
    for f, n_codes in enumerate(N_CODES):
        X[:, N_NUMBERS + f] = rng.integers(0, n_codes, n)
    X[rng.random(X.shape) < 0.3] = np.nan
    return X


def _answer(
    tree: Tree, kind: int, feature: int, threshold: float, bits_start: int, x: float
) -> int:
    if kind == THRESHOLD:
        return int(x > threshold)
    inside, _ = tree.categories_of(bits_start, feature)
    return int(f"w{int(x)}" not in inside)


def _naive_path(tree: Tree, x: np.ndarray) -> list[int]:
    """Follow the questions as their definitions read."""
    path = [0]
    while tree.kind[path[-1]] != LEAF:
        node = path[-1]
        questions = [(tree.kind, tree.feature, tree.threshold, tree.bits_start, node, 0)]
        s = tree.surrogates
        if s is not None:
            questions += [
                (s.kind, s.feature, s.threshold, s.bits_start, i, s.reverse[i])
                for i in range(s.start[node], s.start[node + 1])
            ]
        side = int(tree.missing_child[node])
        for kind, feature, threshold, bits_start, i, reverse in questions:
            value = x[feature[i]]
            if not np.isnan(value):
                side = _answer(tree, kind[i], feature[i], threshold[i], bits_start[i], value)
                side ^= int(reverse)
                break
        path.append(int(tree.first_child[node]) + side)
    return path


KINDS = {
    "thresholds": {"categories": False, "surrogates": False},
    "categories": {"categories": True, "surrogates": False},
    "surrogates": {"categories": False, "surrogates": True},
    "both": {"categories": True, "surrogates": True},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_splits", [0, 1, 2, 40])
def test_walks_follow_the_questions(kind, n_splits):
    rng = np.random.default_rng(n_splits)
    for n_rows in (1, 7, 8, 9, 130):
        tree = _random_tree(rng, n_splits, **KINDS[kind])
        X = _random_rows(rng, n_rows)
        paths = [_naive_path(tree, x) for x in X]
        np.testing.assert_array_equal(leaves_of(tree, DenseMatrix(X)), [path[-1] for path in paths])
        passed = paths_of(tree, DenseMatrix(X)).toarray()
        expected = np.zeros((n_rows, len(tree)), int)
        for i, path in enumerate(paths):
            expected[i, path] = 1
        np.testing.assert_array_equal(passed, expected)


def test_threads_and_layouts_change_nothing():
    rng = np.random.default_rng(5)
    tree = _random_tree(rng, 60, categories=False, surrogates=False)
    X = _random_rows(rng, 60_000)
    expected = leaves_of(tree, DenseMatrix(X))
    for n_jobs in (2, 5):
        np.testing.assert_array_equal(leaves_of(tree, DenseMatrix(X), n_jobs), expected)
    np.testing.assert_array_equal(leaves_of(tree, DenseMatrix(np.asfortranarray(X)), 2), expected)
    rows = [0, 1, 31_234, 59_999]
    assert expected[rows].tolist() == [_naive_path(tree, X[i])[-1] for i in rows]


def test_a_chain_is_walked_to_its_end():
    """As deep as a tree can be: every split cuts off one value."""
    n = 3001
    inner = np.arange(0, n - 1, 2)
    first = np.full(n, -1)
    first[inner] = inner + 1
    leaf = first < 0
    threshold = np.full(n, np.nan)
    threshold[inner] = np.arange(len(inner)) + 0.5
    tree = Tree(
        kind=np.where(leaf, LEAF, THRESHOLD).astype(np.uint8),
        feature=np.where(leaf, -1, 0).astype(np.int32),
        threshold=threshold,
        first_child=first.astype(np.int32),
        n_children=np.where(leaf, 0, 2).astype(np.int32),
        missing_child=np.where(leaf, -1, 1).astype(np.int32),
        bits_start=np.full(n, -1),
        bits=np.zeros(0, np.uint32),
        value=np.zeros((n, 1, 1)),
        impurity=np.zeros(n),
        gain=np.zeros(n),
        weight=np.ones(n),
        count=np.ones(n, np.int64),
        schema=Schema((Column("x0", "numeric"),), named=False),
    )
    # children of node 2k are the leaf 2k + 1 and node 2k + 2
    X = np.array([[-5.0], [0.0], [1.0], [700.0], [1498.4], [9e9], [np.nan], [3.0], [4.0]])
    expected = [1, 1, 3, 1401, 2997, 3000, 3000, 7, 9]
    np.testing.assert_array_equal(leaves_of(tree, DenseMatrix(X)), expected)
    assert tree.max_depth == 1500
    assert paths_of(tree, DenseMatrix(X)).sum(axis=1).max() == 1501


def test_sets_of_categories_are_walked_as_the_questions_say():
    rng = np.random.default_rng(3)
    tree = _random_tree(rng, 40, categories=True, surrogates=False)
    X = _random_rows(rng, 200)
    leaves = leaves_of(tree, DenseMatrix(X))
    np.testing.assert_array_equal(leaves, [_naive_path(tree, x)[-1] for x in X])


def test_codes_that_do_not_exist_go_where_missing_values_go():
    """Encoded tables hold none, but the walk must not read beyond the category set."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        tree = _random_tree(rng, 10, categories=True, surrogates=False)
        X = np.tile(np.nan, (4, N_NUMBERS + len(N_CODES)))
        strange = X.copy()
        strange[:, N_NUMBERS:] = np.array([-1, 1e6, 40, 2.0**40])[:, None]
        np.testing.assert_array_equal(
            leaves_of(tree, DenseMatrix(strange)), leaves_of(tree, DenseMatrix(X))
        )
