"""LightGBM's loop whole: exclusive bundles change nothing, and the engine's rounds are these."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import LGBMClassifier, LGBMRegressor
from arboretum.boosting.second_order import tables
from arboretum.boosting.second_order.draws import goss_rows
from arboretum.textbook.lightgbm import bin_table, build_histogram
from arboretum.textbook.lightgbm_boosting import (
    LGBMRules,
    boost_lgbm,
    bundle_table,
    predict_margin_lgbm,
    predict_model_lgbm,
)
from arboretum.textbook.lightgbm_sampling import GossSample
from arboretum.textbook.lightgbm_splits import LGBMSettings

GROW = {"num_leaves": 4, "min_child_samples": 8}


def sparse(seed, n=240, conflicts=0.0):
    """Return answers to two questions, a column each, and a dense one with gaps."""
    rng = np.random.default_rng(seed)
    X = np.hstack([np.eye(4)[rng.integers(0, 4, n)] for _ in range(2)])
    X *= rng.integers(1, 4, X.shape)
    X[rng.random(X.shape) < conflicts] = 2.0
    dense = rng.integers(0, 12, n).astype(float)
    y = X[:, 0] - 2 * X[:, 5] + 0.3 * dense + rng.normal(size=n)
    dense[rng.random(n) < 0.1] = np.nan
    return np.column_stack([X, dense]), y


def targets(y, objective):
    if objective == "regression":
        return y
    cuts = [0.0, 1.0] if objective == "multiclass" else [0.5]
    return np.digitize(y, cuts)


@pytest.mark.parametrize("objective", ["regression", "binary", "multiclass"])
def test_exclusive_bundles_change_nothing(objective):
    X, y = sparse(0)
    y = targets(y, objective)
    one, other = (
        boost_lgbm(X, y, LGBMRules(objective, 4, bundle=bundle), LGBMSettings(**GROW))
        for bundle in (True, False)
    )
    assert any(len(bundle.features) > 1 for bundle in one.table.bundles)
    assert_allclose(predict_margin_lgbm(one, X), predict_margin_lgbm(other, X), rtol=1e-9)


def test_histograms_of_bundles_are_those_of_the_table_they_remember():
    X, _ = sparse(1, conflicts=0.05)
    table = bundle_table(bin_table(X), max_conflict_rate=0.1)
    assert sum(bundle.conflicts for bundle in table.bundles) > 0
    assert not np.array_equal(table.X[:, :8], X[:, :8])
    rng = np.random.default_rng(0)
    g, h, rows = (
        rng.normal(size=len(X)),
        rng.random(len(X)),
        np.flatnonzero(rng.random(len(X)) < 0.6),
    )
    for f, histogram in enumerate(table.histograms(rows, g, h)):
        codes = table.bins[f].codes(table.X[:, f])
        assert_array_equal(codes, table.codes[:, f])
        plain = build_histogram(codes[rows], g[rows], h[rows], table.bins[f].n_bins)
        assert_allclose(histogram, plain, atol=1e-12)


@pytest.mark.parametrize("way", ["all rows", "goss"])
@pytest.mark.parametrize("objective", ["regression", "binary", "multiclass"])
def test_the_engine_boosts_as_the_textbook(objective, way, monkeypatch):
    X, y = sparse(2, 400)
    y = targets(y, objective)
    options, rules, drawn = {}, {}, {}
    if way == "goss":
        options = {"data_sample_strategy": "goss", "top_rate": 0.3, "other_rate": 0.2}
        rules = {"goss": (0.3, 0.2)}

    def spy(g, h, a, b, seed, m):
        drawn[m] = rows, factor = goss_rows(g, h, a, b, seed, m)
        return rows, factor

    def as_the_engine(g, h, m):
        rows, factor = drawn[m]
        return GossSample(rows.astype(np.int64), factor.astype(float), np.empty(0), 0, 0)

    monkeypatch.setattr(tables, "goss_rows", spy)
    kind = LGBMRegressor if objective == "regression" else LGBMClassifier
    model = kind(
        n_estimators=3, learning_rate=0.5, min_data_in_bin=1, verbose=-1, **GROW, **options
    ).fit(X, y)
    book = boost_lgbm(
        X, y, LGBMRules(objective, 3, 0.5, **rules), LGBMSettings(**GROW), sampler=as_the_engine
    )
    ours = model.predict(X) if objective == "regression" else model.predict_proba(X)
    ours = ours[:, 1] if objective == "binary" else ours
    assert_allclose(predict_model_lgbm(book, X), ours, rtol=1e-5, atol=1e-5)
    assert list(drawn) == ([2] if way == "goss" else [])


def test_goss_begins_after_some_rounds_and_is_drawn_by_the_seed():
    X, y = sparse(3)
    rules = [
        LGBMRules(n_rounds=5, learning_rate=0.5, goss=(0.2, 0.1), random_state=s) for s in (0, 0, 1)
    ]
    a, b, c = (boost_lgbm(X, y, r, LGBMSettings(**GROW)) for r in rules)
    assert [r.sample is None for r in a.rounds] == [True, True, False, False, False]
    assert_array_equal(a.rounds[-1].scores, b.rounds[-1].scores)
    assert not np.array_equal(a.rounds[-1].scores, c.rounds[-1].scores)


def test_objectives_that_are_none():
    with pytest.raises(ValueError, match="objective must be one of"):
        boost_lgbm([[1.0], [2.0]], [0, 1], LGBMRules("poisson"))
