"""Trees asked all at once answer what trees that are walked answer, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum import LGBMClassifier, LGBMRegressor, XGBClassifier, XGBRegressor
from arboretum.predict.engines import choose, costs
from arboretum.predict.engines.bitmask import MaskEngine
from arboretum.predict.engines.tournament import TournamentEngine
from arboretum.predict.engines.walk import WalkEngine

WORDS = np.array(["red", "green", "blue", "grey", "pink"], object)


def table(n, seed=0):
    """Return numbers with gaps, whole numbers, and words."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, 5), object)
    X[:, 0], X[:, 1] = rng.normal(size=n), rng.integers(0, 6, n)
    X[:, 2] = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    X[:, 3], X[:, 4] = rng.exponential(size=n), WORDS[rng.integers(0, 5, n)]
    y = X[:, 0].astype(float) + (X[:, 4] == "red") + rng.normal(size=n)
    return X, y


def walked(model, X, monkeypatch, **options):
    with monkeypatch.context() as patch:
        patch.setattr(choose, "ENGINES", [WalkEngine])
        return model.predict(X, **options)


MODELS = {
    "numbers and words": (LGBMRegressor(n_estimators=70), lambda y: y),
    "64 leaves": (LGBMRegressor(n_estimators=9, num_leaves=64, min_child_samples=2), lambda y: y),
    "three classes": (LGBMClassifier(n_estimators=15), lambda y: np.digitize(y, [-1, 1])),
    "dart": (
        LGBMRegressor(n_estimators=40, boosting_type="dart", drop_rate=0.4, random_state=1),
        lambda y: y,
    ),
    "rf": (
        LGBMRegressor(boosting_type="rf", subsample=0.6, subsample_freq=1, n_estimators=20),
        lambda y: y,
    ),
    "depth 6": (XGBClassifier(n_estimators=40, enable_categorical=True), lambda y: y > 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_same_sums_as_walking(name, monkeypatch):
    model, labels = MODELS[name]
    X, y = table(900)
    model.fit(X, labels(y))
    terms = model.ensemble_.terms
    assert isinstance(choose.choose(terms, 1_234), MaskEngine)
    new, _ = table(1_234, seed=1)
    new[::7, 0] = np.nan
    raw = {"output_margin": True} if name == "depth 6" else {"raw_score": True}
    found = model.predict(new, **raw)
    assert np.array_equal(found, walked(model, new, monkeypatch, **raw))
    assert np.array_equal(found[:300], model.predict(new[:300], **raw))


def test_extreme_values_take_the_same_way(monkeypatch):
    X, y = table(600)
    X = X[:, :4].astype(float)
    model = LGBMRegressor(n_estimators=30).fit(X, y)
    cuts = np.concatenate([tree.threshold[~tree.is_leaf] for tree in model.ensemble_.trees])
    values = np.concatenate([cuts, np.nextafter(cuts, np.inf), [np.nan, 1e300, -1e300, -0.0]])
    odd = np.random.default_rng(0).choice(values, (2_000, 4))
    assert np.array_equal(model.predict(odd), walked(model, odd, monkeypatch))


def test_large_trees_are_walked():
    X, y = table(3_000)
    large = LGBMRegressor(n_estimators=5, num_leaves=129, min_child_samples=1).fit(X, y)
    assert max(tree.n_leaves for tree in large.ensemble_.trees) > costs.MASKED_LEAVES
    assert isinstance(choose.choose(large.ensemble_.terms, 3_000), WalkEngine)
    assert np.isfinite(large.predict(X)).all()


def test_few_trees_of_many_columns_are_walked():
    rng = np.random.default_rng(0)
    X = np.array(["no", "yes"], object)[rng.integers(0, 2, (400, 300))]
    model = LGBMRegressor(n_estimators=5).fit(X, (X[:, :200] == "yes").sum(axis=1))
    assert MaskEngine.lay_out(model.ensemble_.terms) is None
    assert isinstance(choose.choose(model.ensemble_.terms, 10_000), WalkEngine)


def test_trees_without_sets_are_left_to_the_tournament():
    X, y = table(600)
    terms = LGBMRegressor(n_estimators=12).fit(X[:, :4].astype(float), y).ensemble_.terms
    assert MaskEngine.lay_out(terms) is None
    assert isinstance(choose.choose(terms, 600), TournamentEngine)


def test_trees_of_a_single_leaf_are_asked_too():
    X, y = np.zeros((500, 3)), np.arange(500.0)
    for model in (LGBMRegressor(n_estimators=8), XGBRegressor(n_estimators=8)):
        assert np.allclose(model.fit(X, y).predict(X), y.mean())


def test_a_pickled_model_makes_its_layout_anew():
    import pickle

    X, y = table(600)
    model = LGBMRegressor(n_estimators=12).fit(X, y)
    expected = model.predict(X)
    small = len(pickle.dumps(model))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), expected)
    assert isinstance(model.ensemble_.terms.laid_out(MaskEngine), MaskEngine)
    assert len(pickle.dumps(model)) == small


def test_the_layout_of_some_rounds_is_made_once():
    X, y = table(1000)
    model = LGBMRegressor(n_estimators=20).fit(X, y)
    first = model.predict(X, num_iteration=10)
    part = model.ensemble_.rounds(0, 10)
    assert part is model.ensemble_.rounds(0, 10)
    assert MaskEngine in part.terms._laid_out
    assert np.array_equal(first, model.predict(X, num_iteration=10))
    assert not np.array_equal(first, model.predict(X, num_iteration=11))
