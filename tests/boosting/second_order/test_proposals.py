"""Cuts proposed for every tree or every node: Algorithm 2 of the textbook, words and gaps included."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import arboretum
from arboretum import ParameterError, XGBClassifier, XGBRegressor
from arboretum.data.schema import learn_schema
from arboretum.grow.bins.sketch import proposed_bins
from arboretum.textbook.quantile_sketch import propose_cuts
from arboretum.textbook.xgboost import predict_tree_xgb
from arboretum.textbook.xgboost_approximate import grow_approximate
from arboretum.textbook.xgboost_splits import XGBSettings

ONE = {"n_estimators": 1, "learning_rate": 1.0, "base_score": 0.0, "tree_method": "approx"}


def make(seed, n=300, missing=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 1] = rng.integers(0, 7, n)
    y = np.round(np.sin(3 * X[:, 0]) + 0.4 * X[:, 1] + rng.normal(size=n), 2)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("way", ["global", "local"])
@pytest.mark.parametrize("eps", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_is_that_of_algorithm_2(seed, eps, way):
    X, y = make(seed)
    model = XGBRegressor(**ONE, max_depth=3, proposals=way, sketch_eps=eps).fit(X, y)
    rules = XGBSettings(max_depth=3)
    book = grow_approximate(X, -y, np.ones(len(y)), eps, way, rules)
    assert model.trees_[0].n_leaves == sum(node.is_leaf for node in book.root)
    assert_allclose(model.predict(X), predict_tree_xgb(book.root, X), atol=1e-5)


@pytest.mark.parametrize("eps", [0.03, 0.1, 0.3])
def test_the_rank_bound_holds_strictly(eps):
    rng = np.random.default_rng(0)
    for _ in range(5):
        x, h = rng.normal(size=3000), rng.exponential(size=3000) ** 2
        schema, matrix = learn_schema(x[:, None])
        codes = proposed_bins(matrix, schema, h, eps).codes[0]
        steps = np.bincount(codes, h) / h.sum()  # from one cut to the next
        assert steps.max() < eps
        assert len(steps) <= 1.6 * len(propose_cuts(x, h, eps)) + 2


def test_global_is_once_for_every_tree_not_for_every_round():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=400), [-0.5, 1.5])
    ask = {"n_estimators": 4, "tree_method": "approx", "max_bin": 8}
    answers = {
        way: XGBClassifier(**ask, proposals=way).fit(X, y).predict_proba(X)
        for way in ("fit", "round", "global", "local")
    }
    ways = list(answers)
    for i, one in enumerate(ways):
        for other in ways[i + 1 :]:
            assert not np.allclose(answers[one], answers[other]), (one, other)
    two = y > 0  # one tree a round: once for the tree is once for the round
    same = [
        XGBClassifier(**ask, proposals=way).fit(X, two).predict_proba(X)
        for way in ("round", "global")
    ]
    assert_allclose(*same)


@pytest.mark.parametrize("way", ["global", "local"])
def test_words_samples_and_files(way, tmp_path):
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"a": rng.normal(size=500), "c": rng.choice(list("pqrst"), 500)})
    y = X["a"] + (X["c"].isin(["p", "t"])) * 2 + 0.1 * rng.normal(size=500)
    X.loc[::9, "c"] = None
    ask = {"proposals": way, "sketch_eps": 0.05, "subsample": 0.7, "colsample_bytree": 0.9}
    model = XGBRegressor(n_estimators=20, tree_method="approx", random_state=0, **ask).fit(X, y)
    assert model.score(X, y) > 0.9
    model.save(tmp_path / "model")
    again = arboretum.load(tmp_path / "model")
    assert np.array_equal(again.predict(X), model.predict(X))
    # the margins that boosting went by are those that the trees answer
    watched = XGBRegressor(n_estimators=5, tree_method="approx", random_state=0, **ask)
    watched.fit(X, y, eval_set=[(X, y)], verbose=False)
    rmse = np.sqrt(np.mean((watched.predict(X) - y) ** 2))
    assert watched.evals_result()["validation_0"]["rmse"][-1] == pytest.approx(rmse, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"proposals": "iteration"}, "'iteration' is now called 'round'"),
        ({"sketch_eps": 0.1, "max_bin": 9}, "give one of them"),
        ({"sketch_eps": 0.1, "tree_method": "hist"}, "needs tree_method='approx'"),
        ({"proposals": "local", "max_leaves": 4}, "does not support grow_policy"),
        ({"proposals": "local", "grow_policy": "symmetric"}, "does not support grow_policy"),
        ({"proposals": "local", "monotone_constraints": (1, 0, 0)}, "does not support monotone"),
        (
            {"proposals": "local", "interaction_constraints": [[0, 1]]},
            "does not support interaction",
        ),
    ],
)
def test_what_is_refused(options, message):
    X, y = make(0, 50)
    with pytest.raises(ParameterError, match=message):
        XGBRegressor(**{"tree_method": "approx", **options}).fit(X, y)
