"""Trees that were made together: cut apart when asked, taken in one piece by who looks at all."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from arboretum import RandomForestRegressor
from arboretum.errors import ModelFileError
from arboretum.structure.sound import NODE_ARRAYS, validate_trees
from arboretum.structure.state import trees_from_state, trees_to_state
from arboretum.structure.together import SharedNodes, arrays_of, pieces, sizes_of

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
