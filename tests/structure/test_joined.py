"""Trees laid one behind the other, and packed into one array, answer as each of them does."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from arboretum import CARTRegressor
from arboretum.data.schema import encode
from arboretum.engine.predict.packed_walk import add_packed, find_packed
from arboretum.predict.engines.packed import pack_trees
from arboretum.predict.walk import leaves_of
from arboretum.structure.joined import join_trees


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
