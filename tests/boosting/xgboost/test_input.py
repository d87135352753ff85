"""What XGBoost's front door refuses, in one clear error each."""

import numpy as np
import pandas as pd
import pytest

from arboretum import XGBClassifier, XGBRanker, XGBRegressor, XGBRFRegressor
from arboretum.errors import ArboretumError, DataError, ParameterError
from tests.boosting.xgboost.xgb_cases import halves, mixed, numbers, thirds

X, Y = numbers(60, missing=0.0)
NAN = np.where(np.arange(60) == 7, np.nan, Y)
INF = np.where(np.arange(60) == 7, np.inf, Y)


def _fit(model, x=X, y=Y, **arguments):
    return model.set_params(n_estimators=2).fit(x, y, **arguments)


def _gradient(value, large=1.0):
    def objective(y, margin):
        g = (margin - y) * large
        g[[3, 5]] = value
        return g, np.ones_like(y)

    return objective


BAD = {
    # labels and weights
    "NaN label": (lambda: _fit(XGBRegressor(), y=NAN), "row 7"),
    "infinite label": (lambda: _fit(XGBRegressor(), y=INF), "row 7"),
    "NaN class": (lambda: _fit(XGBClassifier(), y=NAN), "row 7"),
    "fractions as classes": (lambda: _fit(XGBClassifier()), "fractions"),
    "words as numbers": (lambda: _fit(XGBRegressor(), y=["a"] * 60), "strings"),
    "two targets, three quantiles": (
        lambda: _fit(
            XGBRegressor(objective="reg:quantileerror", quantile_alpha=[0.1, 0.5]), y=np.c_[Y, Y]
        ), "one target"),
    "two columns of three classes": (lambda: _fit(XGBClassifier(), y=np.c_[thirds(Y), thirds(Y)]), "0 and 1"),
    "an eval_set of one target": (
        lambda: _fit(XGBRegressor(), y=np.c_[Y, Y], eval_set=[(X, Y)]), "targets"),
    "NaN weight": (lambda: _fit(XGBRegressor(), sample_weight=NAN), "sample_weight holds NaN"),
    "negative weight": (lambda: _fit(XGBRegressor(), sample_weight=-np.ones(60)), "Negative values"),
    "no weight at all": (lambda: _fit(XGBRegressor(), sample_weight=np.zeros(60)), "zero in every"),
    "few weights": (lambda: _fit(XGBRegressor(), sample_weight=[1.0]), "one per row"),
    "few labels": (lambda: _fit(XGBRegressor(), y=Y[:9]), "inconsistent"),
    # the table
    "infinite value": (lambda: _fit(XGBRegressor(), x=np.where(X == 3, np.inf, X)), "infinite"),
    "no rows": (lambda: _fit(XGBRegressor(), x=X[:0], y=Y[:0]), "0 sample"),
    # margins
    "few margins": (lambda: _fit(XGBRegressor(), base_margin=[0.0]), "base margins have shape"),
    "NaN margins": (lambda: _fit(XGBRegressor(), base_margin=NAN), "finite"),
    "words as margins": (lambda: _fit(XGBRegressor(), base_margin=["a"] * 60), "numbers"),
    # objective and labels
    "unknown objective": (
        lambda: _fit(XGBRegressor(objective="reg:squareerror")), "did you mean 'reg:squarederror'"),
    "classes' objective": (lambda: _fit(XGBRegressor(objective="multi:softprob")), "XGBClassifier"),
    "orders' objective": (lambda: _fit(XGBRegressor(objective="rank:ndcg")), "XGBRanker"),
    "numbers' objective": (
        lambda: _fit(XGBClassifier(objective="reg:gamma"), y=halves(Y)), "does not predict classes"),
    "hinge of three": (
        lambda: _fit(XGBClassifier(objective="binary:hinge"), y=thirds(Y)), "two classes"),
    "gamma of negatives": (lambda: _fit(XGBRegressor(objective="reg:gamma")), "0 or more"),
    "counts of negatives": (lambda: _fit(XGBRegressor(objective="count:poisson")), "0 or more"),
    "logistic of numbers": (lambda: _fit(XGBRegressor(objective="reg:logistic")), "from 0 to 1"),
    "quantile of none": (
        lambda: _fit(XGBRegressor(objective="reg:quantileerror")), "needs quantile_alpha"),
    "a share for a start": (
        lambda: _fit(XGBClassifier(base_score=1.5), y=halves(Y)), "probability"),
    "two starts": (lambda: _fit(XGBRegressor(base_score=[1.0, 2.0])), "2 numbers"),
    # functions
    "NaN gradient": (
        lambda: _fit(XGBRegressor(objective=_gradient(np.nan))), "round 0: rows 3, 5"),
    "overflowing gradient": (
        lambda: _fit(XGBRegressor(objective=_gradient(1e300))), "too large for float32"),
    "negative hessian": (
        lambda: _fit(XGBRegressor(objective=lambda y, f: (f - y, y * 0 - 1))),
        "negative hessian in round 0",
    ),
    "half an answer": (
        lambda: _fit(XGBRegressor(objective=lambda y, f: f - y)), "two arrays|gradient and hessian"),
    "a metric of words": (
        lambda: _fit(XGBRegressor(eval_metric=lambda y, p: "bad"), eval_set=[(X, Y)]), "a number"),
    "unknown metric": (
        lambda: _fit(XGBRegressor(eval_metric="rsme"), eval_set=[(X, Y)]), "did you mean 'rmse'"),
    # tables to judge by
    "other columns": (
        lambda: _fit(XGBRegressor(), eval_set=[(X, Y), (X[:, :3], Y)]), "validation_1 of eval_set: X has 3"),
    "other names": (
        lambda: _fit(XGBRegressor(), *mixed(), eval_set=[(mixed()[0].rename(columns={"age": "ages"}), Y)]),
        "did you mean 'ages'"),
    "other classes": (
        lambda: _fit(XGBClassifier(), y=halves(Y), eval_set=[(X, thirds(Y))]), "classes that the training"),
    "NaN labels to judge by": (lambda: _fit(XGBRegressor(), eval_set=[(X, NAN)]), "validation_0"),
    "no pairs": (lambda: _fit(XGBRegressor(), eval_set=(X, Y)), "pairs"),
    "weights of no table": (lambda: _fit(XGBRegressor(), sample_weight_eval_set=[Y]), "no eval_set"),
    "two weights of one table": (
        lambda: _fit(XGBRegressor(), eval_set=[(X, Y)], sample_weight_eval_set=[Y, Y]), "2 entries for 1"),
    "stopping by nothing": (lambda: _fit(XGBRegressor(early_stopping_rounds=3)), "give eval_set"),
    # groups
    "no groups": (lambda: _fit(XGBRanker(), y=thirds(Y)), "needs groups"),
    "groups of other rows": (lambda: _fit(XGBRanker(), y=thirds(Y), group=[30, 29]), "59|sum"),
    "groups torn apart": (
        lambda: _fit(XGBRanker(), y=thirds(Y), qid=np.arange(60) % 7), "together"),
    "both": (lambda: _fit(XGBRanker(), y=thirds(Y), qid=np.ones(60), group=[60]), "one of them"),
    "table without groups": (
        lambda: _fit(XGBRanker(), y=thirds(Y), group=[60], eval_set=[(X, thirds(Y))]), "eval_group"),
    "negative grades": (lambda: _fit(XGBRanker(), y=-thirds(Y), group=[60]), "0 or more"),
    # constraints
    "sign": (lambda: _fit(XGBRegressor(monotone_constraints=(2, 0))), "-1, 0 and 1"),
    "too many signs": (lambda: _fit(XGBRegressor(monotone_constraints=[0] * 9)), "9 signs for 5"),
    "sign of a category": (
        lambda: _fit(XGBRegressor(monotone_constraints={"city": 1}), *mixed()), "a category"),
    "unknown column": (
        lambda: _fit(XGBRegressor(interaction_constraints=[["a"]])), "does not have"),
    "column beyond": (lambda: _fit(XGBRegressor(interaction_constraints=[[9]])), "5 columns"),
    "no list of groups": (lambda: _fit(XGBRegressor(interaction_constraints=[1, 2])), "lists"),
    # methods
    "exact categories": (lambda: _fit(XGBRegressor(tree_method="exact"), *mixed()), "categories"),
    "exact leaves": (lambda: _fit(XGBRegressor(tree_method="exact", max_leaves=4)), "level by level"),
    "endless trees": (
        lambda: _fit(XGBRegressor(grow_policy="lossguide", max_depth=0)), "needs a limit"),
    "exact levels": (
        lambda: _fit(XGBRegressor(tree_method="exact", grow_policy="symmetric")), "use 'hist'"),
    "endless levels": (
        lambda: _fit(XGBRegressor(grow_policy="symmetric", max_depth=0)), "whole levels"),
    "leaves of levels": (
        lambda: _fit(XGBRegressor(grow_policy="symmetric", max_leaves=9)), "no max_leaves"),
    "kinds": (lambda: _fit(XGBRegressor(feature_types=["x"] * 5)), "feature_types"),
    "weights of columns": (
        lambda: _fit(XGBRegressor(feature_weights=[1] * 5), feature_weights=[1] * 5), "Use the one in"),
    "too few weights of columns": (lambda: _fit(XGBRegressor(feature_weights=[1.0])), "each of the 5"),
    "negative weights of columns": (
        lambda: _fit(XGBRegressor(feature_weights=[1, 1, 1, 1, -1])), "0 or more"),
    "words as weights of columns": (lambda: _fit(XGBRegressor(feature_weights="heavy")), "hold numbers"),
    "weights of columns of nodes": (
        lambda: _fit(XGBRegressor(colsample_bynode=0.5), feature_weights=[1] * 5), "colsample_bytree"),
    "stopping a forest": (
        lambda: _fit(XGBRFRegressor(early_stopping_rounds=2), eval_set=[(X, Y)]), "in one round"),
    # going on
    "going on from nothing": (lambda: _fit(XGBRegressor(), xgb_model=XGBRegressor()), "can continue from"),
    "going on with other outputs": (
        lambda: _fit(
            XGBClassifier(), y=halves(Y),
            xgb_model=_fit(XGBRegressor())), "from a classifier"),
    "going on with other trees": (
        lambda: _fit(XGBRegressor(num_parallel_tree=2), xgb_model=_fit(XGBRegressor())), "parallel"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_one_clear_error(case):
    run, words = BAD[case]
    with pytest.raises(ArboretumError, match=words) as caught:
        run()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


# ---------------------------------------------------------------------- parameters
RANGES = {
    "unseen": ["skip", None],
    "n_estimators": [0, 1.5, "many"],
    "max_depth": [-1, 2.5],
    "max_leaves": [-1],
    "max_bin": [1, 70_000],
    "grow_policy": ["deep"],
    "learning_rate": [-0.1, "fast"],
    "verbosity": [4, -1],
    "objective": [3],
    "booster": ["gblinear", "tree"],
    "tree_method": ["gpu"],
    "n_jobs": [0, "all"],
    "gamma": [-1],
    "min_child_weight": [-1],
    "max_delta_step": [-1],
    "subsample": [0, 1.5],
    "sampling_method": ["gradient_based"],
    "colsample_bytree": [0, 1.1],
    "colsample_bylevel": [0],
    "colsample_bynode": [0],
    "reg_alpha": [-1],
    "reg_lambda": [-1],
    "scale_pos_weight": [0],
    "base_score": ["half"],
    "random_state": [-1, "seed"],
    "missing": ["none"],
    "num_parallel_tree": [0],
    "importance_type": ["split"],
    "device": ["tpu"],
    "validate_parameters": ["no"],
    "enable_categorical": ["yes"],
    "feature_types": ["q"],
    "max_cat_to_onehot": [0],
    "max_cat_threshold": [0],
    "multi_strategy": ["multi_output_tree"],
    "eval_metric": [3],
    "early_stopping_rounds": [0],
    "callbacks": [print],
    "rate_drop": [1.5],
    "skip_drop": [-1],
    "one_drop": [2],
    "sample_type": ["all"],
    "normalize_type": ["none"],
    "huber_slope": [0],
    "tweedie_variance_power": [2.0],
    "lambdarank_pair_method": ["all"],
    "lambdarank_num_pair_per_sample": [0],
    "lambdarank_normalization": [1],
    "lambdarank_score_normalization": [1],
    "lambdarank_unbiased": [True],
    "ndcg_exp_gain": [1],
    "proposals": ["iteration", "tree"],
    "sketch_eps": [0, 1, "small"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(n, v) for n, values in RANGES.items() for v in values]
)
def test_values_out_of_range_are_refused_at_fit(name, value):
    model = XGBRegressor(**{name: value})  # scikit-learn: not before
    with pytest.raises(ParameterError, match=f"'{name}' parameter of XGBRegressor must be"):
        model.fit(X, Y)


def test_every_parameter_has_a_rule():
    with_table = {
        *("monotone_constraints", "interaction_constraints", "quantile_alpha"),
        *("categorical_features", "ordinal_features", "feature_weights"),
    }
    assert set(XGBRegressor().get_params()) == set(RANGES) | with_table
    with pytest.raises(ParameterError, match="quantile_alpha"):
        _fit(XGBRegressor(objective="reg:quantileerror", quantile_alpha=1.5))


def test_unknown_names_give_a_warning_with_a_suggestion():
    for make in (XGBClassifier, XGBRegressor, XGBRanker):
        with pytest.warns(UserWarning, match=r"max_dept has no effect.*did you mean 'max_depth'"):
            assert make(max_dept=3).get_params() == make().get_params()
        with pytest.warns(UserWarning, match="did you mean 'learning_rate'"):
            make().set_params(learning_rat=0.1)


def test_other_names_of_parameters():
    model = XGBRegressor(eta=0.1, alpha=2, nthread=1, seed=5, min_split_loss=1, **{"lambda": 3})
    assert (model.learning_rate, model.reg_alpha, model.n_jobs) == (0.1, 2, 1)
    assert (model.random_state, model.gamma, model.reg_lambda) == (5, 1, 3)
    assert model.set_params(eta=0.5).learning_rate == 0.5
    same = XGBRegressor(
        learning_rate=0.5, reg_alpha=2, n_jobs=1, random_state=5, gamma=1, reg_lambda=3
    )
    assert np.array_equal(_fit(model).predict(X), _fit(same).predict(X))
    with pytest.raises(
        ParameterError, match="learning_rate and eta of XGBRegressor are one parameter"
    ):
        XGBRegressor(learning_rate=0.1, eta=0.2)
    assert XGBRegressor(learning_rate=0.1, eta=0.1).learning_rate == 0.1


def test_ranges_of_rounds_lie_within_the_model():
    model = _fit(XGBRegressor())
    for asked in ((0, 3), (2, 2), (-1, 1), (0.0, 1), (1,)):
        with pytest.raises(ParameterError, match="iteration_range"):
            model.predict(X, iteration_range=asked)
    assert np.array_equal(model.predict(X, iteration_range=(0, 0)), model.predict(X))


def test_unseen_categories_are_missing_with_a_warning():
    table, y = mixed()
    model = _fit(XGBRegressor(), table, y)
    new = pd.DataFrame({"city": ["zz"], "colour": ["red"], "age": [30.0]})
    with pytest.warns(UserWarning, match="zz"):
        found = model.predict(new)
    new["city"] = None
    assert found == model.predict(new)


def test_what_needs_a_fit_says_so():
    from sklearn.exceptions import NotFittedError

    for ask in ("predict", "apply", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(XGBClassifier(), ask)(X)
    for ask in ("get_booster", "evals_result"):
        with pytest.raises(NotFittedError):
            getattr(XGBClassifier(), ask)()
    model = _fit(XGBRegressor())
    with pytest.raises(ParameterError, match="no eval_set"):
        model.evals_result()
    with pytest.raises(AttributeError, match="early stopping"):
        _ = model.best_iteration


def test_a_file_of_another_model_is_refused(tmp_path):
    _fit(XGBRegressor()).save_model(tmp_path / "m.arb")
    with pytest.raises(ParameterError, match="holds a XGBRegressor"):
        XGBClassifier().load_model(tmp_path / "m.arb")


def test_a_failed_fit_leaves_the_old_model_whole():
    model = _fit(XGBRegressor())
    old = model.predict(X)
    with pytest.raises(DataError):
        model.fit(X, NAN)
    np.testing.assert_array_equal(model.predict(X), old)
