"""Evaluation, early stopping and callbacks as LightGBM has them; fits that are interrupted."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import arboretum
from arboretum import (
    LGBMClassifier,
    LGBMRanker,
    LGBMRegressor,
    early_stopping,
    log_evaluation,
    record_evaluation,
    reset_parameter,
)
from arboretum.boosting.callbacks.lightgbm_callbacks import EarlyStopException
from arboretum.errors import DataError, ParameterError
from tests.boosting.lightgbm.lgbm_cases import groups, numbers, saved, two_classes


def _halves(n=600):
    X, y = two_classes(n=n)
    return X[::2], y[::2], X[1::2], y[1::2]


def _quietly(fit, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lightgbm 4.7 has new names for eval_set
        return fit(*args, **kwargs)


# ---------------------------------------------------------------------- figures
ASKED = {
    "default": ({}, {}),
    "one more": ({}, {"eval_metric": "auc"}),
    "several": ({}, {"eval_metric": ["auc", "error"]}),
    "of the model": ({"metric": ["auc", "binary_error"]}, {}),
    "both": ({"metric": "auc"}, {"eval_metric": "logloss"}),
}


@pytest.mark.parametrize("case", ASKED)
def test_figures_have_the_names_and_the_order_of_lightgbms(case):
    lightgbm = pytest.importorskip("lightgbm")
    given, asked = ASKED[case]
    X, y, A, b = _halves()
    found = []
    for package in (arboretum, lightgbm):
        model = package.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1, **given)
        _quietly(model.fit, X, y, eval_set=[(X, y), (A, b)], **asked)
        found.append({t: list(m) for t, m in model.evals_result_.items()})
        assert {t: list(m) for t, m in model.best_score_.items()} == found[-1]
    assert found[0] == found[1]
    assert list(found[0]) == ["training", "valid_1"]


def test_figures_are_those_of_the_predictions():
    X, y, A, b = _halves()
    model = LGBMClassifier(n_estimators=7).fit(X, y, eval_set=[(A, b)], eval_metric="error")
    p = model.predict_proba(A)[:, 1]
    figures = {name: values[-1] for name, values in model.evals_result_["valid_0"].items()}
    assert figures["binary_error"] == np.mean((p > 0.5) != b)
    assert figures["binary_logloss"] == pytest.approx(-np.mean(np.log(np.where(b, p, 1 - p))))
    assert model.best_score_ == {"valid_0": figures}
    assert model.best_iteration_ == 0
    weight = np.where(b, 3.0, 1.0)
    one = LGBMClassifier(n_estimators=2).fit(X, y, eval_set=[(A, b)], eval_sample_weight=[weight])
    two = LGBMClassifier(n_estimators=2)
    two.fit(X, y, eval_set=[(A, b)], eval_class_weight=[{1: 3.0}], eval_names=["valid_0"])
    assert one.evals_result_ == two.evals_result_
    other = LGBMClassifier(n_estimators=2).fit(X, y, eval_X=A, eval_y=b)
    assert list(other.evals_result_) == ["valid_0"]


def test_users_metrics_are_called_as_lightgbm_calls_them():
    X, y, sizes = groups()
    seen = []

    def four(truth, score, weight, group):
        seen.append((truth.shape, score.shape, weight, group.tolist()))
        return [("mean", float(score.mean()), True), ("spread", float(score.std()), True)]

    model = LGBMRanker(n_estimators=2, metric="None")
    model.fit(X, y, group=sizes, eval_set=[(X, y)], eval_group=[sizes], eval_metric=four)
    assert list(model.evals_result_["training"]) == ["mean", "spread"]
    assert seen[0] == ((600,), (600,), None, sizes.tolist())


def test_users_objectives_are_called_as_lightgbm_calls_them():
    X, y = numbers()

    def squared(truth, score, weight):
        return (score - truth) * weight, weight

    weight = np.linspace(0.5, 1.5, len(y))
    mine = LGBMRegressor(n_estimators=5, objective=squared).fit(X, y, sample_weight=weight)
    theirs = LGBMRegressor(n_estimators=5, boost_from_average=False)
    theirs.fit(X, y, sample_weight=weight)
    assert np.allclose(mine.predict(X), theirs.predict(X), atol=1e-6)
    X, y = two_classes()
    model = LGBMClassifier(
        n_estimators=5, objective=lambda y, s: (1 / (1 + np.exp(-s)) - y, np.full(len(y), 0.25))
    )
    with pytest.warns(UserWarning, match="raw scores"):
        found = model.fit(X, y).predict_proba(X)
    assert found.shape == y.shape
    assert found.min() < 0


# ---------------------------------------------------------------------- early stopping
def test_training_stops_where_lightgbms_does(capsys):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (800, 4)).astype(float)  # the same bins in both programs
    y = X[:, 0] - X[:, 1] + 6 * rng.normal(size=800)
    told = []
    for package in (arboretum, lightgbm):
        model = package.LGBMRegressor(n_estimators=200, n_jobs=1, verbose=-1)
        _quietly(
            model.fit, X[:500], y[:500], eval_set=[(X[500:], y[500:])], eval_metric="l1",
            callbacks=[package.early_stopping(5)],
        )  # fmt: skip
        told.append(
            (model.best_iteration_, model.n_iter_, len(model.evals_result_["valid_0"]["l2"]))
        )
        lines = capsys.readouterr().out.splitlines()
        told[-1] += tuple(line[:20] for line in lines)
    assert told[0] == told[1]


def test_predictions_use_the_best_round():
    X, y, A, b = _halves()
    model = LGBMClassifier(n_estimators=300)
    model.fit(X, y, eval_set=[(A, b)], callbacks=[early_stopping(5, verbose=False)])
    best = model.best_iteration_
    assert best == model.n_iter_ == np.argmin(model.evals_result_["valid_0"]["binary_logloss"]) + 1
    assert model.booster_.num_trees() == best + 5
    assert np.array_equal(model.predict_proba(A), model.predict_proba(A, num_iteration=best))
    assert not np.array_equal(model.predict_proba(A), model.predict_proba(A, num_iteration=-1))
    named = LGBMClassifier(n_estimators=300, early_stopping_round=5, verbose=-1)
    named.fit(X, y, eval_set=[(A, b)])
    assert named.best_iteration_ == best


def test_min_delta_and_first_metric_stop_sooner_or_later():
    X, y, A, b = _halves()

    def rounds(**how):
        model = LGBMClassifier(n_estimators=200, verbose=-1)
        stop = early_stopping(8, verbose=False, **how)
        model.fit(X, y, eval_set=[(A, b)], eval_metric=["auc", "error"], callbacks=[stop])
        return model.booster_.num_trees()

    assert rounds(min_delta=0.05) < rounds()
    assert rounds(min_delta=[0.0, 1.0, 0.0]) == 9
    assert rounds(first_metric_only=True) > rounds()


def test_early_stopping_that_cannot_work_is_told():
    X, y, A, b = _halves()
    with pytest.raises(ParameterError, match="give eval_set"):
        LGBMClassifier(early_stopping_round=3).fit(X, y)
    model = LGBMClassifier(n_estimators=4, boosting_type="dart", early_stopping_round=1)
    with pytest.warns(UserWarning, match="dart"):
        model.fit(X, y, eval_set=[(A, b)])
    assert model.n_iter_ == 4
    with pytest.warns(UserWarning, match="training rows"):
        LGBMClassifier(n_estimators=4, early_stopping_round=1).fit(X, y, eval_set=[(X, y)])
    model = LGBMClassifier(n_estimators=4, early_stopping_round=1, metric="None")
    with pytest.raises(ParameterError, match="metric to follow"):
        model.fit(X, y, eval_set=[(A, b)])
    for bad in (2.5, True):
        with pytest.raises(ParameterError, match="stopping_rounds"):
            early_stopping(bad)


# ---------------------------------------------------------------------- the other callbacks
def test_figures_are_printed_and_recorded(capsys):
    X, y, A, b = _halves()
    found = {"old": {}}
    model = LGBMClassifier(n_estimators=4)
    model.fit(X, y, eval_set=[(A, b)], callbacks=[log_evaluation(2), record_evaluation(found)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["[2]", "[4]"]
    assert lines[0].split("\t")[1].startswith("valid_0's binary_logloss: 0.")
    assert found == model.evals_result_


def test_parameters_change_between_rounds():
    X, y = numbers()
    model = LGBMRegressor(n_estimators=4)
    model.fit(X, y, callbacks=[reset_parameter(num_leaves=[2, 3, 4, 5], eta=lambda m: 0.5**m)])
    assert [tree.n_leaves for tree in model.trees_] == [2, 3, 4, 5]
    assert model.num_leaves == 31
    plain = LGBMRegressor(n_estimators=1, num_leaves=2, learning_rate=1.0).fit(X, y)
    assert np.array_equal(plain.predict(X), model.predict(X, num_iteration=1))
    with pytest.raises(ParameterError, match="max_bin cannot change"):
        LGBMRegressor(n_estimators=2).fit(X, y, callbacks=[reset_parameter(max_bin=[3, 4])])
    with pytest.raises(ParameterError, match="3 values for 2 rounds"):
        LGBMRegressor(n_estimators=2).fit(X, y, callbacks=[reset_parameter(eta=[3.0, 4.0, 5.0])])
    with pytest.raises(ParameterError, match="learning_rate"):
        LGBMRegressor(n_estimators=2).fit(X, y, callbacks=[reset_parameter(eta=[0.1, -1.0])])


def test_users_callbacks_see_the_rounds_and_may_stop():
    X, y = numbers()
    seen = []

    def before(env):
        seen.append(("before", env.iteration, env.model.num_trees(), env.evaluation_result_list))

    before.before_iteration = True

    def after(env):
        ((table, metric, _value, larger),) = env.evaluation_result_list
        seen.append((table, metric, larger, env.begin_iteration, env.end_iteration))
        assert env.params["num_leaves"] == 31
        if env.iteration == 2:
            raise EarlyStopException(1, env.evaluation_result_list)

    model = LGBMRegressor(n_estimators=9)
    model.fit(X, y, eval_set=[(X, y)], callbacks=[after, before])
    assert seen[:2] == [("before", 0, 0, None), ("training", "l2", False, 0, 9)]
    assert len(seen) == 6
    assert model.best_iteration_ == 2
    assert model.booster_.num_trees() == 3

    def at_once(env):
        raise EarlyStopException(7, [])

    model.fit(X, y, callbacks=[at_once])
    assert model.booster_.num_trees() == model.n_iter_ == 1
    assert len(saved(model)) > 0
    with pytest.raises(ParameterError, match="list of functions"):
        model.fit(X, y, callbacks=[3])


# ---------------------------------------------------------------------- interruptions
_KILLED = """
import sys
import numpy as np
from arboretum import LGBMClassifier
sys.path.insert(0, {root!r})
from tests.boosting.lightgbm.lgbm_cases import two_classes
X, y = two_classes()
model = LGBMClassifier(n_estimators=30, boosting_type={kind!r}, bagging_freq=1, subsample=0.7, skip_drop=0.2)
def slow(env):
    if env.iteration == {last}:
        import os, signal
        os.kill(os.getpid(), signal.SIGKILL)
model.fit(X, y, eval_set=[(X[:99], y[:99])], callbacks=[slow] * {dies}, save_snapshot={path!r},
          snapshot_every=4, resume={resume})
model.save({out!r})
"""


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("gbdt", marks=pytest.mark.slow),
        "dart",
        pytest.param("rf", marks=pytest.mark.slow),
    ],
)
def test_a_killed_fit_goes_on_to_the_same_bytes(tmp_path, kind):
    X, y = two_classes()
    common = {
        "root": str(Path(__file__).parents[3]), "kind": kind, "last": 17,
        "path": str(tmp_path / "run.snap"), "out": str(tmp_path / "model.arb"),
    }  # fmt: skip

    def run(dies, resume):
        code = _KILLED.format(**common, dies=dies, resume=resume)
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], env=os.environ
        ).returncode

    assert run(1, False) == -signal.SIGKILL
    assert run(0, True) == 0
    whole = LGBMClassifier(
        n_estimators=30, boosting_type=kind, bagging_freq=1, subsample=0.7, skip_drop=0.2
    )
    whole.fit(X, y, eval_set=[(X[:99], y[:99])])
    whole.save(tmp_path / "whole.arb")
    assert (tmp_path / "whole.arb").read_bytes() == (tmp_path / "model.arb").read_bytes()
    with pytest.raises(DataError, match="other parameters"):
        LGBMClassifier(n_estimators=30, num_leaves=9).fit(
            X, y, eval_set=[(X[:99], y[:99])], resume=common["path"]
        )


def test_a_break_keeps_the_rounds_so_far():
    X, y = numbers()

    def stop(env):
        if env.iteration == 3:
            raise KeyboardInterrupt

    model = LGBMRegressor(n_estimators=20)
    with pytest.raises(KeyboardInterrupt, match="interrupted"):
        model.fit(X, y, callbacks=[stop])
    assert model.n_iter_ == 4
    assert np.array_equal(model.predict(X), LGBMRegressor(n_estimators=4).fit(X, y).predict(X))


# ---------------------------------------------------------------------- LightGBM's own callbacks
@pytest.mark.parametrize(
    ("callback", "order", "early"),
    [
        (early_stopping(5), 30, False),
        (log_evaluation(3), 10, False),
        (record_evaluation({}), 20, False),
        (reset_parameter(learning_rate=[0.1]), 10, True),
    ],
)
def test_callbacks_have_lightgbms_attributes(callback, order, early):
    again = pickle.loads(pickle.dumps(callback))
    assert (again.order, again.before_iteration) == (order, early)


def test_no_rounds_of_early_stopping_stop_nothing():
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = np.random.default_rng(1).normal(size=80)
    for rounds in (0, -1):
        assert early_stopping(rounds).enabled is False
        model = LGBMRegressor(n_estimators=12, verbose=-1)
        model.fit(X, y, eval_set=[(X[::-1], y)], callbacks=[early_stopping(rounds)])
        assert model.best_iteration_ == 0
        assert model.n_iter_ == 12
    with pytest.raises(ParameterError, match=r"should be an integer. Got .str."):
        early_stopping("never")


def test_results_have_names():
    kept = []
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    model = LGBMRegressor(n_estimators=2, verbose=-1)
    model.fit(
        X, y, eval_set=[(X, y)], callbacks=[lambda env: kept.extend(env.evaluation_result_list)]
    )
    table, metric, value, larger = kept[0]
    assert (table, metric, larger) == (kept[0].dataset_name, kept[0].metric_name, kept[0].maximize)
    assert value == kept[0].metric_value == model.evals_result_[table][metric][0]
    assert kept[0].metric_std_dev is None
    assert not kept[0].is_cv_result()


def test_lightgbms_own_callbacks_run():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    kept = {}
    model = LGBMRegressor(n_estimators=30, verbose=-1)
    theirs = [lightgbm.early_stopping(3, verbose=False), lightgbm.record_evaluation(kept)]
    model.fit(X[:100], y[:100], eval_set=[(X[100:], y[100:])], callbacks=theirs)
    ours = LGBMRegressor(n_estimators=30, verbose=-1)
    ours.fit(
        X[:100],
        y[:100],
        eval_set=[(X[100:], y[100:])],
        callbacks=[early_stopping(3, verbose=False)],
    )
    assert model.best_iteration_ == ours.best_iteration_ > 0
    assert list(kept["valid_0"]["l2"]) == model.evals_result_["valid_0"]["l2"]
