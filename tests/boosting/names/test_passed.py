"""What scripts pass to XGBoost and LightGBM runs here with one warning, and says what has no effect."""

import copy
import io
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from arboretum import (
    LGBMClassifier,
    LGBMRanker,
    LGBMRegressor,
    ParameterError,
    XGBClassifier,
    XGBRegressor,
    load,
)

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def _one_warning(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run()
    assert len(caught) == 1, [str(one.message) for one in caught]
    assert caught[0].filename == __file__
    return found, str(caught[0].message)


WARNED = {
    "gpu of xgboost": (XGBClassifier, {"device": "cuda:0"}, "no code for GPUs"),
    "gpu_hist": (XGBClassifier, {"tree_method": "gpu_hist"}, "no code for GPUs"),
    "label encoder": (XGBClassifier, {"use_label_encoder": False}, "labels may be of any kind"),
    "number of classes": (XGBClassifier, {"num_class": 2}, "counted in y"),
    "silent": (XGBClassifier, {"silent": True}, "use verbosity"),
    "predictor": (XGBClassifier, {"predictor": "gpu_predictor"}, "one way"),
    "former objective": (XGBRegressor, {"objective": "reg:linear"}, "'reg:squarederror' today"),
    "name of another library": (XGBClassifier, {"task_type": "GPU"}, "no code for GPUs"),
    "unknown": (XGBClassifier, {"foo": 1}, "no such parameter"),
    "gpu of lightgbm": (LGBMClassifier, {"device": "gpu"}, "no code for GPUs"),
    "alias": (LGBMClassifier, {"device_type": "cuda"}, "no code for GPUs"),
    "monotone constraints": (
        LGBMClassifier,
        {"monotone_constraints_method": "advanced"},
        "by the basic method",
    ),
    "misspelt": (LGBMClassifier, {"num_leafs": 3}, "did you mean 'num_leaves'"),
    "two at once": (
        LGBMClassifier,
        {"silent": True, "foo": 1},
        "use verbosity); foo has no effect",
    ),
}


@pytest.mark.parametrize("case", WARNED)
def test_what_the_peers_only_warn_about_gives_one_warning(case):
    make, given, words = WARNED[case]
    model, message = _one_warning(lambda: make(n_estimators=2, **given))
    assert words in message
    assert message.startswith(f"{make.__name__}: ")
    plain = make(n_estimators=2).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # neither a copy nor a fit warns again
        fitted = clone(model).fit(X, Y)
    assert np.array_equal(fitted.predict(X), plain.predict(X))
    _, message = _one_warning(lambda: make().set_params(**given))
    assert words in message


def test_what_has_no_effect_in_the_peers_either_gives_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = XGBClassifier(missing=None, validate_parameters=False, eta=0.2, learning_rate=0.2)
        assert np.isnan(model.fit(X, Y).missing)
        LGBMClassifier(verbose=-1, verbosity=-1, n_iter=3, n_estimators=3)


def test_numbers_may_be_strings_and_none_is_the_default():
    model = XGBRegressor(max_depth="3", eta="0.05", n_estimators="4")
    assert (model.max_depth, model.learning_rate, model.n_estimators) == (3, 0.05, 4)
    assert isinstance(model.max_depth, int)
    model = LGBMRegressor(max_depth=None, reg_alpha=None, num_leaves="7", learning_rate="1e-1")
    assert (model.max_depth, model.num_leaves) == (None, 7)
    assert clone(model).get_params() == model.get_params()
    model.fit(X, X[:, 0])
    assert (model.max_depth, model.reg_alpha) == (-1, 0.0)  # what the fit used
    assert model.set_params(num_leaves="9").num_leaves == 9
    for make, given in ((XGBRegressor, {"max_depth": "deep"}), (LGBMRegressor, {"unseen": None})):
        with pytest.raises(
            ParameterError, match=f"{next(iter(given))}.* of {make.__name__} must be"
        ):
            make(**given).fit(X, Y)


def test_two_values_of_one_parameter_stay_an_error_where_the_peer_has_no_rule():
    with pytest.raises(ParameterError, match="are one parameter"):
        XGBRegressor(eta=0.1, learning_rate=0.2)


@pytest.mark.parametrize("make", [XGBRegressor, LGBMRegressor])
def test_a_parameter_keeps_its_other_names(make):
    model = make(eta=0.25, objective=None)
    assert model.get_params()["eta"] == model.eta == model.learning_rate == 0.25
    for other in (clone(model), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert repr(other.get_params()) == repr(model.get_params())
        assert other.eta == 0.25
    assert model.set_params(eta=0.5).learning_rate == 0.5
    assert model.set_params(learning_rate=0.1).learning_rate == 0.1  # the other name is given up
    assert "eta" not in model.get_params()
    with pytest.raises(AttributeError, match="no attribute 'eta'"):
        model.eta
    seeded = make(seed=np.random.RandomState(0))
    assert "seed" not in clone(seeded).get_params()  # a copy of a generator is another one


def test_a_search_over_another_name():
    search = GridSearchCV(LGBMRegressor(n_estimators=2, eta=0.5), {"eta": [0.1, 0.3]}, cv=2)
    assert search.fit(X, X[:, 0]).best_estimator_.learning_rate == search.best_params_["eta"]


def test_files_hold_parameters_by_one_name():
    model = LGBMRegressor(n_estimators=1, eta=0.25, verbose=-1).fit(X, X[:, 0])
    file, plain = io.BytesIO(), io.BytesIO()
    model.save(file)
    LGBMRegressor(n_estimators=1, learning_rate=0.25, verbosity=-1).fit(X, X[:, 0]).save(plain)
    assert file.getvalue() == plain.getvalue()
    assert load(file.getvalue()).learning_rate == 0.25
    model.set_params(pred_early_stop_freq=3).save(file := io.BytesIO())
    assert load(file.getvalue()).pred_early_stop_freq == 3


@pytest.mark.parametrize(
    ("make", "given", "words"),
    [
        (XGBClassifier, {"early_stopping_rounds": 5}, "it belongs to the constructor"),
        (XGBClassifier, {"eval_metric": "auc"}, "it belongs to the constructor"),
        (LGBMClassifier, {"early_stopping_rounds": 5}, "early_stopping.rounds"),
        (LGBMRegressor, {"verbose": False}, "log_evaluation.period"),
        (LGBMRanker, {"group": [60], "evals_result": {}}, "record_evaluation"),
    ],
)
def test_arguments_that_moved_from_fit_name_their_place(make, given, words):
    with pytest.raises(ParameterError, match=words) as error:
        make().fit(X, Y, **given)
    assert isinstance(error.value, TypeError)


def test_other_arguments_of_fit_are_errors_as_before():
    with pytest.raises(TypeError, match="foo"):
        XGBClassifier().fit(X, Y, foo=1)


def test_former_arguments_of_predict():
    model = XGBClassifier(n_estimators=5).fit(X, Y)
    found, message = _one_warning(lambda: model.predict_proba(X, ntree_limit=2))
    assert "ntree_limit is called iteration_range today" in message
    assert np.array_equal(found, model.predict_proba(X, iteration_range=(0, 2)))
    model = LGBMClassifier(n_estimators=5).fit(X, Y)
    found, message = _one_warning(lambda: model.predict_proba(X, predict_disable_shape_check=True))
    assert "always checked" in message
    assert np.array_equal(found, model.predict_proba(X))
    with pytest.raises(TypeError, match="foo"):
        model.predict(X, foo=1)


def test_a_file_with_an_unknown_parameter_is_refused():
    model = XGBClassifier(n_estimators=1).fit(X, Y)
    with pytest.raises(ParameterError, match="no parameter 'foo'"):
        XGBClassifier._from_fitted_state({"foo": 1}, model.schema_, model._get_fitted_state())
