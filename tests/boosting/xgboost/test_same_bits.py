"""The same model file for any number of threads, and after a fit was killed and taken up again."""

import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from arboretum import XGBClassifier, XGBRanker, XGBRegressor, load
from arboretum.boosting.second_order.booster import Booster
from arboretum.boosting.second_order.snapshot import parameter_print
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.io.container import read, write
from tests.boosting.xgboost.xgb_cases import halves, mixed, saved, thirds

DRAWN = {
    "subsample": 0.7,
    "colsample_bytree": 0.8,
    "colsample_bylevel": 0.8,
    "colsample_bynode": 0.8,
    "random_state": 3,
    "n_estimators": 6,
}


def _large(n=40_000):
    """Rows enough for several threads to split a node."""
    rng = np.random.default_rng(0)
    X, y = mixed(n)
    for k in range(4):
        X[f"noise {k}"] = rng.normal(size=n)
    return X, y


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"tree_method": "approx", "n_estimators": 3},
        {"grow_policy": "lossguide", "max_leaves": 40},
        {"grow_policy": "symmetric"},
        {"booster": "dart", "rate_drop": 0.4, "num_parallel_tree": 2, "n_estimators": 4},
        {"max_bin": 400},
    ],
    ids=str,
)
def test_the_file_does_not_depend_on_the_number_of_threads(how):
    X, y = _large()
    files = {
        saved(XGBRegressor(n_jobs=jobs, **{**DRAWN, **how}).fit(X, y)) for jobs in (1, 2, 3, 8)
    }
    assert len(files) == 1


def test_nor_does_that_of_several_classes_or_of_orders():
    X, y = _large()
    w = np.random.default_rng(1).random(len(y))
    files = {
        saved(XGBClassifier(n_jobs=jobs, **DRAWN).fit(X, thirds(y), sample_weight=w))
        for jobs in (1, 2, 3, 8)
    }
    assert len(files) == 1
    sizes = [100] * (len(y) // 100)
    files = {
        saved(XGBRanker(n_jobs=jobs, **DRAWN).fit(X, thirds(y), group=sizes)) for jobs in (1, 3)
    }
    assert len(files) == 1


def test_exact_trees_do_not_depend_on_the_number_of_threads():
    X, y = _large(20_000)
    X = X.drop(columns=["city", "colour"])
    how = {**DRAWN, "tree_method": "exact", "n_estimators": 3}
    files = {saved(XGBRegressor(n_jobs=jobs, **how).fit(X, y)) for jobs in (1, 3)}
    assert len(files) == 1


# ---------------------------------------------------------------------- snapshots
KINDS = {
    "plain": {"subsample": 0.7, "colsample_bynode": 0.7},
    "dart": {"booster": "dart", "rate_drop": 0.4},
    "symmetric": {"grow_policy": "symmetric", "colsample_bylevel": 0.7},
    "approx": {"tree_method": "approx", "proposals": "round"},
    "approx, once": {"tree_method": "approx", "proposals": "fit"},
    "approx, global": {"tree_method": "approx", "proposals": "global", "sketch_eps": 0.1},
    "approx, local": {"tree_method": "approx", "proposals": "local", "max_depth": 3},
    "exact": {"tree_method": "exact"},
    "absolute": {"objective": "reg:absoluteerror"},
}


def _table(kind):
    X, y = mixed()
    return (X[["age"]], y) if kind == "exact" else (X, y)


def _die_after(monkeypatch, rounds):
    """Let the process "die" in a round: an error that nothing catches."""
    grow = Booster.round
    made = []

    def dying(self, most):
        if len(made) == rounds:
            raise MemoryError("died")
        made.append(1)
        return grow(self)

    monkeypatch.setattr(Booster, "round", dying)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_taken_up_again_ends_in_the_same_bytes(kind, tmp_path, monkeypatch):
    X, y = _table(kind)
    how = {"n_estimators": 9, "max_depth": 3, "random_state": 5, **KINDS[kind]}
    how["early_stopping_rounds"] = 4
    judged = {"eval_set": [(X, y), (X[:100], y[:100])], "verbose": False}
    whole = XGBRegressor(**how).fit(X, y, **judged)
    path = tmp_path / "run.snap"
    for rounds in (3, 2):  # dies twice
        keep = {"save_snapshot": path, "snapshot_every": 2, "resume": True}
        with monkeypatch.context() as patch:
            _die_after(patch, rounds)
            with pytest.raises(MemoryError):
                XGBRegressor(**how).fit(X, y, **judged, **keep)
    model = XGBRegressor(**how).fit(X, y, **judged, resume=path)
    assert saved(model) == saved(whole)
    assert model.evals_result() == whole.evals_result()


_SCRIPT = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.boosting.xgboost.xgb_cases import mixed
from arboretum import XGBClassifier
from arboretum.callback import TrainingCallback

class Slow(TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        time.sleep(0.02)
        return False

X, y = mixed()
model = XGBClassifier(n_estimators=60, subsample=0.6, colsample_bytree=0.7, random_state=1)
if {slow}:
    model.set_params(callbacks=[Slow()])
model.fit(X, y > 2, save_snapshot={path!r}, snapshot_every=1, resume=True)
model.set_params(callbacks=None).save({out!r})
"""


def test_a_process_that_is_killed_can_be_taken_up(tmp_path):
    root = str(Path(__file__).parents[3])
    path, out = tmp_path / "run.snap", tmp_path / "killed.arb"

    def start(slow):
        script = _SCRIPT.format(root=root, slow=slow, path=str(path), out=str(out))
        return subprocess.Popen([sys.executable, "-c", script])

    for _ in range(2):  # killed twice, at whatever round it was in
        before = path.stat().st_mtime_ns if path.exists() else 0
        process = start(slow=True)
        deadline = time.monotonic() + 120
        while not path.exists() or path.stat().st_mtime_ns == before:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert start(slow=False).wait() == 0
    X, y = mixed()
    whole = XGBClassifier(n_estimators=60, subsample=0.6, colsample_bytree=0.7, random_state=1)
    whole.fit(X, y > 2).save(tmp_path / "whole.arb")
    assert out.read_bytes() == (tmp_path / "whole.arb").read_bytes()
    assert len(load(out)) == 60


def test_a_snapshot_of_another_fit_is_refused(tmp_path):
    X, y = mixed()
    path = tmp_path / "run.snap"
    keep = {"save_snapshot": path, "snapshot_every": 2, "resume": True}
    model = XGBRegressor(n_estimators=4).fit(X, y, **keep)
    other = y.copy()
    other[17] += 1e-9
    for data, how in (((X, other), {}), ((X, y), {"max_depth": 3}), ((X[::-1], y), {})):
        words = "other parameters" if how else "other data"
        with pytest.raises(DataError, match=words):
            XGBRegressor(n_estimators=4, **how).fit(*data, **keep)
    with pytest.raises(DataError, match="other data"):
        XGBRegressor(n_estimators=4).fit(X, y, sample_weight=np.full(len(y), 2.0), **keep)
    # more rounds, or other threads, are the same fit
    longer = XGBRegressor(n_estimators=6, n_jobs=2).fit(X, y, **keep)
    whole = XGBRegressor(n_estimators=6).fit(X, y)
    assert saved(longer.set_params(n_jobs=None)) == saved(whole)
    assert len(model) == 4
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ModelFileError, match="cannot be resumed"):
        XGBRegressor(n_estimators=4).fit(X, y, **keep)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"resume": True}, "give its path"),
        ({"resume": "nowhere.snap"}, "no such snapshot"),
        ({"save_snapshot": 3}, "a path or None"),
        ({"save_snapshot": "a", "snapshot_every": 0}, "an int ≥ 1"),
        ({"save_snapshot": "a", "resume": "yes please.snap"}, "no such snapshot"),
        ({"save_snapshot": "a", "resume": 2}, "True, False or a path"),
    ],
)
def test_snapshots_are_asked_for_in_a_way_that_makes_sense(arguments, words):
    X, y = mixed(50)
    with pytest.raises(ParameterError, match=words):
        XGBClassifier(n_estimators=1).fit(X, halves(y), **arguments)


def test_a_snapshot_with_more_rounds_than_are_wanted_is_refused(tmp_path):
    X, y = mixed(60)
    keep = {"save_snapshot": tmp_path / "run.snap", "snapshot_every": 1, "resume": True}
    XGBRegressor(n_estimators=4).fit(X, y, **keep)
    with pytest.raises(
        ParameterError, match="has 4 rounds, and 2 are requested: request at least 4"
    ):
        XGBRegressor(n_estimators=2).fit(X, y, **keep)
    assert len(XGBRegressor(n_estimators=4).fit(X, y, **keep)) == 4


def _towards(goal):
    return lambda y, p: (p - goal, np.ones_like(p))


class _Pull:
    def __call__(self, y, p):
        return p - y, np.ones_like(p)


# pairs of functions that do not do the same
OTHER_FUNCTIONS = {
    "other constants": (lambda y, p: (p - 1.0, p * 0 + 1), lambda y, p: (p - 2.0, p * 0 + 1)),
    "other names": (lambda y, p: (p - y, p * 0 + 1), lambda y, p: (p - p, p * 0 + 1)),
    "what they enclose": (_towards(1.0), _towards(2.0)),
    "other defaults": (
        lambda y, p, g=1.0: (p - g, p * 0 + 1),
        lambda y, p, g=2.0: (p - g, p * 0 + 1),
    ),
    "partial": (partial(_towards, 1.0)(), partial(_towards, 2.0)()),
    "an inner function": (
        lambda y, p: (p - y, (lambda: p * 0 + 1)()),
        lambda y, p: (p - y, (lambda: p * 0 + 2)()),
    ),
}


@pytest.mark.parametrize(("first", "second"), OTHER_FUNCTIONS.values(), ids=OTHER_FUNCTIONS)
def test_a_snapshot_of_one_function_is_not_resumed_with_another(first, second, tmp_path):
    X, y = mixed(60)
    keep = {"save_snapshot": tmp_path / "run.snap", "snapshot_every": 1, "resume": True}
    how = {"max_depth": 2, "base_score": 0.5}
    XGBRegressor(n_estimators=2, objective=first, **how).fit(X, y, **keep)
    with pytest.raises(DataError, match="other parameters"):
        XGBRegressor(n_estimators=3, objective=second, **how).fit(X, y, **keep)
    assert len(XGBRegressor(n_estimators=3, objective=first, **how).fit(X, y, **keep)) == 3


def test_functions_are_told_apart_by_what_they_do():
    def own(y, p):
        return own(y, p)  # refers to itself

    same = [lambda y, p: (p - y, p) for _ in range(2)]
    prints = [parameter_print({"objective": one}) for one in (*same, own, _Pull(), _Pull(), len)]
    assert prints[0] == prints[1]
    assert prints[3] == prints[4]
    assert len(set(prints)) == 4
    shifted = [partial(np.add, shift) for shift in (1.0, 1.0, 2.0)]
    one, again, other = (parameter_print({"objective": each}) for each in shifted)
    assert one == again != other


_PULL = 1.0


def _pulled(y, p):
    return [_pull_of(row, p) for row in y], np.ones(len(y))


def _pull_of(y, p):
    return _PULL * (p - y)


def test_a_changed_global_makes_another_objective(monkeypatch):
    before = parameter_print({"objective": _pulled})
    assert parameter_print({"objective": _pulled}) == before
    monkeypatch.setitem(globals(), "_PULL", 2.0)  # read by a function that the objective calls
    assert parameter_print({"objective": _pulled}) != before


@pytest.mark.parametrize("seed", [[], None, "", "²", "-3", "9" * 5000, 3])
def test_a_snapshot_without_a_seed_is_refused(seed, tmp_path):
    X, y = mixed(60)
    path = tmp_path / "run.snap"
    XGBRegressor(n_estimators=2, max_depth=2).fit(X, y, save_snapshot=path, snapshot_every=1)
    state = read(path)
    state["seed"] = seed
    write(path, state)
    with pytest.raises(ModelFileError, match="cannot be resumed: it has no seed"):
        XGBRegressor(n_estimators=3, max_depth=2).fit(X, y, resume=path)


def test_a_snapshot_that_cannot_be_written_does_not_end_the_fit(tmp_path, monkeypatch):
    X, y = mixed(60)
    path = tmp_path / "run.snap"

    def full(target, document):
        if len(document["trees"]["n_nodes"]) in (2, 3):
            raise OSError(28, "No space left on device")
        write(target, document)

    monkeypatch.setattr("arboretum.io.container.write", full)
    how = {"max_depth": 2, "random_state": 0}
    with pytest.warns(
        UserWarning, match="after [23] rounds could not be written.*No space left"
    ) as seen:
        model = XGBRegressor(n_estimators=5, **how).fit(X, y, save_snapshot=path, snapshot_every=1)
    assert len(seen) == 2
    whole = XGBRegressor(n_estimators=5, **how).fit(X, y)
    assert saved(model) == saved(whole)
    assert len(read(path)["trees"]["n_nodes"]) == 5


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"grow_policy": "lossguide", "max_leaves": 20, "max_depth": 0},
        {"grow_policy": "symmetric", "colsample_bylevel": 0.6},
        {"subsample": 0.5, "colsample_bynode": 0.5},
        {"booster": "dart", "rate_drop": 0.5, "reg_alpha": 0.5},
        {"max_bin": 20},
    ],
    ids=str,
)
def test_a_sparse_table_gives_the_trees_of_the_same_table_with_missing_values(how):
    rng = np.random.default_rng(5)
    groups = [np.eye(k)[rng.integers(0, k, 900)] for k in (4, 9, 30)]
    many = rng.normal(size=(900, 3)) * (rng.random((900, 3)) < 0.3)  # hundreds of values
    few = rng.integers(1, 6, (900, 6)) * (rng.random((900, 6)) < 0.05)
    X = np.hstack([*groups, many, few])
    y = X[:, :20] @ rng.normal(size=20) + many.sum(1) + few[:, 0] - few[:, 1]
    sparse, dense = sp.csr_matrix(X), np.where(X == 0, np.nan, X)
    weight = rng.random(900)
    model = partial(XGBRegressor, n_estimators=5, tree_method="hist", random_state=0, **how)
    for w in (None, weight):
        one = model().fit(sparse, y, sample_weight=w)
        other = model().fit(dense, y, sample_weight=w)
        assert np.array_equal(one.predict(sparse), other.predict(dense))
