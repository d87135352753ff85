"""LightGBM's loop whole: exclusive bundles change nothing, and the engine's rounds are these."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from arboretum import LGBMClassifier, LGBMRegressor
from arboretum.boosting.second_order import tables
from arboretum.boosting.second_order.draws import goss_rows
from arboretum.textbook.lightgbm import LeafWiseGrowth
from arboretum.textbook.lightgbm_bins import bin_table, build_histogram
from arboretum.textbook.lightgbm_boosting import (
    LGBMRules,
    boost_lgbm,
    bundle_table,
    lgbm_derivatives,
    lgbm_start,
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


# ---------------------------------------------------------------------- real tables, with the defaults
REAL = {
    "iris": (load_iris, "multiclass", 5, {}),
    "breast cancer": (load_breast_cancer, "binary", 3, {"num_leaves": 6}),
    "diabetes": (load_diabetes, "regression", 3, {}),
}


@pytest.mark.parametrize("name", REAL)
def test_bins_of_few_rows_are_those_of_the_engine(name):
    """Numbers fill bins of at least three rows, zero has its own: so the trees are the same."""
    load, objective, n_rounds, grow = REAL[name]
    X, y = load(return_X_y=True)
    kind = LGBMRegressor if objective == "regression" else LGBMClassifier
    model = kind(n_estimators=n_rounds, **grow).fit(X, y)
    book = boost_lgbm(X, y, LGBMRules(objective, n_rounds), LGBMSettings(**grow))
    ours = model.predict(X) if objective == "regression" else model.predict_proba(X)
    ours = ours[:, 1] if objective == "binary" else ours
    assert_allclose(predict_model_lgbm(book, X), ours, rtol=1e-7, atol=1e-7)


def test_where_splits_tie_the_engine_takes_one_of_the_best():
    """The engine searches with gradients of 16 bits: of splits that gain the same it may take another."""
    X, y = load_iris(return_X_y=True)
    model = LGBMClassifier(n_estimators=20).fit(X, y)
    table = bin_table(X)
    settings, worst, n_ties = LGBMSettings(), 0.0, 0
    for m in range(20):
        F = model.predict(X, raw_score=True, num_iteration=m) if m else np.zeros((len(X), 3))
        F = F if m else F + lgbm_start("multiclass", y)
        g, h = lgbm_derivatives("multiclass", y, F)
        for k in range(3):
            growth = LeafWiseGrowth(table, g[:, k], h[:, k], settings)
            for (f, cut), rows in _splits(model.trees_[3 * m + k], X):
                node = growth.grow(rows)  # its root: the best split of these rows
                found = [c for c in node.candidates if c.admissible]
                own, x = [c for c in found if c.feature == f], X[rows, f]
                gains = [c.gain for c in own if np.array_equal(c.left(x), x <= cut)]
                best, score = max(c.gain for c in found), abs(found[0].node_score) + 1e-9
                worst = max(worst, (best - max(gains)) / score)
                n_ties += sum(c.gain >= best * (1 - 1e-4) for c in found) > 1
    assert worst < 1e-3
    assert n_ties > 0


def _splits(tree, X):
    """Return (column, threshold) of every split that gains more than rounding, and its rows."""
    waiting = [(0, np.arange(len(X)))]
    while waiting:
        i, rows = waiting.pop()
        if tree.n_children[i] == 0:
            continue
        feature, cut = int(tree.feature[i]), float(tree.threshold[i])
        if tree.gain[i] > 1e-3:
            yield (feature, cut), rows
        left = X[rows, feature] <= cut
        first = int(tree.first_child[i])
        waiting += [(first, rows[left]), (first + 1, rows[~left])]
