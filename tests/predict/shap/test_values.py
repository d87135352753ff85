"""SHAP values of every family: equal to the definition over all sets of columns, summing to the answer."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import arboretum as ab
from arboretum.predict.ensemble import Ensemble
from arboretum.predict.shap import values
from arboretum.predict.shap.layout import lay_out
from arboretum.predict.shap.values import Contributions
from arboretum.textbook import background_game, path_game, shapley_pairs, shapley_values
from tests.predict.shap.shap_cases import MODELS, NAMES, fitted, new_rows, table, textbook_trees

D = len(NAMES)


def _by_definition(model, rows, background=None):
    """Return values (rows, outputs, columns), pairs and bases by the textbook."""
    form = model._summed_trees().additive()
    if model._cover == "count":
        terms = form.terms
        counted = [replace(tree, weight=tree.count.astype(float)) for tree in terms.trees]
        form = replace(form, terms=replace(terms, trees=counted))
    trees = textbook_trees(form)
    X = model._encode(rows).rows(0, len(rows))
    others = None if background is None else model._encode(background).rows(0, len(background))
    values, pairs, base = [], [], None
    for x in X:
        game = path_game(trees, x) if others is None else background_game(trees, x, others)
        found = shapley_values(game, D)
        values.append(found.values.T)
        pairs.append(shapley_pairs(game, D).transpose(2, 0, 1))
        base = form.start + found.base
    return np.array(values), np.array(pairs), base


@pytest.mark.parametrize("background", [None, 5], ids=["paths", "background"])
@pytest.mark.parametrize("name", MODELS)
def test_equal_to_the_definition(name, background):
    model, rows = fitted(name), new_rows(4)
    others = None if background is None else table().iloc[:background]
    values, pairs, base = _by_definition(model, rows, others)
    outputs = values.shape[1]
    found = model.shap_values(rows, background=others)
    flat = found.reshape(len(rows), D, outputs).transpose(0, 2, 1)
    assert_allclose(flat, values, rtol=0, atol=1e-12)
    both = model.shap_values(rows, background=others, interactions=True)
    flat = both.reshape(len(rows), D, D, outputs).transpose(0, 3, 1, 2)
    assert_allclose(flat, pairs, rtol=0, atol=1e-12)
    assert_allclose(np.ravel(model.shap_base_value(background=others)), base, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_values_and_base_are_the_answer(name):
    """To 1e-10 of the answer, for both games and for pairs."""
    model, rows = fitted(name), new_rows(30)
    ensemble = model._summed_trees()
    sums = ensemble.answers(model._encode(rows)).reshape(len(rows), -1)
    for background in (None, table().iloc[:7]):
        base = np.ravel(model.shap_base_value(background=background))
        found = model.shap_values(rows, background=background)
        total = base + found.sum(axis=1).reshape(len(rows), -1)
        assert_allclose(total, sums, rtol=1e-10, atol=1e-12)
        pairs = model.shap_values(rows, background=background, interactions=True)
        assert_allclose(pairs.sum(axis=2), found, rtol=0, atol=1e-12)
        assert_array_equal(pairs, np.swapaxes(pairs, 1, 2))


def test_shapes():
    rows = new_rows(3)
    for name, shape in {
        "CART": (3, D, 3),
        "CART of numbers": (3, D),
        "CART of several outputs": (3, D, 2),
        "forest of several outputs": (3, D, 2, 2),
        "XGB": (3, D),
        "XGB of classes": (3, D, 3),
    }.items():
        assert fitted(name).shap_values(rows).shape == shape
        assert fitted(name).shap_values(rows, interactions=True).shape == (3, D, *shape[1:])
    assert isinstance(fitted("XGB").shap_base_value(), float)
    assert fitted("CART").shap_base_value().shape == (3,)


@pytest.mark.parametrize("name", ["forest", "XGB of classes", "CART with surrogates"])
@pytest.mark.parametrize("background", [None, 3])
@pytest.mark.parametrize("interactions", [False, True])
def test_the_same_bits_for_any_number_of_threads(name, background, interactions):
    model, rows = fitted(name), table(3000, 2)
    others = None if background is None else table().iloc[:background]
    found = []
    for n_jobs in (1, 2):
        one = pickle.loads(pickle.dumps(model)).set_params(n_jobs=n_jobs)
        asked = {"background": others, "interactions": interactions}
        found.append(one.shap_values(rows if others is None else rows[:500], **asked))
    assert_array_equal(found[0], found[1])


def test_a_row_has_its_values_whoever_stands_beside_it():
    model, rows = fitted("forest"), table(200, 2)
    together = model.shap_values(rows)
    assert_array_equal(model.shap_values(rows[:1]), together[:1])
    assert_array_equal(model.shap_values(rows[150:]), together[150:])


@pytest.mark.parametrize("least", [20, 10_000])
def test_branches_without_weight_give_no_nan(least):
    """Equal to the definition, where such branches share equally; at last there is no weight anywhere."""
    model, rows = fitted("extra trees"), new_rows(3)
    ensemble = model.ensemble_
    trees = [replace(t, weight=np.where(t.weight < least, 0.0, t.weight)) for t in ensemble.trees]
    form = replace(ensemble, trees=trees).additive()
    matrix = model._encode(rows)
    found = Contributions(lay_out(form, D)).values(matrix)[:, 0]
    book = textbook_trees(form)
    for x, got in zip(matrix.rows(0, len(rows)), found, strict=True):
        expected = shapley_values(path_game(book, x), D).values[:, 0]
        assert_allclose(got, expected, rtol=0, atol=1e-12)


def test_trees_of_one_leaf_and_no_trees_at_all():
    stump = ab.CARTRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert_array_equal(stump.shap_values([[5.0]]), [[0.0]])
    assert stump.shap_base_value() == 3.0
    matrix = stump._encode([[5.0]])
    none = Contributions(lay_out(Ensemble([], np.ones(0), np.array([2.0])).additive(), 1))
    assert_array_equal(none.values(matrix), [[[0.0]]])
    assert_array_equal(none.base, [2.0])


def test_deep_trees_ask_for_many_columns():
    """Paths of 14 columns and more: the quadrature is exact whatever their length."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    model = ab.ExtraTreesRegressor(2, random_state=0).fit(X, rng.normal(size=400))
    layout = model._contributions(model.ensemble_).layout
    assert layout.longest.max() >= 14
    total = model.shap_base_value() + model.shap_values(X).sum(axis=1)
    assert_allclose(total, model.predict(X), rtol=1e-10, atol=1e-12)


def test_nothing_of_it_is_pickled_or_saved(tmp_path):
    model = ab.CARTRegressor(max_depth=3).fit(table(), table()["age"].fillna(0))
    before = len(pickle.dumps(model))
    model.save(tmp_path / "before.arb")
    model.shap_values(new_rows())
    assert len(pickle.dumps(model)) == before
    model.save(tmp_path / "after.arb")
    assert (tmp_path / "before.arb").read_bytes() == (tmp_path / "after.arb").read_bytes()
    again = ab.load(tmp_path / "after.arb")
    assert_array_equal(again.shap_values(new_rows()), model.shap_values(new_rows()))


# ---------------------------------------------------------------------- tables
@pytest.fixture
def eager(monkeypatch):
    """Trees have tables however few rows are asked about."""
    monkeypatch.setattr(values, "_ROWS", 0)
    monkeypatch.setattr(values, "_ROWS_PER_LEAF", 0)
    monkeypatch.setattr(values, "_CONTRASTS_PER_LEAF", 0)


def _fresh(name):
    """Return a model without anything that was laid out."""
    return pickle.loads(pickle.dumps(fitted(name)))


@pytest.mark.parametrize("background", [None, 5], ids=["paths", "background"])
@pytest.mark.parametrize("name", [name for name in MODELS if "surrogates" not in name])
def test_tables_give_the_same_as_the_walk(name, background, eager):
    """Which the definition was held against."""
    rows = table(300, 3)
    others = None if background is None else table().iloc[:background]
    model = _fresh(name)
    found = model._contributions(model._summed_trees())
    assert found._tabled_trees(1, model._encode(rows), False).any()
    for interactions in (False, True):
        asked = {"background": others, "interactions": interactions}
        by_tables = model.shap_values(rows, **asked)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(values, "has_tables", lambda layout: np.zeros(layout.n_trees, bool))
            by_walk = _fresh(name).shap_values(rows, **asked)
        assert_allclose(by_tables, by_walk, rtol=0, atol=1e-12)


@pytest.mark.parametrize("most", [4, 64])
def test_tables_of_any_size_give_the_same(most, eager, monkeypatch):
    rows = table(100, 3)
    expected = fitted("extra trees").shap_values(rows)
    monkeypatch.setattr(values, "table_cap", lambda n_rows, pairs: most)
    assert_allclose(_fresh("extra trees").shap_values(rows), expected, rtol=0, atol=1e-12)
    monkeypatch.setattr(values, "_KEPT_BYTES", 1 << 10)  # a tree at a time, and none is kept
    model = _fresh("extra trees")
    assert_allclose(model.shap_values(rows), expected, rtol=0, atol=1e-12)
    assert not model._contributions(model.ensemble_)._kept


def test_tables_are_kept(eager):
    model, rows = _fresh("LGBM"), table(50, 3)
    first = model.shap_values(rows)
    (kept,) = model._contributions(model._summed_trees())._kept.values()
    assert_array_equal(model.shap_values(rows), first)
    (again,) = model._contributions(model._summed_trees())._kept.values()
    assert again is kept


def test_large_trees_are_tabled_in_parts(eager):
    """More than 64 leaves, on few columns, whose thresholds are many."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    model = ab.ExtraTreesRegressor(2, random_state=0).fit(X, rng.normal(size=900))
    found = model._contributions(model.ensemble_)
    assert found.layout.n_leaves.min() > 200
    assert found._tabled_trees(900, None, False).all()
    total = model.shap_base_value() + model.shap_values(X).sum(axis=1)
    assert_allclose(total, model.predict(X), rtol=1e-10, atol=1e-12)
    few = X[:40]
    by_tables = model.shap_values(few, background=X[50:90])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "has_tables", lambda layout: np.zeros(layout.n_trees, bool))
        assert_allclose(by_tables, model.shap_values(few, background=X[50:90]), atol=1e-12)


@pytest.mark.parametrize("background", [None, 50])
def test_tables_have_the_same_bits_for_any_number_of_threads(background, eager):
    rows, others = table(3000, 2), None if background is None else table().iloc[:background]
    found = []
    for n_jobs in (1, 2):
        model = _fresh("XGB of classes").set_params(n_jobs=n_jobs)
        found.append(model.shap_values(rows, background=others))
    assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("least", [20, 10_000])
def test_tables_of_branches_without_weight(least, eager):
    model, rows = fitted("extra trees"), new_rows(5)
    ensemble = model.ensemble_
    trees = [replace(t, weight=np.where(t.weight < least, 0.0, t.weight)) for t in ensemble.trees]
    found = Contributions(lay_out(replace(ensemble, trees=trees).additive(), D))
    by_tables = found.values(model._encode(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "has_tables", lambda layout: np.zeros(layout.n_trees, bool))
        by_walk = found.values(model._encode(rows))
    assert np.isfinite(by_tables).all()
    assert_allclose(by_tables, by_walk, rtol=0, atol=1e-12)
