"""`get_booster()`: what scripts call on it, beside XGBoost's own."""

import json

import numpy as np
import pandas as pd
import pytest

from arboretum import ParameterError, XGBClassifier, XGBRegressor
from arboretum.errors import ModelFileError
from tests.boosting.xgboost.xgb_cases import halves, mixed, numbers, thirds

HOW = {"n_estimators": 5, "max_depth": 3, "tree_method": "exact", "min_child_weight": 5.0}
X, Y = numbers(300)
FRAME = pd.DataFrame(X, columns=list("abcde"))


@pytest.fixture
def both():
    peer = pytest.importorskip("xgboost")
    ours = XGBRegressor(**HOW).fit(FRAME, Y, eval_set=[(FRAME, Y)], verbose=False)
    theirs = peer.XGBRegressor(n_jobs=1, **HOW).fit(FRAME, Y, eval_set=[(FRAME, Y)], verbose=False)
    return ours.get_booster(), theirs.get_booster()


def _splits(text):
    """Return the columns of a dump's splits, and its lines without numbers."""
    return [line.strip().partition("<")[0].partition("[")[2] for line in text.splitlines()]


def test_dumps_are_in_the_words_of_xgboost(both):
    ours, theirs = both
    for mine, other in zip(ours.get_dump(), theirs.get_dump(), strict=True):
        assert sorted(_splits(mine)) == sorted(_splits(other))
        assert "<=" not in mine
    mine, other = (json.loads(one.get_dump("", True, "json")[0]) for one in both)
    assert set(mine) == set(other)
    assert mine["gain"] == pytest.approx(other["gain"], rel=1e-3)
    mine, other = (one.get_dump(dump_format="dot")[0] for one in both)
    assert mine.count("->") == other.count("->")
    assert mine.count('label="yes, missing"') == other.count('label="yes, missing"')
    with pytest.raises(ParameterError, match="dump_format"):
        ours.get_dump(dump_format="xml")


def test_a_dump_is_written_as_xgboost_writes_it(both, tmp_path):
    for form in ("text", "json"):
        for one, name in zip(both, ("ours", "theirs"), strict=True):
            one.dump_model(str(tmp_path / name), dump_format=form)
        mine, other = ((tmp_path / name).read_text() for name in ("ours", "theirs"))
        if form == "json":
            assert len(json.loads(mine)) == len(json.loads(other))
        else:
            heads = [line for line in other.splitlines() if line.startswith("booster")]
            assert [line for line in mine.splitlines() if line.startswith("booster")] == heads


def test_names_come_from_the_table_a_file_or_the_user(both, tmp_path):
    ours, theirs = both
    assert ours.get_fscore() == pytest.approx(theirs.get_fscore())
    fmap = tmp_path / "names.txt"
    fmap.write_text("".join(f"{k}\tcolumn{k}\tq\n" for k in range(5)))
    assert ours.get_score(str(fmap), "gain") == pytest.approx(
        theirs.get_score(str(fmap), "gain"), rel=1e-3
    )
    assert ours.get_dump(str(fmap))[0].startswith("0:[column")
    with pytest.raises(ParameterError, match="fmap"):
        ours.get_score("gain")
    ours.feature_names = list("vwxyz")
    assert set(ours.get_fscore()) <= set("vwxyz")
    assert ours.model.get_booster().feature_names == list("vwxyz")
    with pytest.raises(ParameterError, match="2 feature_names"):
        ours.feature_names = ["a", "b"]
    ours.feature_names = None
    assert ours.feature_names == list("abcde")


def test_kinds_of_columns():
    x, y = mixed()
    assert XGBRegressor(n_estimators=1).fit(X, Y).get_booster().feature_types is None
    booster = XGBRegressor(n_estimators=1).fit(x, y).get_booster()
    assert booster.feature_types == ["c", "c", "float"]
    given = XGBRegressor(n_estimators=1, feature_types=["q"] * 5).fit(X, Y)
    assert given.get_booster().feature_types == ["q"] * 5


def test_histograms_of_splits(both):
    for bins in (None, 3):
        mine, other = (one.get_split_value_histogram("a", bins=bins) for one in both)
        np.testing.assert_array_equal(mine["Count"], other["Count"])
        np.testing.assert_allclose(mine["SplitValue"], other["SplitValue"], atol=0.1)
    assert both[0].get_split_value_histogram("none", as_pandas=False).shape == (0, 2)
    x, y = mixed()
    booster = XGBRegressor(n_estimators=3).fit(x, y).get_booster()
    words = next(name for name, kind in zip(x, booster.feature_types, strict=True) if kind == "c")
    with pytest.raises(ParameterError, match="doesn't"):
        booster.get_split_value_histogram(words)


def test_slices_are_boosters_of_some_rounds(both):
    ours, theirs = both
    assert len(ours) == ours.num_boosted_rounds() == 5
    for part in (slice(0, 2), slice(2, 4), slice(None)):
        np.testing.assert_allclose(
            ours[part].inplace_predict(FRAME), theirs[part].inplace_predict(FRAME), rtol=1e-4
        )
    assert [len(one) for one in ours] == [1] * 5
    np.testing.assert_array_equal(ours[-1].predict(X), ours[4].predict(X))
    np.testing.assert_array_equal(ours.copy().predict(X), ours.predict(X))
    with pytest.raises(IndexError):
        ours[5]
    with pytest.raises(ParameterError, match="slice"):
        ours[::2]


def test_texts_stay_with_the_model(tmp_path):
    model = XGBRegressor(n_estimators=9, early_stopping_rounds=2, learning_rate=1.0)
    model.fit(X, Y, eval_set=[(X[:50], Y[::-1][:50])], verbose=False)
    booster = model.get_booster()
    booster.set_attr(author="me", other=1)
    booster.set_attr(other=None)
    found = booster.attributes()
    assert found["author"] == booster.attr("author") == "me"
    assert booster.attr("other") is None
    assert int(found["best_iteration"]) == model.best_iteration == booster.best_iteration
    assert float(found["best_score"]) == booster.best_score
    model.save_model(tmp_path / "model.arb")
    again = XGBRegressor()
    again.load_model(tmp_path / "model.arb")
    assert again.get_booster().attributes() == found
    assert model.fit(X, Y, eval_set=[(X, Y)], verbose=False).get_booster().attr("author") is None


def test_the_configuration_has_the_names_of_xgboost(both):
    mine, other = (json.loads(one.save_config())["learner"] for one in both)
    for group in ("learner_model_param", "generic_param", "gradient_booster", "objective"):
        assert set(mine[group]) & set(other[group])
    assert set(mine["learner_model_param"]) <= set(other["learner_model_param"])
    tree = "tree_train_param"
    assert (
        mine["gradient_booster"][tree]["max_depth"] == other["gradient_booster"][tree]["max_depth"]
    )
    starts = [json.loads(one["learner_model_param"]["base_score"]) for one in (mine, other)]
    np.testing.assert_allclose(*starts, rtol=1e-6)


@pytest.mark.parametrize("labels", [Y, halves(Y), thirds(Y)])
def test_the_intercept_is_that_of_xgboost(labels):
    peer = pytest.importorskip("xgboost")
    kind = "Regressor" if labels is Y else "Classifier"
    ours = {"Regressor": XGBRegressor, "Classifier": XGBClassifier}[kind](n_estimators=2)
    theirs = getattr(peer, f"XGB{kind}")(n_estimators=2)
    found = ours.fit(X, labels).intercept_
    np.testing.assert_allclose(found, theirs.fit(X, labels).intercept_, rtol=1e-5, atol=1e-6)
    assert found.dtype == np.float32
    with pytest.raises(AttributeError, match="no coefficients"):
        _ = ours.coef_


def test_shapes_and_margins_of_predictions(both):
    ours, _ = both
    sums = ours.inplace_predict(FRAME, predict_type="margin")
    np.testing.assert_array_equal(sums, ours.predict(FRAME, output_margin=True))
    assert ours.predict(FRAME, strict_shape=True).shape == (300, 1)
    assert ours.predict(FRAME, strict_shape=True, pred_leaf=True).shape == (300, 5, 1, 1)
    assert ours.predict(FRAME, strict_shape=True, pred_contribs=True).shape == (300, 1, 6)
    moved = ours.inplace_predict(FRAME, base_margin=np.full(300, 7.0)) - sums
    assert np.allclose(moved, 7.0 - ours.model.intercept_[0], rtol=1e-5)
    with pytest.raises(ParameterError, match="predict_type"):
        ours.inplace_predict(FRAME, predict_type="leaf")


def test_a_dmatrix_of_xgboost_is_read(both):
    peer = pytest.importorskip("xgboost")
    ours, theirs = both
    data = peer.DMatrix(FRAME.astype("f4").astype(float), Y, base_margin=Y / 2)
    np.testing.assert_allclose(ours.predict(data), theirs.predict(data), rtol=1e-4)
    mine, other = ours.eval(data, "held"), theirs.eval(data, "held")
    assert mine.partition(":")[0] == other.partition(":")[0] == "[0]\theld-rmse"
    assert float(mine.partition(":")[2]) == pytest.approx(float(other.partition(":")[2]), rel=1e-4)


def test_parameters_are_set_on_the_estimator(both):
    ours, _ = both
    ours.set_param({"max_depth": 2})
    ours.set_param("eta", 0.1)
    assert (ours.model.max_depth, ours.model.learning_rate) == (2, 0.1)


def test_what_is_missing_says_what_to_use(both, tmp_path):
    ours, theirs = both
    with pytest.raises(AttributeError, match="use save_model"):
        ours.save_raw()
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        _ = ours.nonsense
    with pytest.raises(AttributeError, match="early stopping is used"):
        _ = ours.best_iteration
    theirs.save_model(tmp_path / "theirs.json")
    with pytest.raises(ModelFileError, match="files of XGBoost cannot be read"):
        XGBRegressor().load_model(tmp_path / "theirs.json")
    with pytest.warns(UserWarning, match="arboretum's own format"):
        ours.save_model(str(tmp_path / "ours.json"))
    with pytest.raises(TypeError, match="holds a XGBRegressor"):
        XGBClassifier().load_model(tmp_path / "ours.json")


def test_parameters_for_train():
    model = XGBClassifier(max_depth=3, random_state=np.random.RandomState(0), objective=print)
    found = model.get_xgb_params()
    assert found["max_depth"] == 3
    assert isinstance(found["random_state"], int)
    assert not {"n_estimators", "callbacks", "objective", "unseen", "missing"} & set(found)
    peer = pytest.importorskip("xgboost")
    assert set(peer.XGBClassifier().get_xgb_params()) - {"objective"} <= set(found)


def test_arguments_without_names_are_taken_with_a_warning():
    weight = np.linspace(0.5, 2.0, len(Y))
    named = XGBRegressor(n_estimators=3).fit(X, Y, sample_weight=weight)
    with pytest.warns(FutureWarning, match="sample_weight"):
        placed = XGBRegressor(n_estimators=3).fit(X, Y, weight)
    np.testing.assert_array_equal(named.predict(X), placed.predict(X))
    with pytest.warns(FutureWarning, match="objective"):
        assert XGBRegressor("reg:gamma").objective == "reg:gamma"
