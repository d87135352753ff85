"""Trees laid one behind the other, and packed into one array, answer as each of them does."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from arboretum import CARTRegressor, RandomForestRegressor
from arboretum.data.schema import encode
from arboretum.engine.predict.packed_walk import add_packed, find_packed
from arboretum.errors import ModelFileError
from arboretum.predict.engines.packed import pack_trees
from arboretum.predict.walk import leaves_of
from arboretum.structure.joined import SharedNodes, arrays_of, join_trees, pieces, sizes_of
from arboretum.structure.sound import NODE_ARRAYS, validate_trees
from arboretum.structure.state import trees_from_state, trees_to_state


def _grown(kind="words", n=120, **options):
    """Return trees over numbers and words, both with gaps, and their table."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.normal(size=n), "color": rng.choice([f"c{k:02}" for k in range(40)], n)}
    )
    if kind == "numbers":
        frame["color"] = rng.normal(size=n)
    for name in frame:
        frame.loc[rng.random(n) < 0.15, name] = None
    trees = []
    model = CARTRegressor(max_depth=3, **options)
    for _ in range(11):  # eight at a time, and some more
        model.fit(frame, rng.normal(size=n))
        trees.append(model.tree_)
    return trees, encode(model.schema_, frame, unseen="missing", estimator_name="CARTRegressor")


@pytest.mark.parametrize("kind", ["numbers", "words"])
def test_every_row_finds_the_leaves_it_finds_alone(kind):
    trees, matrix = _grown(kind)
    nodes, rows = join_trees(trees), np.ascontiguousarray(matrix.rows(0, matrix.n_rows))
    leaves, total = np.empty((len(rows), len(trees)), np.uint64), np.zeros((len(rows), 1))
    packed = pack_trees(trees, [tree.value[:, 0] for tree in trees], np.zeros(len(trees), np.int64))
    find_packed(packed, rows, leaves)
    add_packed(packed, rows, total)
    expected = np.zeros(len(rows))
    for t, tree in enumerate(trees):
        assert_array_equal(leaves[:, t].astype(int) - nodes.start[t], leaves_of(tree, matrix))
        expected += tree.value[leaves_of(tree, matrix), 0, 0]
    assert_array_equal(total[:, 0], expected)


@pytest.mark.parametrize("options", [{"surrogates": 2}])
def test_trees_that_ask_other_rows_are_not_joined(options):
    trees, _ = _grown(**options)
    assert join_trees(trees) is None


def test_a_pickled_model_leaves_the_layout_behind():
    import pickle

    from arboretum import AdaBoostClassifier, GradientBoostingClassifier

    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    for model in (GradientBoostingClassifier(n_estimators=5), AdaBoostClassifier(n_estimators=5)):
        before = model.fit(X, y).predict_proba(X)
        again = pickle.loads(pickle.dumps(model))
        assert not {"_summed", "_cache"} & vars(again).keys()
        assert_array_equal(again.predict_proba(X), before)


X = np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture
def trees():
    return RandomForestRegressor(6, random_state=0).fit(X, X[:, 0]).ensemble_.trees


def test_an_array_is_cut_when_it_is_asked_for(trees):
    tree = trees[2]
    assert "kind" not in vars(tree)
    assert len(tree) == tree.node_count == len(tree.kind)
    assert "kind" in vars(tree)
    assert tree.kind is tree.kind
    with pytest.raises(AttributeError, match="no attribute 'leafs'"):
        tree.leafs


def test_copies_stand_alone(trees):
    for other in (pickle.loads(pickle.dumps(trees[1])), copy.copy(trees[1]), replace(trees[1])):
        assert "_together" not in vars(other)
        for name in (*NODE_ARRAYS, "bits"):
            np.testing.assert_array_equal(getattr(other, name), getattr(trees[1], name))


def test_as_few_pieces_as_there_are(trees):
    alone = replace(trees[3])
    mixed = [*trees[:3], alone, *trees[4:], trees[0]]
    parts = pieces(mixed)
    assert [(part.lo, part.hi) for part in parts] == [(0, 3), (0, 1), (4, 6), (0, 1)]
    assert sizes_of(parts) == [len(tree.kind) for tree in mixed]
    assert sizes_of(parts, "bits") == [0] * 7
    joined = np.concatenate(arrays_of(parts, "threshold"))
    np.testing.assert_array_equal(joined, np.concatenate([tree.threshold for tree in mixed]))
    assert pieces([]) == []


def test_files_do_not_tell_how_trees_were_made(trees):
    together, apart = trees_to_state(trees), trees_to_state([replace(tree) for tree in trees])
    assert together.keys() == apart.keys()
    for name, array in together.items():
        np.testing.assert_array_equal(array, apart[name])
    again = trees_from_state(together, trees[0].schema)
    assert len(pieces(again)) == 1


@pytest.mark.parametrize(
    ("name", "spoil", "problem"),
    [
        ("gain", lambda a: a[:-1], "tree 5 has .* nodes but its 'gain' has another length"),
        ("count", lambda a: a.astype(float), "'count' of tree 0 is not a 1-dimensional int64"),
        ("value", lambda a: a[:, :, :0], "the nodes of tree 0 have no value"),
        ("feature", lambda a: np.where(a >= 0, 99, a).astype(np.int32), "none of the 3"),
    ],
)
def test_what_is_wrong_with_all_is_told_of_one(trees, name, spoil, problem):
    own = vars(trees[0])["_together"]
    wrong = SharedNodes({**own.arrays, name: spoil(own.arrays[name])}, own.start, own.bits_start)
    for tree in trees:
        vars(tree)["_together"] = wrong
    with pytest.raises(ModelFileError, match=problem):
        validate_trees(trees)
