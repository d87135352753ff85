"""Bad input of LightGBM's front door: one clear error each."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum import LGBMClassifier, LGBMRanker, LGBMRegressor, XGBRegressor
from arboretum.errors import DataError, LightGBMError, ModelFileError, ParameterError
from tests.boosting.lightgbm.lgbm_cases import groups, numbers, two_classes

X, Y = two_classes(n=120)
_, T = numbers(n=120)
NAN, INF = np.where(Y > 0, np.nan, 1.0), np.where(Y > 0, np.inf, 1.0)


def _nan(y, score):
    return score * np.nan, np.ones(len(y))


def _huge(y, score):
    return np.where(np.arange(len(y)) == 7, 1e300, score - y), np.ones(len(y))


def _short(y, score):
    return score[:3], score[:3]


# kind of model, its parameters, arguments of fit, error, message
PARAMETERS = {
    "leaves": ({"num_leaves": 1}, "'num_leaves' parameter of LGBMClassifier must be an int from 2"),
    "leaves of words": ({"num_leaves": "nine"}, "must be an int"),
    "no rounds": ({"n_estimators": 0}, "n_estimators"),
    "rate": ({"learning_rate": 0.0}, "learning_rate"),
    "bins": ({"max_bin": 1}, "max_bin"),
    "share": ({"subsample": 1.5}, "subsample"),
    "columns": ({"feature_fraction": 0.0}, "colsample_bytree"),
    "kind": ({"boosting_type": "gbtree"}, "'gbdt', 'gbrt', 'dart'"),
    "a forest of one tree": ({"boosting_type": "rf"}, "same tree again"),
    "goss and bags": (
        {"data_sample_strategy": "goss", "subsample": 0.5, "subsample_freq": 1}, "draws the rows",
    ),
    "goss of too many": ({"boosting_type": "goss", "top_rate": 0.95}, "at most 1"),
    "two layouts": ({"force_col_wise": True, "force_row_wise": True}, "exclude each other"),
    "monotone way": ({"monotone_constraints_method": "loose"}, "'basic'"),
    "monotone signs": ({"monotone_constraints": [1, 2, 0, 0, 0]}, "only -1, 0 and 1"),
    "monotone columns": ({"monotone_constraints": [1, 0]}, "2 signs for 5 columns"),
    "groups of columns": ({"interaction_constraints": [[0, 9]]}, "names column 9"),
    "objective": ({"objective": "binry"}, "did you mean 'binary'"),
    "objective of numbers": ({"objective": "regression"}, "does not predict classes"),
    "objective of xgboost": ({"objective": "binary:logistic"}, "name of xgboost"),
    "two weights": ({"is_unbalance": True, "scale_pos_weight": 2.0}, "not both"),
    "bags of lists": ({"bagging_by_query": True}, "LGBMRanker"),
    "classes": ({"class_weight": {7: 1.0}}, "names the classes 7"),
    "class weight": ({"class_weight": "even"}, "class_weight"),
    "metric": ({"metric": "aucc"}, "did you mean 'auc'"),
    "importance": ({"importance_type": "cover"}, "'split' or 'gain'"),
    "number of classes": ({"num_class": 4}, "num_class is 4"),
}  # fmt: skip


@pytest.mark.parametrize("case", PARAMETERS)
def test_parameters_that_cannot_be(case):
    given, message = PARAMETERS[case]
    with pytest.raises((ParameterError, DataError), match=message):
        LGBMClassifier(**{"n_estimators": 2} | given).fit(X, Y)


FITS = {
    "labels": (LGBMRegressor, {}, {"y": NAN}, "NaN"),
    "infinite labels": (LGBMRegressor, {}, {"y": INF}, "inf"),
    "too few labels": (LGBMRegressor, {}, {"y": T[:9]}, "9"),
    "two targets": (LGBMRegressor, {}, {"y": np.column_stack([T, T])}, "one target"),
    "labels of classes": (LGBMClassifier, {}, {"y": NAN}, "NaN"),
    "numbers as classes": (LGBMClassifier, {}, {"y": T}, "continuous"),
    "three classes": (
        LGBMClassifier, {"objective": "binary"}, {"y": np.arange(120) % 3}, "is for two classes",
    ),
    "weights": (LGBMRegressor, {}, {"sample_weight": NAN}, "sample_weight holds NaN"),
    "infinite weights": (LGBMClassifier, {}, {"sample_weight": INF}, "sample_weight holds inf"),
    "negative weights": (LGBMRegressor, {}, {"sample_weight": -np.ones(120)}, "sample_weight"),
    "few weights": (LGBMRegressor, {}, {"sample_weight": [1.0]}, "sample_weight"),
    "negative counts": (LGBMRegressor, {"objective": "poisson"}, {"y": T - 9}, "0 or more"),
    "a forest's scores": (
        LGBMRegressor, {"boosting_type": "rf", "colsample_bytree": 0.5}, {"init_score": T}, "init_score",
    ),
    "few scores": (LGBMRegressor, {}, {"init_score": T[:7]}, "shape"),
    "weights of no classes": (LGBMRegressor, {"class_weight": "balanced"}, {}, "no classes"),
    "objective of classes": (LGBMRegressor, {"objective": "multiclass"}, {}, "LGBMClassifier"),
    "objective of lists": (LGBMRegressor, {"objective": "lambdarank"}, {}, "LGBMRanker"),
    "NaN objective": (LGBMRegressor, {"objective": _nan}, {}, "NaN.*round 0.*rows 0"),
    "huge objective": (LGBMRegressor, {"objective": _huge}, {}, "round 0: row 7, first 1e\\+300"),
    "short objective": (LGBMRegressor, {"objective": _short}, {}, "has shape"),
    "level": (LGBMRegressor, {"objective": "quantile", "alpha": 1.5}, {}, "below 1"),
    "other columns": (LGBMRegressor, {}, {"eval_set": [(X[:, :2], T)]}, "valid_0 of eval_set"),
    "other classes": (LGBMClassifier, {}, {"eval_set": [(X, Y + 1)]}, "training labels do not have"),
    "no pairs": (LGBMClassifier, {}, {"eval_set": [X]}, "list of \\(X, y\\) pairs"),
    "names of tables": (
        LGBMClassifier, {}, {"eval_set": [(X, Y)], "eval_names": ["a", "b"]}, "eval_names",
    ),
    "same names": (
        LGBMClassifier, {}, {"eval_set": [(X, Y)] * 2, "eval_names": ["a", "a"]}, "must differ",
    ),
    "two ways": (LGBMClassifier, {}, {"eval_set": [(X, Y)], "eval_X": X}, "not both"),
    "half a table": (LGBMClassifier, {}, {"eval_X": X}, "eval_X and eval_y"),
    "metric": (LGBMClassifier, {}, {"eval_set": [(X, Y)], "eval_metric": "acu"}, "'auc'"),
    "metric of a number": (
        LGBMClassifier, {}, {"eval_set": [(X, Y)], "eval_metric": lambda y, p: 1.0}, "larger is better",
    ),
    "metric of one": (
        LGBMClassifier, {}, {"eval_set": [(X, Y)], "eval_metric": lambda y: 1.0}, "takes 1",
    ),
    "names": (LGBMClassifier, {}, {"feature_name": ["a"]}, "5 different names"),
    "categories": (LGBMClassifier, {}, {"categorical_feature": "kind"}, "'auto' or a list"),
    "unknown categories": (LGBMClassifier, {}, {"categorical_feature": ["kind"]}, "without feature names"),
    "constrained category": (
        LGBMClassifier, {"monotone_constraints": [1, 0, 0, 0, 0]}, {"categorical_feature": [0]},
        "only numbers",
    ),
    "earlier model": (LGBMClassifier, {}, {"init_model": 3}, "can continue from"),
    "earlier model of another kind": (
        LGBMRegressor, {}, {"init_model": XGBRegressor(n_estimators=1).fit(X, T)}, "of its own class",
    ),
    "bags of classes": (
        LGBMRegressor, {"pos_bagging_fraction": 0.5, "bagging_freq": 1}, {}, "need objective 'binary'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FITS)
def test_data_that_cannot_be(case):
    kind, given, asked, message = FITS[case]
    arguments = {"y": Y if kind is LGBMClassifier else T} | asked
    with pytest.raises((ParameterError, DataError), match=message):
        kind(n_estimators=2, **given).fit(X, **arguments)


def test_lists_that_cannot_be():
    A, y, sizes = groups()
    for asked, message in [
        ({}, "ranking needs groups"),
        ({"group": [10, 20]}, "add up to 600"),
        ({"group": sizes, "eval_set": [(A, y)]}, "eval_group"),
        ({"group": sizes, "eval_set": [(A, y)], "eval_group": [[1]]}, "add up to 600"),
    ]:
        with pytest.raises(DataError, match=message):
            LGBMRanker(n_estimators=2).fit(A, y, **asked)
    with pytest.raises(DataError, match="gains for labels"):
        LGBMRanker(label_gain=[0, 1]).fit(A, y, group=sizes)
    with pytest.raises(DataError, match="whole numbers"):
        LGBMRanker().fit(A, y + 0.5, group=sizes)
    with pytest.raises(ParameterError, match="lambdarank"):
        LGBMRanker(objective="binary").fit(A, y, group=sizes)


def test_questions_that_cannot_be():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = LGBMClassifier(n_estimators=2).fit(frame, Y)
    with pytest.raises(ParameterError, match="start_iteration"):
        model.predict(frame, start_iteration=1.5)
    with pytest.raises(ParameterError, match="num_iteration"):
        model.predict(frame, num_iteration="all")
    with pytest.raises(LightGBMError, match="Expected 'a' at position 0 but found 'e'"):
        model.predict(frame[list("edcba")], validate_features=True)
    assert issubclass(LightGBMError, DataError)
    assert np.array_equal(model.predict(frame[list("edcba")]), model.predict(frame))
    with pytest.raises(ParameterError, match="importance_type"):
        model.booster_.feature_importance("cover")
    with pytest.raises(Exception, match="not fitted"):
        LGBMClassifier().predict(X)


def test_a_failed_fit_leaves_the_last_model_whole():
    model = LGBMClassifier(n_estimators=2).fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(DataError):
        model.fit(X, Y, sample_weight=NAN)
    assert np.array_equal(model.predict_proba(X), before)


def test_damaged_files_are_refused(tmp_path):
    import arboretum

    path = tmp_path / "model.arb"
    LGBMClassifier(n_estimators=2).fit(X, Y).save(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ModelFileError):
        arboretum.load(path)
