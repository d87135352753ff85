"""`booster_`: trees as dicts and tables, single leaves, other values for the same trees."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from arboretum import LGBMClassifier, LGBMRanker, LGBMRegressor, ParameterError
from tests.boosting.lightgbm.lgbm_cases import groups, numbers, two_classes

X, Y = two_classes()
A, B = numbers()


def _value(node, row):
    while "leaf_value" not in node:
        left = row[node["split_feature"]] <= node["threshold"]
        node = node["left_child" if left else "right_child"]
    return node["leaf_value"]


@pytest.mark.parametrize("given", [{}, {"boosting_type": "dart"}])
def test_the_dumped_trees_predict(given):
    model = LGBMRegressor(n_estimators=6, **given).fit(A, B)
    dumped = json.loads(json.dumps(model.booster_.dump_model()))
    trees = [one["tree_structure"] for one in dumped["tree_info"]]
    found = [sum(_value(tree, row) for tree in trees) for row in A[:50]]
    np.testing.assert_allclose(found, model.predict(A[:50]))
    assert dumped["feature_names"] == model.feature_name_
    assert dumped["objective"] == "regression"
    part = model.booster_.dump_model(num_iteration=2, start_iteration=3, importance_type="gain")
    assert [tree["tree_index"] for tree in part["tree_info"]] == [3, 4]
    leaves = model.booster_.trees_to_dataframe().query("left_child.isnull()")
    assert [t["num_leaves"] for t in dumped["tree_info"]] == leaves.groupby(
        "tree_index"
    ).size().tolist()


def test_the_form_is_lightgbm_s():
    theirs = pytest.importorskip("lightgbm")
    ours, other = (
        kind(n_estimators=2, verbose=-1).fit(A, B).booster_.dump_model()
        for kind in (LGBMRegressor, theirs.LGBMRegressor)
    )
    assert set(ours) <= set(other)
    tree, wanted = ours["tree_info"][0], other["tree_info"][0]
    assert set(tree) <= set(wanted)
    node, wanted = tree["tree_structure"], wanted["tree_structure"]
    assert set(node) == set(wanted)
    for key in ("split_feature", "decision_type", "default_left", "missing_type", "internal_count"):
        assert node[key] == wanted[key]


def test_single_leaves_and_thresholds():
    booster = LGBMRegressor(n_estimators=3, num_leaves=5).fit(A, B).booster_
    table = booster.trees_to_dataframe().set_index("node_index")
    assert booster.get_leaf_output(2, 4) == table.loc["2-L4", "value"]
    with pytest.raises(ParameterError, match="has leaves 0 to 4"):
        booster.get_leaf_output(2, 5)
    cuts = table.query("split_feature == 'Column_0'")["threshold"].to_numpy(float)
    counts, edges = booster.get_split_value_histogram("Column_0")
    assert (counts.sum(), len(counts)) == (len(cuts), len(np.unique(cuts)))
    assert (edges[0], edges[-1]) == (cuts.min(), cuts.max())
    assert len(booster.get_split_value_histogram(0, bins=2)[0]) == 2
    styled = booster.get_split_value_histogram(0, xgboost_style=True)
    assert styled["Count"].tolist() == counts[counts > 0].tolist()
    assert booster.params["num_leaves"] == 5


def test_a_category_has_no_thresholds():
    kind = np.arange(len(B)) % 7
    model = LGBMRegressor(n_estimators=1, min_data_per_group=5)
    model.fit(np.column_stack([kind, A]), np.sin(kind), categorical_feature=[0])
    assert model.booster_.pandas_categorical == [list(range(7))]
    with pytest.raises(ParameterError, match="no thresholds"):
        model.booster_.get_split_value_histogram(0)


def test_a_missing_name_says_what_to_use():
    booster = LGBMRegressor(n_estimators=1).fit(A, B).booster_
    with pytest.raises(AttributeError, match=r"no model_to_string: .*dump_model"):
        booster.model_to_string()
    with pytest.raises(AttributeError, match=r"no update: .*init_model"):
        booster.update()
    with pytest.raises(AttributeError, match=r"booster_ has no anything$"):
        booster.anything
    assert copy.deepcopy(booster).num_trees() == 1


# ---------------------------------------------------------------------- other values
THREE = np.digitize(B, [0, 2])
REFITS = {
    "numbers": (LGBMRegressor, B, {}),
    "penalties": (LGBMRegressor, B, {"reg_alpha": 0.5, "reg_lambda": 3.0, "path_smooth": 4.0}),
    "small steps": (LGBMRegressor, B, {"max_delta_step": 0.2}),
    "medians": (LGBMRegressor, B, {"objective": "l1"}),
    "several classes": (LGBMClassifier, THREE, {}),
}


@pytest.mark.parametrize("case", REFITS)
def test_the_rows_of_the_fit_give_the_same_model(case):
    kind, y, given = REFITS[case]
    model = kind(n_estimators=8, **given).fit(A, y)
    score = model.predict(A, raw_score=True)
    for decay in (0.0, 0.5, 1.0):
        again = model.booster_.refit(A, y, decay_rate=decay)
        np.testing.assert_allclose(again.predict(A, raw_score=True), score, atol=1e-5)
    np.testing.assert_array_equal(model.predict(A, raw_score=True), score)


def test_other_rows_move_the_values_as_lightgbm_moves_them():
    theirs = pytest.importorskip("lightgbm")
    found = []
    for kind in (LGBMRegressor, theirs.LGBMRegressor):
        model = kind(n_estimators=8, boost_from_average=False, verbose=-1).fit(A, B)
        again = model.booster_.refit(A[:150], B[:150] + 3, decay_rate=0.6)
        found += [model.predict(A), again.predict(A)]
    np.testing.assert_allclose(found[0], found[2], atol=1e-5)  # the same trees
    np.testing.assert_allclose(found[1], found[3], atol=1e-5)
    assert np.abs(found[0] - found[1]).mean() > 0.3


def test_weights_groups_and_scores_of_a_refit_count():
    booster = LGBMRegressor(n_estimators=5).fit(A, B).booster_
    plain = booster.refit(A, B + 1).predict(A)
    weight = np.linspace(0.1, 2, len(B))
    assert not np.allclose(booster.refit(A, B + 1, weight=weight).predict(A), plain)
    assert not np.allclose(booster.refit(A, B + 1, init_score=B).predict(A), plain)
    R, y, sizes = groups()
    ranker = LGBMRanker(n_estimators=5).fit(R, y, group=sizes).booster_
    again = ranker.refit(R, y, decay_rate=0.0, group=sizes)
    np.testing.assert_allclose(again.predict(R), ranker.predict(R), atol=1e-5)
    assert not np.allclose(ranker.refit(R, y, decay_rate=0.0).predict(R), ranker.predict(R))
    with pytest.raises(ParameterError, match="decay_rate"):
        booster.refit(A, B, decay_rate=1.5)


def test_a_forest_is_refitted_from_one_start():
    given = {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1, "n_estimators": 5}
    model = LGBMRegressor(**given).fit(A, B)
    again = model.booster_.refit(A, B + 10, decay_rate=0.0)
    np.testing.assert_allclose(again.predict(A).mean(), B.mean() + 10, atol=0.1)
