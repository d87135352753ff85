"""Curves looked up by states and curves put together leaf by leaf are the same curves."""

import numpy as np
import pytest

from arboretum.explain.dependence import open_states as states
from arboretum.explain.dependence.partial_dependence import partial_dependence
from arboretum.structure.joined import join_trees
from tests.explain.report.report_models import fitted, new_rows


@pytest.mark.parametrize("features", ["age", "job", ["hours", "city"]])
@pytest.mark.parametrize("name", ["CART numbers", "XGB", "LGBM", "gradient"])
def test_both_ways_agree(name, features, monkeypatch):
    model, (X, _) = fitted(name), new_rows(name)
    looked_up = partial_dependence(model, X, features, kind="both")
    monkeypatch.setattr(states, "_MOST_STATES", 0)
    put_together = partial_dependence(model, X, features, kind="both")
    np.testing.assert_allclose(
        looked_up.individual, put_together.individual, rtol=1e-12, atol=1e-13
    )
    np.testing.assert_allclose(looked_up.average, put_together.average, rtol=1e-12, atol=1e-13)


def test_states_are_counted_as_the_picture_says():
    tree = fitted("CART numbers").tree_
    none = np.full(5, -1, np.int64)
    assert states._count(tree, none)[0] == tree.n_leaves  # every leaf is a state
    assert states._count(tree, np.zeros(5, np.int64))[0] == 1  # no row's own column is asked for
    grid = np.linspace(20, 70, 7)[None]
    found = states.open_states([tree], [tree.value[:, 0]], np.array([0, -1, -1, -1, -1]), grid)
    jumps = found.table.reshape(-1, found.size[0])
    assert len(jumps) == len(found.point) <= 7
    curves = np.zeros((7, found.size[0]))
    curves[found.point] = jumps
    said = np.cumsum(curves, axis=0)
    leaves = tree.value[tree.is_leaf].ravel()
    assert np.abs(said[:, :, None] - leaves).min(axis=2).max() < 1e-12  # of some leaf, every one


def test_too_many_states_are_not_written_down(monkeypatch):
    tree = fitted("CART numbers").tree_
    monkeypatch.setattr(states, "_MOST_STATES", 3)
    assert states.open_states([tree], [tree.value[:, 0]], np.full(5, -1), np.zeros((0, 4))) is None
    several = [np.zeros((len(tree), 2))]
    assert states.open_states([tree], several, np.full(5, -1), np.zeros((0, 4))) is None


def test_sides_of_categories_are_those_of_the_trees():
    """Every node that asks for a row's words has the sides of its own set, and each set stands once."""
    trees = fitted("forest").trees_
    nodes = join_trees(trees)
    open_column = int(np.flatnonzero(nodes.n_codes == 0)[0])
    place = np.full(len(nodes.n_codes), -1)
    place[open_column] = 0
    coding = states.OpenCoding(nodes, place)
    questions = coding.questions()
    asks = np.flatnonzero(questions.right_at >= 0)
    assert len(asks) > 20
    for at in asks.tolist():
        t = int(np.searchsorted(nodes.start, at, "right")) - 1
        known = np.append(np.arange(float(nodes.n_codes[nodes.feature[at]])), np.nan)
        begin = int(questions.right_at[at])
        own = questions.right[begin : begin + len(known)]
        expected = states._goes_right(trees[t], int(at - nodes.start[t]), known)
        np.testing.assert_array_equal(own.astype(bool), expected)
    assert len(questions.right) == (nodes.n_codes[nodes.feature[asks]] + 1).sum()


def test_sides_are_written_once_a_column(monkeypatch):
    """The work does not grow with the square of the nodes: one call for each column of words."""
    nodes = join_trees(fitted("forest").trees_)
    many = nodes._replace(
        **{
            name: np.tile(getattr(nodes, name), 400)
            for name in (
                "kind",
                "feature",
                "threshold",
                "first_child",
                "missing_child",
                "bits_start",
            )
        }
    )
    calls = []
    right_codes = states._right_codes
    monkeypatch.setattr(
        states, "_right_codes", lambda *given: calls.append(1) or right_codes(*given)
    )
    place = np.full(len(nodes.n_codes), -1)
    few_sides = states.OpenCoding(nodes, place).questions().right
    n_calls = len(calls)
    sides = states.OpenCoding(many, place).questions().right
    assert len(sides) == 400 * len(few_sides)
    assert len(calls) == 2 * n_calls <= 2 * len(place)
