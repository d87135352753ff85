"""Gradient boosting: files, bad input, Ctrl-C, and what it prints."""

import pickle
import random
import struct
import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsRegressor

import arboretum
from arboretum import (
    DataError,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ModelFileError,
    ParameterError,
    load,
)
from arboretum.boosting.friedman import fitting
from arboretum.cli.forests import describe_forest, forest_size
from arboretum.cli.models import find_estimator
from arboretum.explain.pick_tree import pick_tree
from tests.boosting.friedman.gbm_cases import LOSSES, LogCosh, boost, make, mixed_table, raw, saved


# ---------------------------------------------------------------------- keeping
@pytest.mark.parametrize("subsample", [1.0, 0.5])
@pytest.mark.parametrize(("loss", "K"), LOSSES)
def test_a_saved_model_is_the_same_model(loss, K, subsample):
    X, y, w = make(loss=loss, n_classes=K)
    model = boost(loss, X, y, w, n_estimators=5, subsample=subsample, random_state=0)
    again = load(saved(model))
    assert saved(again) == saved(model)
    assert_array_equal(raw(again, X), raw(model, X))
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert_array_equal(again.train_score_, model.train_score_)
    assert hasattr(again, "oob_improvement_") == (subsample < 1)
    assert again.get_params() == model.get_params()
    with_pickle = pickle.loads(pickle.dumps(model))
    assert_array_equal(raw(with_pickle, X), raw(model, X))
    assert saved(with_pickle) == saved(model)


def test_a_loaded_model_can_go_on():
    X, y, w = make(n=150)
    options = {"random_state": 0, "subsample": 0.7}
    whole = GradientBoostingRegressor(n_estimators=10, **options).fit(X, y, w)
    part = GradientBoostingRegressor(n_estimators=5, warm_start=True, **options).fit(X, y, w)
    again = load(saved(part)).set_params(n_estimators=10).fit(X, y, w)
    assert_array_equal(again.predict(X), whole.predict(X))


def test_dataframes_with_words_are_saved():
    frame, y = mixed_table()
    model = GradientBoostingRegressor(n_estimators=5).fit(frame, y)
    again = load(saved(model))
    assert_array_equal(again.predict(frame), model.predict(frame))
    assert_array_equal(
        again.predict(frame[::-1][["count", "size", "color"]])[::-1], model.predict(frame)
    )


def test_what_cannot_be_saved_is_named():
    X, y, _ = make()
    for options, words in (({"loss": LogCosh()}, "loss"), ({"init": LinearRegression()}, "init")):
        model = GradientBoostingRegressor(n_estimators=2, **options).fit(X, y)
        with pytest.raises(ParameterError, match=f"parameter '{words}'.*joblib"):
            saved(model)
        assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_clone_knows_all_parameters():
    model = GradientBoostingRegressor(loss="tweedie", power=1.2, step="line_search", alpha=0.3)
    assert clone(model).get_params() == model.get_params()


def _mutate(content, rng):
    """Change a few bytes of header or payload, and repair lengths and checksums."""
    header_size, payload_size = struct.unpack_from("<QQ", content, 16)
    parts = [content[40 : 40 + header_size], content[len(content) - payload_size :]]
    which = rng.randrange(2)
    part = bytearray(parts[which])
    for _ in range(rng.randint(1, 3)):
        part[rng.randrange(len(part))] = rng.choice(b'0123456789-{}[],:"aZ \x00\xff')
    parts[which] = bytes(part)
    header, payload = parts
    checks = (zlib.crc32(header), zlib.crc32(payload))
    prefix = struct.pack(
        "<8sIIQQI", b"ARBORETM", 1, checks[0], len(header), len(payload), checks[1]
    )
    body = prefix + struct.pack("<I", zlib.crc32(prefix)) + header
    return body + bytes(-len(body) % 64) + payload


def test_changed_files_are_a_model_or_an_error():
    X = make()[0]
    contents = [
        saved(boost(loss, *make(loss=loss, n_classes=K)[:2], n_estimators=2, max_depth=2))
        for loss, K in (("squared_error", 0), ("log_loss", 2), ("log_loss", 3))
    ]
    outcomes = {"model": 0, "error": 0}
    for case in range(300):
        rng = random.Random(case)
        try:
            model = load(_mutate(rng.choice(contents), rng))
        except ModelFileError:
            outcomes["error"] += 1
            continue
        outcomes["model"] += 1
        with suppress(DataError, ParameterError), np.errstate(all="ignore"):
            model.predict(X)
    assert min(outcomes.values()) > 20


# ---------------------------------------------------------------------- bad input
X0, Y0, _ = make(n=30)
C0 = (Y0 > 0).astype(int)
R, C = GradientBoostingRegressor, GradientBoostingClassifier


class Broken(LogCosh):
    """Fails from the second round on, at rows 3 and 7."""

    calls = 0

    def gradient(self, y, F):
        Broken.calls += 1
        found = super().gradient(y, F)
        if Broken.calls > 2:
            found[[3, 7]] = np.nan
        return found

    def start(self, y, w):
        return 0.0


class Flat(LogCosh):
    def gradient(self, y, F):
        return np.zeros(3)


class NoValue:
    def gradient(self, y, F):
        return F - y

    def hessian(self, y, F):
        return np.ones(len(y))


BAD = [
    (R(n_estimators=0), Y0, ParameterError, "'n_estimators' parameter of GradientBoostingRegressor must be"),
    (R(learning_rate=0.0), Y0, ParameterError, "learning_rate"),
    (R(learning_rate=-1), Y0, ParameterError, "learning_rate"),
    (R(subsample=0.0), Y0, ParameterError, "subsample"),
    (R(subsample=1.5), Y0, ParameterError, "subsample"),
    (R(alpha=0.0), Y0, ParameterError, "alpha"),
    (R(alpha=1.0), Y0, ParameterError, "alpha"),
    (R(alpha=1.5, loss="quantile"), Y0, ParameterError, "'alpha' parameter of GradientBoostingRegressor"),
    (R(power=0.5, loss="tweedie"), Y0, ParameterError, "power"),
    (R(loss="log_loss"), Y0, ParameterError, "loss"),
    (C(loss="squared_error"), C0, ParameterError, "'log_loss' or 'exponential'"),
    (R(loss=LogCosh), Y0, ParameterError, "gradient(y, F)"),
    (R(step="newton"), Y0, ParameterError, "'leaf', 'line_search' or 'gradient'"),
    (R(criterion="absolute_error"), Y0, ParameterError, "criterion"),
    (R(init="mean"), Y0, ParameterError, "init"),
    (R(max_depth=0), Y0, ParameterError, "max_depth"),
    (R(validation_fraction=1.0), Y0, ParameterError, "validation_fraction"),
    (R(n_iter_no_change=0), Y0, ParameterError, "n_iter_no_change"),
    (R(tol=-1.0), Y0, ParameterError, "tol"),
    (R(n_jobs=0), Y0, ParameterError, "n_jobs"),
    (R(loss="poisson"), Y0, DataError, "loss='poisson' needs labels that are numbers of 0 or more"),
    (R(loss="poisson"), np.zeros(30), DataError, "all labels are 0"),
    (R(loss="gamma"), np.maximum(Y0, 0), DataError, "loss='gamma' needs labels that are numbers above 0"),
    (R(loss="tweedie"), Y0, DataError, "loss='tweedie' needs labels that are numbers of 0 or more"),
    (R(), np.where(np.arange(30) == 4, np.nan, Y0), DataError, "row 4"),
    (R(), np.column_stack([Y0, Y0]), DataError, "1d array"),
    (R(), Y0[:10], DataError, "inconsistent"),
    (C(), Y0, DataError, "classes"),
    (C(), np.zeros(30, int), DataError, "1 class"),
    (C(loss="exponential"), np.arange(30) % 3, DataError, "binary classification"),
    (C(n_iter_no_change=2), np.r_[np.zeros(29, int), 1], DataError, "too few"),
    (C(n_iter_no_change=2, validation_fraction=0.99), np.arange(30) % 15, DataError, "too few"),
    (R(loss=Broken()), Y0, DataError, "values in round 3 (rows 3, 7)"),
    (R(loss=Flat()), Y0, DataError, "Flat.gradient has shape (3,)"),
    (R(loss=NoValue(), n_iter_no_change=2), Y0, ParameterError, "value(y, F)"),
    (C(init=Perceptron()), C0, ParameterError, "predict_proba"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "y", "error", "words"), BAD, ids=range(len(BAD)))
def test_bad_input_is_one_clear_error(model, y, error, words):
    with pytest.raises(error) as caught:
        model.fit(X0, y)
    assert words.lower() in str(caught.value).lower()
    assert not hasattr(model, "trees_")


def test_one_row_cannot_be_set_aside():
    with pytest.raises(DataError, match=r"n_iter_no_change sets 0\.1 of the 1 rows aside"):
        R(n_iter_no_change=2).fit([[1.0]], [2.0])
    assert R(n_estimators=2).fit([[1.0]], [2.0]).predict([[5.0]]) == 2.0


class _Unnamed(BaseEstimator):
    """A classifier that has no ``classes_``, as a user's wrapper may not."""

    def __init__(self, n_columns=None):
        self.n_columns = n_columns

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)[:, : self.n_columns]


def test_an_initial_classifier_need_not_name_its_classes():
    named = C(init=LogisticRegression(), n_estimators=2).fit(X0, C0)
    unnamed = C(init=_Unnamed(), n_estimators=2).fit(X0, C0)
    assert_array_equal(unnamed.predict_proba(X0), named.predict_proba(X0))
    with pytest.raises(DataError, match="one column per class"):
        C(init=_Unnamed(1)).fit(X0, C0)


def test_an_initial_estimator_without_weights():
    with pytest.raises(
        ParameterError,
        match="initial estimator KNeighborsRegressor does not support sample weights",
    ):
        R(init=KNeighborsRegressor()).fit(X0, Y0, np.ones(30))
    assert len(R(init=KNeighborsRegressor(), n_estimators=2).fit(X0, Y0).predict(X0)) == 30


def test_classes_of_weight_zero():
    y = np.arange(30) % 3
    with pytest.raises(DataError, match="minimum of 2 classes"):
        C().fit(X0, y, y == 1)
    model = C(n_estimators=3).fit(X0, y, y != 1)
    assert (model.predict_proba(X0)[:, 1] < 1e-5).all()
    assert 1 not in model.predict(X0)


def test_a_bag_of_weightless_rows_is_drawn_again():
    w = (np.arange(30) == 17).astype(float)
    model = R(n_estimators=5, subsample=0.1, random_state=0).fit(X0, Y0, w)
    assert np.allclose(model.predict(X0), Y0[17])


def test_what_only_some_models_have():
    model = R(n_estimators=2).fit(X0, Y0)
    for name in ("oob_improvement_", "oob_scores_", "oob_score_"):
        assert not hasattr(model, name)
    with pytest.raises(ParameterError, match="did you mean 'n_estimators'"):
        R(n_estimator=3)


def test_warm_start_does_not_shrink_or_change_tables():
    model = R(n_estimators=5, warm_start=True).fit(X0, Y0)
    with pytest.raises(ParameterError, match="must not get smaller"):
        model.set_params(n_estimators=3).fit(X0, Y0)
    with pytest.warns(UserWarning, match="does not fit new trees: there are . rounds"):
        model.set_params(n_estimators=5).fit(X0, Y0)
    with pytest.raises(DataError, match="warm_start"):
        model.set_params(n_estimators=8).fit(X0[:, :2], Y0)
    assert len(model.fit(X0[:50], Y0[:50])) == 8  # other rows may be added to


def test_too_long_a_step_is_an_error():
    with pytest.raises(DataError, match="smaller learning_rate"):
        R(loss="poisson", learning_rate=1e4, n_estimators=20).fit(X0, np.abs(Y0))


# ---------------------------------------------------------------------- while it runs
def test_ctrl_c_keeps_the_rounds_so_far(monkeypatch):
    play = fitting.ResidualBooster.play

    def interrupted(self, number):
        if number == 3:
            raise KeyboardInterrupt
        return play(self, number)

    monkeypatch.setattr(fitting.ResidualBooster, "play", interrupted)
    model = R(n_estimators=10)
    with pytest.raises(KeyboardInterrupt, match="has the 3 rounds that were finished, of 10"):
        model.fit(X0, Y0)
    monkeypatch.undo()
    assert model.n_estimators_ == 3
    assert_array_equal(model.predict(X0), R(n_estimators=3).fit(X0, Y0).predict(X0))
    model.set_params(warm_start=True).fit(X0, Y0)
    assert model.interrupted_ is None
    assert_array_equal(model.predict(X0), R(n_estimators=10).fit(X0, Y0).predict(X0))


def test_ctrl_c_before_the_first_round_goes_on(monkeypatch):
    def interrupted(self, number):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting.ResidualBooster, "play", interrupted)
    model = R()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X0, Y0)
    assert not hasattr(model, "trees_")


def test_a_monitor_ends_boosting():
    seen = []

    def monitor(i, model, state):
        seen.append((i, model.n_estimators_, state["F"].shape))
        return i == 2

    model = R(n_estimators=10).fit(X0, Y0, monitor=monitor)
    assert seen == [(0, 1, (30,)), (1, 2, (30,)), (2, 3, (30,))]
    assert model.n_estimators_ == 3


def test_verbose_prints_scores(capsys):
    R(n_estimators=25, verbose=1, subsample=0.5).fit(X0, Y0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Iter", "Train", "Loss", "OOB", "Improve", "Remaining", "Time"]
    assert [int(line.split()[0]) for line in lines[1:]] == [*range(1, 11), 20]
    R(n_estimators=12, verbose=2).fit(X0, Y0)
    assert len(capsys.readouterr().out.splitlines()) == 13
    R(n_estimators=3).fit(X0, Y0)
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------------- the command line
def test_the_command_line_boosts():
    assert find_estimator("gbm", "regression") is R
    model = C(n_estimators=4, max_depth=1).fit(X0, np.arange(30) % 3)
    assert forest_size(model).startswith("12 trees")
    assert "12 trees" in describe_forest(model, None)
    assert pick_tree(model, 11, "show").tree is model.trees_[11]


def test_importing_it_is_light():
    script = (
        "import sys, arboretum; arboretum.GradientBoostingClassifier();"
        "print('numba' in sys.modules, 'matplotlib' in sys.modules)"
    )
    env = {"PYTHONPATH": str(Path(arboretum.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env
    )
    assert done.stdout.split() == ["False", "False"]
