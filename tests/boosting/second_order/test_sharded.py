"""Boosters on rows in shards write the files of local fits, byte for byte, whatever is lost on the way."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import arboretum as arb
from arboretum.errors import DataError, WorkerError
from tests.grow.sharded.in_shards import Counted, in_shards

N = 400
RNG = np.random.default_rng(5)


def _table():
    """Return columns with gaps, words, few values, and some that are rarely used together."""
    x = RNG.normal(size=(N, 2))
    x[RNG.random(x.shape) < 0.1] = np.nan
    frame = pd.DataFrame(x, columns=["a", "b"])
    frame["few"] = RNG.integers(0, 4, N).astype(float)
    words = RNG.choice(list("pqrstuv"), N, p=[0.4, 0.3, 0.2, 0.08, 0.01, 0.005, 0.005])
    frame["word"] = pd.Categorical(words)
    for k in range(3):
        frame[f"used{k}"] = np.where(np.arange(N) % 5 == k, RNG.integers(1, 4, N), 0.0)
    signal = frame["a"].fillna(1) * frame["few"] + frame["word"].cat.codes + frame["used1"]
    return frame, signal.to_numpy() + RNG.normal(size=N)


X, SIGNAL = _table()
TARGETS = {
    "number": SIGNAL,
    "count": np.floor(np.exp(SIGNAL / SIGNAL.max())),
    "two": (np.median(SIGNAL) < SIGNAL).astype(int),
    "three": np.digitize(SIGNAL, np.quantile(SIGNAL, [0.3, 0.7])),
    "grade": np.digitize(SIGNAL, np.quantile(SIGNAL, [0.5, 0.8, 0.95])),
}
GROUPS = np.array([37, 63, 1, 99, 100, 100])


def saved(model):
    out = io.BytesIO()
    model.save(out)
    return out.getvalue()


def some(**options):
    """Return a strategy for a few of the options at once."""
    choices = [(name, value) for name, values in options.items() for value in values]
    return st.lists(st.sampled_from(choices), max_size=6, unique_by=lambda choice: choice[0]).map(
        dict
    )


LGBM = some(
    num_leaves=(2, 7, 31), max_depth=(2, 4), min_child_samples=(1, 20), max_bin=(15, 255, 400),
    boosting_type=("goss", "dart", "rf"), subsample=(0.5,), subsample_freq=(1, 2), reg_alpha=(0.5,),
    colsample_bytree=(0.6,), feature_fraction_bynode=(0.6,), extra_trees=(True,), path_smooth=(2.0,),
    max_delta_step=(0.3,), monotone_constraints=([1, -1, 0, 0, 0, 0, 1],), min_data_per_group=(5,),
    interaction_constraints=([[0, 1, 3], [2, 3, 4, 5]],), enable_bundle=(False,), learning_rate=(0.5,),
    max_conflict_rate=(0.2,), drop_rate=(0.6,),
)  # fmt: skip
XGB = some(
    max_depth=(0, 2, 6), grow_policy=("lossguide", "symmetric"), max_leaves=(0, 5, 12),
    min_child_weight=(0.0, 5.0),
    max_bin=(16, 400), booster=("dart",), rate_drop=(0.6,), subsample=(0.5,), colsample_bytree=(0.6,),
    colsample_bylevel=(0.6,), colsample_bynode=(0.6,), reg_alpha=(0.5,), gamma=(0.5,),
    max_delta_step=(0.3,), monotone_constraints=((1, -1, 0, 0, 0, 0, 1),), num_parallel_tree=(3,),
    interaction_constraints=([[0, 1, 3], [2, 3, 4, 5]],), max_cat_to_onehot=(1, 20),
)  # fmt: skip


def lgbm(kind, options):
    options = {"n_estimators": 4, "random_state": 2, "n_jobs": 1} | options
    if options.get("boosting_type") == "goss":
        options |= {"subsample": 1.0}
    if options.get("boosting_type") == "rf":
        options |= {"subsample": 0.5, "subsample_freq": 1}
    if kind == "grade":
        return arb.LGBMRanker(**options)
    if kind in ("number", "count"):
        objective = {"number": "regression_l1", "count": "poisson"}[kind]
        return arb.LGBMRegressor(**options, objective=objective)
    return arb.LGBMClassifier(**options)


def xgb(kind, options):
    options = {"n_estimators": 4, "random_state": 2, "n_jobs": 1, "tree_method": "hist"} | options
    options["enable_categorical"] = True
    if options.get("grow_policy") == "symmetric":
        options.pop("max_leaves", None)
    if options.get("max_depth") == 0 and not options.get("max_leaves"):
        options["max_depth"] = 3  # there must be a limit
    if kind == "grade":
        return arb.XGBRanker(**options)
    if kind in ("number", "count"):
        objective = {"number": "reg:squarederror", "count": "reg:tweedie"}[kind]
        return arb.XGBRegressor(**options, objective=objective)
    return arb.XGBClassifier(**options)


def fitted(make, kind, options, weighted):
    arguments = {}
    if weighted:
        w = RNG_WEIGHTS if kind != "grade" or make is lgbm else RNG_WEIGHTS[: len(GROUPS)] + 0.5
        arguments["sample_weight"] = w
    if kind == "grade":
        arguments["group"] = GROUPS
    return saved(make(kind, options).fit(X, TARGETS[kind], **arguments))


RNG_WEIGHTS = RNG.choice([0.0, 0.3, 1.0, 2.5], N)
kinds = st.sampled_from(list(TARGETS))
quiet = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # kernels are compiled on first use


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("make", "options"), [(lgbm, LGBM), (xgb, XGB)], ids=["lgbm", "xgb"])
@quiet
@given(data=st.data(), kind=kinds, weighted=st.booleans(), seed=st.integers(0, 99))
def test_files_are_those_of_local_fits(make, options, data, kind, weighted, seed):
    drawn = data.draw(options)
    wanted = fitted(make, kind, drawn, weighted)
    for k in (1, 3, 7):
        with in_shards(k, seed):
            assert fitted(make, kind, drawn, weighted) == wanted


# ---------------------------------------------------------------------- what is around the rounds
def stopping(model, **more):
    return model.fit(
        X, TARGETS["two"], eval_set=[(X, TARGETS["two"]), (X[:99], TARGETS["two"][:99])]
    )


def continued(model, **more):
    first = arb.LGBMClassifier(n_estimators=3, max_bin=10).fit(X, TARGETS["two"])
    return model.fit(X, TARGETS["two"], init_model=first)


@pytest.mark.parametrize("fit", [stopping, continued])
@pytest.mark.parametrize(
    "more", [{}, {"boosting_type": "dart", "drop_rate": 0.5}], ids=["", "dart"]
)
def test_evaluation_and_continued_fits(fit, more):
    model = arb.LGBMClassifier(n_estimators=5, early_stopping_round=None, **more)
    wanted = saved(fit(model))
    with in_shards(3):
        again = fit(model)
    assert saved(again) == wanted
    if fit is stopping:
        assert again.evals_result_ == fit(model).evals_result_


def test_a_snapshot_of_a_fit_in_shards_continues(tmp_path):
    def fit(rounds, **more):
        model = arb.XGBClassifier(n_estimators=rounds, subsample=0.7, enable_categorical=True)
        path = tmp_path / "kept"
        return model.fit(X, TARGETS["three"], save_snapshot=path, snapshot_every=2, **more)

    wanted = saved(fit(6))
    for k in (2, 5):
        (tmp_path / "kept").unlink()
        with in_shards(k):
            fit(3)
        with in_shards(k + 1):
            assert saved(fit(6, resume=True)) == wanted


def test_an_objective_of_the_users_and_its_errors():
    def halves(y, p):
        return p - y, np.ones_like(y)

    def negative(y, p):
        return p - y, -np.ones_like(y)

    def fit(objective):
        model = arb.XGBRegressor(n_estimators=3, objective=objective, enable_categorical=True)
        return model.fit(X, SIGNAL).predict(X)

    wanted = fit(halves)
    with in_shards(3):
        assert fit(halves).tobytes() == wanted.tobytes()
        with pytest.raises(DataError, match="negative hessian in round 0"):
            fit(negative)


# ---------------------------------------------------------------------- messages and losses
def test_a_tree_of_31_leaves_takes_at_most_13_rounds_of_messages():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(20_000, 8))
    y = rows[:, 0] * rows[:, 1] + np.sin(3 * rows[:, 2]) + rng.normal(size=20_000) > 0
    cluster, rounds = Counted(), 10
    with in_shards(2, cluster=cluster):
        model = arb.LGBMClassifier(n_estimators=rounds).fit(rows, y)
    assert all(int(np.sum(tree.kind == 0)) == 31 for tree in model.trees_)
    of_trees = [cluster.messages[name] for name in ("derive", "begin", "split", "sums")]
    assert sum(of_trees) / rounds <= 13
    histograms = 2 * 8 * 256 * 8  # of two shards, Σg and Σh of a bin in one number
    assert cluster.bytes / rounds <= 1.4 * 31 * histograms


def fit_small(**more):
    return saved(arb.LGBMClassifier(n_estimators=4, **more).fit(X, TARGETS["three"]))


KEPT, SENT = (
    {"subsample": 0.7, "subsample_freq": 1},
    {"boosting_type": "goss", "learning_rate": 0.5},
)
DROPPED = {"boosting_type": "dart", "drop_rate": 0.8, "skip_drop": 0.0}


@pytest.mark.parametrize("more", [{}, KEPT, SENT, DROPPED], ids=["all", "kept", "sent", "dropped"])
def test_lost_shards_cost_a_tree_and_change_no_byte(more):
    wanted = fit_small(**more)
    for first in range(2, 60, 5):  # from the first message on
        i = first % 3
        cluster = Counted([(i, first), ((i + 1) % 3, first), (i, first + 9)])
        with in_shards(3, cluster=cluster):
            assert fit_small(**more) == wanted
        assert cluster.died == 3


def test_margins_stay_in_shards_where_they_can():
    for more, kept in (({}, True), (KEPT, True), (SENT, False), (DROPPED, False)):
        with in_shards(3, cluster=(cluster := Counted())):
            fit_small(**more)
        assert ("derive" in cluster.messages, "leaves" in cluster.messages) == (kept, not kept)


def test_derivatives_that_are_not_finite_name_the_rows():
    def fit():
        model = arb.XGBRegressor(n_estimators=9, tree_method="hist", learning_rate=1e200)
        return model.fit(X[["b"]], SIGNAL)

    with pytest.raises(DataError, match="derivatives of round") as local:
        fit()
    with in_shards(3), pytest.raises(DataError) as found:
        fit()
    assert str(found.value) == str(local.value)


def test_callbacks_may_change_the_rules_between_rounds():
    def fit():
        change = arb.reset_parameter(num_leaves=[3, 31, 8, 20], min_child_samples=[1, 20, 5, 1])
        model = arb.LGBMClassifier(n_estimators=4)
        return saved(model.fit(X, TARGETS["two"], callbacks=[change]))

    wanted = fit()
    with in_shards(3):
        assert fit() == wanted


def test_a_shard_lost_three_times_ends_the_fit():
    cluster = Counted([(1, 5), (1, 12), (1, 20)])
    with (
        in_shards(3, cluster=cluster),
        pytest.raises(
            WorkerError, match=r"object 1 \(\d+ rows\) was lost 3 times. It needs \d+ MB"
        ),
    ):
        fit_small()
