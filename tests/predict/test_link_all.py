"""Trees that lie together are laid out for the walk in one go, as each would be by itself."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from arboretum import C45Classifier, RandomForestClassifier
from arboretum.data.schema import encode
from arboretum.predict.sum import leaves_in
from arboretum.predict.walk import _has_sets, _is_plain, _links, leaves_of, link_all


def _forest(words: bool, n_trees: int = 12):
    rng, n = np.random.default_rng(0), 90
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    if words:
        frame["color"] = rng.choice([f"c{k}" for k in range(9)], n)
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    model = RandomForestClassifier(n_trees, max_features=1, max_depth=4, random_state=0)
    trees = model.fit(frame, rng.integers(0, 3, n)).ensemble_.trees
    return trees, encode(model.schema_, frame, unseen="missing", estimator_name="forest")


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("some", [slice(None), slice(3, 12)])
def test_links_are_those_of_every_tree_alone(words, some):
    trees, matrix = _forest(words)
    alone = [pickle.loads(pickle.dumps(tree)) for tree in trees[some]]
    link_all(trees[some])
    assert all("_links" in tree.__dict__ for tree in trees[some])
    for tree, other in zip(trees[some], alone, strict=True):
        for own, expected in zip(_links(tree), _links(other), strict=True):
            assert_array_equal(own, expected)
        assert _is_plain(tree) == _is_plain(other)
        assert _has_sets(tree) == _has_sets(other)
        assert tree.spreads == other.spreads
    together = leaves_in(trees[some], matrix)
    assert_array_equal(together, np.column_stack([leaves_of(tree, matrix) for tree in alone]))


def test_trees_of_several_pieces_and_trees_by_themselves():
    trees, _ = _forest(False)
    others, _ = _forest(False, 20)
    own = pickle.loads(pickle.dumps(trees[0]))
    link_all([*trees, own, *others[:9], others[15]])
    assert all("_links" in tree.__dict__ for tree in (*trees, *others[:9]))
    assert not any("_links" in tree.__dict__ for tree in (own, others[15], others[10]))


def test_trees_that_spread_rows_are_left_alone():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"color": rng.choice(["a", "b", None], 60), "size": rng.normal(size=60)})
    trees = [C45Classifier().fit(frame, rng.integers(0, 2, 60)).tree_ for _ in range(9)]
    link_all(trees)
    assert not any("_links" in tree.__dict__ for tree in trees)
