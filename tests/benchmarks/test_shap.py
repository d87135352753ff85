"""The SHAP benchmark asks everybody about the same trees."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import shap as benchmark
from benchmarks.foreign_trees import ensemble_of_forest, ensemble_of_lightgbm, ensemble_of_xgboost
from benchmarks.harness import Options, Unavailable

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4)).astype(np.float32).astype(float)
X[RNG.random(X.shape) < 0.1] = np.nan
Y = np.nan_to_num(X) @ [1.0, 2.0, 0.0, 1.0]


def test_foreign_trees_answer_as_at_home():
    from arboretum.data.matrix import DenseMatrix

    lightgbm = pytest.importorskip("lightgbm")
    xgboost = pytest.importorskip("xgboost")
    from sklearn.ensemble import RandomForestRegressor

    matrix = DenseMatrix(X)
    light = lightgbm.train({"verbose": -1, "min_data_in_leaf": 5}, lightgbm.Dataset(X, Y), 3)
    found = ensemble_of_lightgbm(light).answers(matrix)[:, 0]
    np.testing.assert_allclose(found, light.predict(X), rtol=1e-12)
    extreme = xgboost.train({"base_score": 0.0}, xgboost.DMatrix(X, Y), 3)
    found = ensemble_of_xgboost(extreme).answers(matrix)[:, 0]
    np.testing.assert_allclose(found, extreme.predict(xgboost.DMatrix(X)), atol=1e-5)
    forest = RandomForestRegressor(3, random_state=0).fit(X, Y)
    found = ensemble_of_forest(forest).answers(matrix)[:, 0, 0]
    np.testing.assert_allclose(found, forest.predict(X), rtol=1e-12)


def test_contenders_take_turns(monkeypatch):
    monkeypatch.setattr(benchmark, "_QUICK_ROWS", 50)
    asked = []

    def contenders(train, X, jobs, facts):
        facts["size"] = 2.0
        for label, rows in (("arboretum", 50), ("peer", 20)):
            yield benchmark.Ask(
                label, rows, lambda some, label=label: asked.append((label, len(some)))
            )

    found = benchmark.ShapExperiment("x", "two", contenders).measure(
        Options(quick=True, repeat=2), lambda what: None
    )
    assert asked == [*[("arboretum", 50), ("peer", 20)] * 3, ("arboretum", 50)]  # once for memory
    assert [line["contender"] for line in found.lines] == ["arboretum", "peer"]
    assert all(line["nanoseconds"] > 0 for line in found.lines)
    assert found.facts["size"] == 2.0
    assert found.facts["arboretum, 50 rows: memory, MB"] >= 0.0


def test_a_peer_that_is_not_there_is_told():
    lacking = benchmark.ShapExperiment("x", "none", lambda *args: iter(()), ("no_such_package",))
    with pytest.raises(Unavailable, match="no_such_package"):
        lacking.measure(Options(quick=True), lambda what: None)


def test_there_is_an_experiment_for_every_target():
    names = {"leaves", "depth", "background", "pairs", "forest", "purity", "catboost"}
    assert set(benchmark.experiments(2)) == names
