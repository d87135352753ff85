"""Boosted trees without tuning, from the outside."""

from __future__ import annotations

import io
import itertools
import threading
from time import perf_counter, sleep
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import arboretum as arb
from arboretum.base.progress import Pace
from arboretum.boosting.averaged import boosters, fitting
from arboretum.boosting.averaged.fit_time import FitTime
from arboretum.errors import DataError, ParameterError
from tests.boosting.averaged.averaged_cases import mixed, numbers, saved

WORDS, CLASS = mixed()
X, NUMBER = numbers()
THIRD = np.digitize(NUMBER, np.quantile(NUMBER, [0.3, 0.7]))
FAST = {"quality": "fast", "random_state": 1}


def classifier(**more):
    return arb.BoostedTreesClassifier(**{"random_state": 1, **more})


def regressor(**more):
    return arb.BoostedTreesRegressor(**{"random_state": 1, **more})


# ---------------------------------------------------------------------- the mean of members
CASES = {
    "words": (classifier, WORDS, CLASS),
    "three classes": (classifier, X, THIRD),
    "numbers": (regressor, X, NUMBER),
    "sparse": (regressor, sparse.csr_array(np.where(X > 0.5, X, 0.0)), NUMBER),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("quality", ["fast", "default"])
def test_the_model_is_the_mean_of_its_members(name, quality):
    make, table, y = CASES[name]
    model = make(quality=quality).fit(table, y)
    matrix = model._encode(table)
    weights = [member.weight for member in model.members_]
    assert np.isclose(sum(weights), 1.0)
    mean = sum(m.weight * m.ensemble.answers(matrix) for m in model.members_)
    raw = model.predict(table) if make is regressor else model.decision_function(table)
    assert np.allclose(np.squeeze(raw), np.squeeze(mean), rtol=0, atol=1e-10)
    assert len(model.members_) == {"fast": 1, "default": 4 if y is THIRD else 6}[quality]
    assert model.score(table, y) > 0.6
    assert np.isclose(model.feature_importances_.sum(), 1.0)


@pytest.mark.parametrize("name", CASES)
def test_same_bytes_on_any_number_of_threads_and_back_from_a_file(name):
    make, table, y = CASES[name]
    first = make(n_jobs=1).fit(table, y)
    content = saved(first)
    assert saved(make(n_jobs=4).fit(table, y)) == content
    assert saved(make(n_jobs=1, random_state=2).fit(table, y)) != content
    loaded = arb.load(io.BytesIO(content))
    assert (loaded.predict(table) == first.predict(table)).all()
    assert loaded.choices_ == first.choices_
    assert repr(loaded.members_) == repr(first.members_)
    assert saved(loaded) == content


def test_explanations_and_servers_have_the_numbers_of_predict():
    model = classifier(**FAST).fit(X, NUMBER > 0)
    few = X[:6]
    margin = model.decision_function(few)
    sums = model.shap_values(few).sum(axis=1) + model.shap_base_value()
    assert np.allclose(np.squeeze(sums), margin, rtol=0, atol=1e-9)
    assert (model.predictor("predict_proba")(few) == model.predict_proba(few)).all()
    sheet = arb.worksheet(model, X, NUMBER > 0).row(3)
    assert np.isclose(sheet.formulas[0].value, margin[3], rtol=0, atol=1e-12)
    with pytest.raises(ParameterError, match=r"\.row\(i\) adds up the members"):
        arb.worksheet(model, X, NUMBER > 0).node(0, 0)
    stages = list(model.staged_predict_proba(few))
    assert np.allclose(stages[-1], model.predict_proba(few), rtol=0, atol=1e-12)
    assert model.apply(few).shape == (6, len(model.trees_))


def test_choices_list_what_was_tried():
    model = regressor().fit(X, NUMBER)
    options = [one.option for one in model.choices_ if one.what == "kind"]
    kinds = ["plain", "random cuts", "symmetric"]
    assert [option.split(",")[0] for option in options] == kinds
    assert set(model.evals_result_) == set(kinds)
    best = min(model.evals_result_["plain"]["rmse"])
    assert best == next(one.loss for one in model.choices_ if one.option.startswith("plain"))
    assert "held-out loss" in repr(model.choices_)


# ---------------------------------------------------------------------- held-out rows
def test_a_given_table_is_held_out_and_not_learned_from():
    model = regressor(**FAST).fit(X[:200], NUMBER[:200], eval_set=(X[200:], NUMBER[200:]))
    assert len(model._held_out_errors) == 100
    other = regressor(**FAST).fit(X[:200], NUMBER[:200], eval_set=[(X[200:], NUMBER[200:] + 1e-9)])
    assert model.members_[0].ensemble.n_rounds == other.members_[0].ensemble.n_rounds
    assert (model.predict(X) == other.predict(X)).all()


def test_groups_and_time_change_which_rows_are_held_out():
    steps = np.arange(300) // 10
    y = NUMBER + np.random.default_rng(0).normal(size=30)[steps] * 3  # a group shares its error
    table = np.column_stack([X, steps])
    losses = {}
    for name, model, more in (
        ("random", regressor(), {}),
        ("groups", regressor(), {"groups": steps}),
        ("time", regressor(folds="time"), {}),
    ):
        model.fit(table, y, **more)
        losses[name] = next(one.loss for one in model.choices_ if one.what == "mean")
    assert losses["random"] < min(losses["groups"], losses["time"])


def test_rows_of_weight_0_are_left_out_with_their_groups():
    weight = np.where(np.arange(300) % 3 == 0, 0.0, 1.0)
    groups, kept = np.arange(300) // 5, weight > 0
    with_zeros = regressor(**FAST).fit(X, NUMBER, weight, groups=groups)
    without = regressor(**FAST).fit(X[kept], NUMBER[kept], weight[kept], groups=groups[kept])
    assert (with_zeros.predict(X) == without.predict(X)).all()


def test_class_weights_are_sample_weights():
    y = (NUMBER > 1.5).astype(int)
    by_class = classifier(**FAST, class_weight={0: 1, 1: 5}).fit(X, y)
    by_row = classifier(**FAST).fit(X, y, np.where(y, 5.0, 1.0))
    assert (by_class.predict_proba(X) == by_row.predict_proba(X)).all()
    plain = classifier(**FAST).fit(X, y)
    balanced = classifier(**FAST, class_weight="balanced").fit(X, y)
    assert balanced.predict(X).mean() > plain.predict(X).mean()


def test_predictions_rise_with_a_constrained_column():
    model = regressor(monotonic_cst={"x1": 1}).fit(
        pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"]), NUMBER
    )
    row = pd.DataFrame(np.zeros((50, 4)), columns=["x0", "x1", "x2", "x3"])
    row["x1"] = np.linspace(-3, 3, 50)
    assert np.diff(model.predict(row)).min() >= 0


# ---------------------------------------------------------------------- columns, threads, progress
def test_columns_are_read_as_the_parameters_have_them():
    frame, y = WORDS.assign(code=np.arange(300) % 4), CLASS
    ranks = {"soil": ["sand", "peat", "clay"]}
    model = classifier(**FAST, categorical_features=["code"], ordinal_features=ranks).fit(frame, y)
    kinds = {column.name: column.kind for column in model.schema_.columns}
    assert kinds == {
        "size": "numeric", "age": "numeric", "soil": "ordinal", "code": "categorical"
    }  # fmt: skip
    assert model.schema_.columns[2].categories == ("sand", "peat", "clay")


def test_unseen_words_are_treated_as_wanted():
    model = classifier(**FAST).fit(WORDS, CLASS)
    new = WORDS[:5].assign(soil="lava")
    with pytest.warns(arb.errors.UnseenCategoryWarning):
        missing = model.predict_proba(new)
    assert (missing == model.predict_proba(new.assign(soil=None))).all()
    with pytest.raises(DataError, match="lava"):
        model.set_params(unseen="error").predict_proba(new)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_take_trials_and_members(n_jobs, monkeypatch):
    seen, run = [], fitting.parallel.run

    def watched(work, items, n_threads):
        seen.append(n_threads)
        run(work, items, n_threads)

    monkeypatch.setattr(fitting, "parallel", SimpleNamespace(run=watched))
    monkeypatch.setattr(arb.BoostedTreesRegressor, "_threads", lambda self: self.n_jobs)
    regressor(n_jobs=n_jobs).fit(X, NUMBER)
    assert seen == [n_jobs, n_jobs]


def test_verbose_shows_a_bar(monkeypatch):
    shown, run = [], fitting.run_rounds

    def watched(*numbers, bar, **more):
        shown.append(bar)
        return run(*numbers, bar=False, **more)

    monkeypatch.setattr(fitting, "run_rounds", watched)
    for verbose in (0, 1):
        regressor(**FAST, verbose=verbose).fit(X, NUMBER)
    assert shown == [False, True]


def test_weights_of_rows_count():
    heavy = np.where(X[:, 0] > 0, 10.0, 1.0)
    pulled = NUMBER + np.where(X[:, 0] > 0, 3.0, 0.0) * (X[:, 2] > 0)
    plain, weighed = (regressor(**FAST).fit(X, pulled, w) for w in (None, heavy))
    where = X[:, 0] > 0
    errors = [np.abs(m.predict(X) - pulled)[where].mean() for m in (plain, weighed)]
    assert errors[1] < errors[0]


# ---------------------------------------------------------------------- intervals and sets
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_intervals_cover_new_rows(coverage):
    table, y = numbers(2_400, seed=5)
    model = regressor(**FAST).fit(table[:1200], y[:1200])
    low, high = model.predict_interval(table[1200:], coverage).T
    inside = ((low <= y[1200:]) & (y[1200:] <= high)).mean()
    assert coverage - 0.06 < inside < coverage + 0.08
    assert (low < high).all()


@pytest.mark.parametrize("coverage", [0.6, 0.9])
def test_sets_cover_new_rows(coverage):
    table, y = numbers(2_400, seed=6)
    y = np.digitize(y, [-1, 0, 1, 2])
    model = classifier(**FAST).fit(table[:1200], y[:1200])
    sets = model.predict_set(table[1200:], coverage)
    inside = sets[np.arange(1200), y[1200:]].mean()
    assert coverage - 0.06 < inside < coverage + 0.12
    assert sets.any(axis=1).all()
    assert sets.sum(axis=1).mean() < 3.5


# ---------------------------------------------------------------------- time and Ctrl-C
def test_a_limited_time_is_kept(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(Pace, "_clock", staticmethod(lambda: next(ticks) / 1000))
    table, y = numbers(1_500, seed=2)
    model = regressor(quality="best", time_limit=0.5, n_jobs=1).fit(table, y)
    assert next(ticks) < 700, "the clock is read once a round"
    (member,) = model.members_
    rounds = member.ensemble.n_rounds
    assert 200 < rounds < 500, "trials that time ended leave the rest to one member"
    line = model.choices_[-1]
    assert line.option == f"1 {member.kind}, {rounds} of 1200 rounds"


def test_members_that_would_not_end_in_time_are_left_out(monkeypatch):
    monkeypatch.setattr(FitTime, "allows", lambda self, seconds: False)
    model = regressor(n_jobs=1, time_limit=1e6).fit(X, NUMBER)
    assert [member.weight for member in model.members_] == [1.0]
    assert [line.why for line in model.choices_[-2:]] == ["time was over"] * 2


@pytest.mark.parametrize("way", ["raise", "keep"])
def test_after_an_interrupt_the_finished_members_predict(way, monkeypatch):
    grow, calls = fitting.grow_member, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return grow(*arguments)

    monkeypatch.setattr(fitting, "grow_member", interrupted)
    model = regressor(n_jobs=1)
    model.on_interrupt = way
    if way == "raise":
        with pytest.raises(KeyboardInterrupt, match="2 members that were finished, of 6"):
            model.fit(X, NUMBER)
    else:
        with pytest.warns(UserWarning, match="2 members that were finished, of 6"):
            model.fit(X, NUMBER)
    assert [member.weight for member in model.members_] == [0.5, 0.5]
    assert model.choices_[-1].why == "Ctrl-C"
    assert arb.load(io.BytesIO(saved(model))).interrupted_ == model.interrupted_
    assert model.score(X, NUMBER) > 0.7


def test_an_interrupt_before_the_first_member_keeps_nothing(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting, "run_trial", interrupted)
    model = regressor(n_jobs=1)
    model.on_interrupt = "keep"
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, NUMBER)
    assert not hasattr(model, "ensemble_")


def test_an_interrupt_ends_the_work_of_other_threads():
    time, begun, ended = FitTime(None), threading.Event(), []

    def work(_):
        if threading.current_thread() is threading.main_thread():
            assert begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        began = perf_counter()
        while not time.is_over() and perf_counter() - began < 10:
            sleep(0.001)
        ended.append(time.is_over())

    with pytest.raises(KeyboardInterrupt):
        fitting.on_threads(work, 2, 2, time)
    assert ended == [True]


def test_progress_counts_trials_and_members():
    from arboretum.base.rounds import listening

    seen = []
    with listening(lambda name, done, wanted: seen.append((done, wanted))):
        regressor(n_jobs=1).fit(X, NUMBER)
    assert seen == [(k, 12) for k in range(13)]


# ---------------------------------------------------------------------- bad input
BAD = {
    "quality": ({"quality": "good"}, {}, ParameterError, "'quality' .* must be 'fast', 'default'"),
    "time": ({"time_limit": 0}, {}, ParameterError, "'time_limit' .* must be a number > 0"),
    "folds": ({"folds": 5}, {}, ParameterError, "'folds' .* must be 'random' or 'time'"),
    "two ways": (
        {"folds": "time"}, {"groups": np.arange(300)}, ParameterError, "give one of them",
    ),
    "both": (
        {}, {"groups": np.arange(300), "eval_set": (X, NUMBER)}, ParameterError, "give one of them",
    ),
    "short groups": ({}, {"groups": [1, 2]}, DataError, r"groups must hold .* 300 in all, got shape"),
    "one group": ({}, {"groups": np.zeros(300)}, DataError, "at least two groups"),
    "missing": ({}, {"groups": np.r_[np.nan, np.ones(299)]}, DataError, "must not be missing"),
    "three": ({}, {"eval_set": (X, NUMBER, X)}, ParameterError, "must be a pair"),
    "several": ({}, {"eval_set": [(X, NUMBER)] * 2}, ParameterError, "a list of one pair"),
    "columns": ({}, {"eval_set": (X[:, :2], NUMBER)}, DataError, "eval_set: "),
    "signs": ({"monotonic_cst": [2, 0, 0, 0]}, {}, ParameterError, "only -1, 0 and 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    settings, arguments, error, message = BAD[name]
    with pytest.raises(error, match=message):
        regressor(**settings).fit(X, NUMBER, **arguments)


def test_other_bad_input():
    with pytest.raises(DataError, match="at least 2 rows"):
        regressor().fit(X[:1], NUMBER[:1])
    with pytest.raises(ParameterError, match="works for two classes, y holds 3"):
        classifier(monotonic_cst=[1, 0, 0, 0]).fit(X, THIRD)
    with pytest.raises(DataError, match="eval_set: y holds classes"):
        classifier().fit(X, NUMBER > 0, eval_set=(X, np.full(300, "?")))
    with pytest.raises(DataError, match="needs at least 19 held-out rows"):
        regressor().fit(X[:12], NUMBER[:12]).predict_interval(X)


def test_the_name_of_a_target_is_refused():
    table = pd.DataFrame(X).assign(y=NUMBER)
    with pytest.raises(DataError, match=r"needs y as an array, .* name 'y': .*drop\(columns='y'\)"):
        regressor().fit(table, "y")


def test_streams_are_refused(tmp_path):
    pd.DataFrame(X).assign(y=NUMBER).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match="BoostedTreesRegressor needs the table in memory"):
        regressor().fit(arb.Stream(tmp_path / "t.csv"), "y")


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_a_few_rows_are_enough(n):
    assert regressor().fit(X[:n], NUMBER[:n]).predict(X).shape == (300,)
    y = np.arange(n) % 2
    assert classifier().fit(X[:n], y).predict_proba(X).shape == (300, 2)


def test_a_single_class_and_a_constant_target():
    model = classifier().fit(X, np.full(300, "same"))
    assert (model.predict(X) == "same").all()
    assert model.predict_proba(X).tolist() == [[1.0]] * 300
    assert np.allclose(regressor().fit(X, np.full(300, 7.0)).predict(X), 7.0)


def test_symmetric_trees_of_small_tables_have_noise(monkeypatch):
    model = regressor().fit(X, NUMBER)
    given = boosters._rules
    monkeypatch.setattr(boosters, "_rules", lambda *some: given(*some)._replace(noise=0.0))
    other = regressor().fit(X, NUMBER)
    for one, quiet in zip(model.members_, other.members_, strict=True):
        cuts = [member.ensemble.trees[0].feature.tolist() for member in (one, quiet)]
        assert (cuts[0] == cuts[1]) == (one.kind != "symmetric")


def test_larger_tables_get_plain_and_symmetric_trees():
    table, y = numbers(2_200, seed=3)
    model = regressor(n_jobs=2).fit(table, y)
    kinds = {member.kind for member in model.members_}
    assert set(model.evals_result_) == {"plain", "symmetric"}
    assert kinds <= {"plain", "symmetric"}
    weights = [member.weight for member in model.members_]
    assert np.isclose(sum(weights), 1.0)
    assert saved(regressor(n_jobs=1).fit(table, y)) == saved(model)
