"""Names, aliases and settings of the dialects; objectives that are kept and found again."""

import json
import pickle

import numpy as np
import pytest

from arboretum import LGBMClassifier, LGBMRegressor, XGBClassifier, XGBRanker, XGBRegressor
from arboretum.boosting.names.find import (
    DIALECTS,
    default_metric,
    find_metrics,
    find_objective,
    objective_from_state,
    predicts,
)
from arboretum.errors import ModelFileError, ParameterError
from tests.boosting.loss.objective_cases import CASES, derivatives, find, labels, margins


# ---------------------------------------------------------------------- objectives
@pytest.mark.parametrize(
    ("objective", "dialect", "n_classes", "parameters", "message"),
    [
        ("reg:squarederorr", "xgboost", None, {}, "did you mean 'reg:squarederror'"),
        ("regression", "xgboost", None, {}, "a name of lightgbm"),
        ("multiclas", "lightgbm", 3, {}, "did you mean 'multiclass'"),
        ([7], "lightgbm", None, {}, r"a name or a function, got \[7\]"),
        ("regression", "catboost", None, {}, "dialect must be"),
        ("multi:softprob", "xgboost", None, {}, "needs n_classes"),
        ("multiclass", "lightgbm", 1, {}, "needs n_classes"),
        ("binary:logistic", "xgboost", 3, {}, "two classes, there are 3: use 'multi:softprob'"),
        ("binary", "lightgbm", 3, {}, "use 'multiclass'"),
        ("reg:squarederror", "xgboost", None, {"hubr_slope": 1}, "did you mean 'huber_slope'"),
        ("reg:quantileerror", "xgboost", None, {}, "needs quantile_alpha"),
        ("reg:quantileerror", "xgboost", None, {"quantile_alpha": [0.5, 1.5]}, "quantile_alpha must"),
        ("quantile", "lightgbm", None, {"alpha": 1.5}, "below 1"),
        ("reg:tweedie", "xgboost", None, {"tweedie_variance_power": 2.0}, r"in \[1, 2\)"),
        ("binary", "lightgbm", 2, {"is_unbalance": True, "scale_pos_weight": 2.0}, "not both"),
        ("binary", "lightgbm", 2, {"sigmoid": 0.0}, "sigmoid must be a number > 0"),
    ],
)  # fmt: skip
def test_bad_parameters(objective, dialect, n_classes, parameters, message):
    with pytest.raises(ParameterError, match=message):
        find_objective(objective, dialect, n_classes, **parameters)


@pytest.mark.parametrize(
    ("objective", "dialect", "n_classes"),
    [("regression", "lightgbm", None), ("multi:softmax", "xgboost", 3)],
)
def test_weights_of_classes_that_an_objective_has_not_give_a_warning(objective, dialect, n_classes):
    with pytest.warns(UserWarning, match="scale_pos_weight has no effect on .*sample_weight"):
        found = find_objective(objective, dialect, n_classes, scale_pos_weight=2.0)
    plain = find_objective(objective, dialect, n_classes)
    y, m = labels("classes" if n_classes else "real"), margins(found.n_outputs)
    np.testing.assert_array_equal(derivatives(found, y, m), derivatives(plain, y, m))


@pytest.mark.parametrize(
    ("alias", "name"),
    [("mse", "regression"), ("rmse", "regression"), ("mae", "regression_l1"), ("ova", "multiclassova"),
     ("softmax", "multiclass"), ("xentropy", "cross_entropy"), ("mean_absolute_percentage_error", "mape")],
)  # fmt: skip
def test_aliases_are_the_same_objective(alias, name):
    one, other = (find_objective(n, "lightgbm", 3) for n in (alias, name))
    assert one.name == alias
    y, m = labels("binary"), margins(one.n_outputs)
    np.testing.assert_array_equal(derivatives(one, y, m), derivatives(other, y, m))


@pytest.mark.parametrize(("dialect", "name"), CASES)
def test_states_and_pickles_are_the_same_objective(dialect, name):
    objective, y = find(dialect, name)
    state = json.loads(json.dumps(objective.to_state()))
    for copy in (objective_from_state(state), pickle.loads(pickle.dumps(objective))):
        m = margins(objective.n_outputs)
        np.testing.assert_array_equal(derivatives(copy, y, m), derivatives(objective, y, m))
        assert copy.to_state() == state


@pytest.mark.parametrize(
    "state",
    [{}, {"name": "regression"}, None,
     {"name": "nonsense", "dialect": "xgboost", "n_classes": None, "parameters": {}},
     {"name": "fair", "dialect": "lightgbm", "n_classes": None, "parameters": {"fair_c": "x"}},
     {"name": "fair", "dialect": "lightgbm", "n_classes": None, "parameters": 3},
     {"name": "f", "dialect": "lightgbm", "n_classes": None, "n_outputs": -1, "function": None}],
)  # fmt: skip
def test_damaged_states(state):
    with pytest.raises(ModelFileError, match="objective of the model is invalid"):
        objective_from_state(state)


@pytest.mark.parametrize("dialect", ["xgboost", "lightgbm"])  # scikit-learn scores by the loss
def test_every_objective_has_a_metric_that_exists(dialect):
    table = DIALECTS[dialect]
    levels = {"quantile_alpha": 0.5} if dialect == "xgboost" else {"eval_at": 3}
    for name, entry in table.objectives.items():
        assert entry.predicts in ("numbers", "two classes", "classes", "orders")
        assert len(find_metrics(default_metric(name, dialect), dialect, **levels)) == 1
        assert find_objective(
            name, dialect, 2, **dict(list(levels.items())[: dialect == "xgboost"])
        )


@pytest.mark.parametrize("model", [XGBRegressor(), LGBMRegressor()])
def test_every_setting_is_a_parameter_of_the_models(model):
    table = DIALECTS[model.dialect]
    for what in ("objectives", "metrics"):
        found = DIALECTS[model.dialect].settings_of(model, what)
        assert set(table.used_by(what)) - set(found) <= {"seed"}
        assert table.check_settings(what, found)
    assert set(table.settings) - {"seed"} <= set(model.get_params())


@pytest.mark.parametrize(
    ("model", "objective", "message"),
    [
        (XGBClassifier, "reg:gamma", "does not predict classes"),
        (XGBRegressor, "multi:softmax", "is for classes: use XGBClassifier"),
        (XGBRegressor, "rank:map", "is for orders: use XGBRanker"),
        (XGBRegressor, "rank:mop", "did you mean 'rank:map'"),
        (LGBMClassifier, "mae", "does not predict classes"),
        (LGBMClassifier, "rank:map", "which is a name of xgboost"),
        (LGBMRegressor, "ova", "use LGBMClassifier"),
        (LGBMRegressor, "lambdarank", "use LGBMRanker"),
    ],
)
def test_models_ask_the_table_what_an_objective_predicts(model, objective, message):
    with pytest.raises(ParameterError, match=message):
        model(objective=objective).fit([[1.0], [2.0], [3.0]], [0, 1, 0])


def test_a_ranker_takes_orders_only():
    with pytest.raises(ParameterError, match="objectives named rank:"):
        XGBRanker(objective="reg:gamma").fit([[1.0], [2.0]], [0, 1], group=[2])
    assert predicts("rank:ndcg", "xgboost") == predicts("lambdarank", "lightgbm") == "orders"
    assert predicts("binary:hinge", "xgboost") == predicts("xentropy", "lightgbm") == "two classes"


# ---------------------------------------------------------------------- metrics
@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("error@0.5", "error"),
        ("error@.70", "error@0.7"),
        ("tweedie-nloglik@1.50", "tweedie-nloglik@1.5"),
        ("tweedie-nloglik", "tweedie-nloglik@1.5"),
        ("ndcg@2-", "ndcg@2-"),
    ],
)
def test_printed_names(name, printed):
    assert find_metrics(name, "xgboost")[0].name == printed
    assert find_metrics(printed, "xgboost")[0].name == printed


def test_names_expand_once_and_in_order():
    found = find_metrics(["L1", "ndcg", "mae"], "lightgbm", eval_at=[3, 1])
    assert [metric.name for metric in found] == ["l1", "ndcg@1", "ndcg@3"]
    assert [metric.larger_is_better for metric in found] == [False, True, True]


@pytest.mark.parametrize(
    ("name", "dialect", "settings", "message"),
    [
        ("rmsee", "xgboost", {}, r"'rmsee' \(did you mean 'rmse'\?\): there are auc, aucpr, error"),
        ("binary_loglos", "lightgbm", {}, r"did you mean 'binary_logloss'\?"),
        ("auc_mu", "lightgbm", {}, "no metric of lightgbm is called 'auc_mu'"),
        ("rmse@3", "xgboost", {}, "no metric of xgboost is called 'rmse@3'"),
        ("l2@3", "lightgbm", {}, "no metric"),
        ("ndcg@0", "xgboost", {}, "no metric"),
        ("ndcg@0", "lightgbm", {}, "no metric"),
        ([7], "xgboost", {}, "no metric of xgboost is called 7"),
        ("error@x", "xgboost", {}, "a number must follow the @"),
        ("tweedie-nloglik@2", "xgboost", {}, r"the power must be a number in \[1, 2\)"),
        ("quantile", "xgboost", {}, "needs quantile_alpha"),
        ("quantile", "xgboost", {"quantile_alpha": [0.5, 2]}, r"quantile_alpha must be .* got"),
        ("quantile", "xgboost", {"quantile_alpha": []}, "quantile_alpha must be"),
        ("mphe", "xgboost", {"huber_slop": 1}, r"did you mean 'huber_slope'\?\): they have"),
        ("mphe", "xgboost", {"huber_slope": 0}, "huber_slope must be a number > 0, got 0"),
        ("ndcg", "lightgbm", {"eval_at": [0]}, "eval_at must be an int ≥ 1, or a list of them"),
        ("ndcg", "lightgbm", {"ndcg_at": "1,x"}, "ndcg_at must be"),
        ("quantile", "lightgbm", {"alpha": 1.5}, "alpha of quantile must be below 1, got 1.5"),
        ("ndcg", "lightgbm", {"label_gain": "abc"}, "label_gain must be"),
        ("rmse", "catboost", {}, "dialect must be 'xgboost', 'lightgbm' or"),
    ],
)
def test_bad_names_and_parameters(name, dialect, settings, message):
    with pytest.raises(ParameterError, match=message):
        find_metrics(name, dialect, **settings)[0]


def test_unknown_objective():
    with pytest.raises(ParameterError, match=r"did you mean 'binary:logistic'\?"):
        default_metric("binary:logstic", "xgboost")
    with pytest.raises(ParameterError, match="no objective of lightgbm is called 'auc'"):
        default_metric("auc", "lightgbm")
