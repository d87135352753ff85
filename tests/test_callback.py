"""`arboretum.callback`: XGBoost's names for what is done between rounds."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import arboretum
from arboretum.callback import (
    EarlyStopping,
    EvaluationMonitor,
    LearningRateScheduler,
    TrainingCallback,
    TrainingCheckPoint,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=200)


def fit(*callbacks, **options):
    model = arboretum.XGBRegressor(
        n_estimators=12, max_depth=2, callbacks=list(callbacks), **options
    )
    return model.fit(X[:120], Y[:120], eval_set=[(X[120:], Y[120:])], verbose=False)


def test_the_module_is_there_without_an_import_of_its_own():
    statement = "import arboretum; print(arboretum.callback.EarlyStopping.__name__)"
    found = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True)
    assert found.stdout.strip() == "EarlyStopping"
    assert "callback" in dir(arboretum)


def test_it_has_the_names_of_xgboost():
    peer = pytest.importorskip("xgboost.callback")
    for name in arboretum.callback.__all__:
        assert hasattr(peer, name)


def test_early_stopping_keeps_the_best_rounds():
    model = fit(EarlyStopping(rounds=1, min_delta=0.05, save_best=True), learning_rate=1.0)
    assert len(model.trees_) == model.best_iteration + 1 < 12


def test_the_monitor_prints_every_so_many_rounds(capsys):
    fit(EvaluationMonitor(period=5))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["[0]", "[5]", "[10]", "[11]"]
    assert all("validation_0-rmse:" in line for line in lines)


def test_the_learning_rate_follows_its_schedule():
    same = fit(LearningRateScheduler([0.3] * 12))
    np.testing.assert_array_equal(same.predict(X), fit().predict(X))
    fading = fit(LearningRateScheduler(lambda epoch: 0.3 * 0.5**epoch))
    largest = [np.abs(tree.value).max() for tree in fading.trees_]
    assert largest[-1] < 0.01 * largest[0]


def test_a_callback_of_ones_own_is_told_of_every_moment():
    class Diary(TrainingCallback):
        def __init__(self):
            self.moments = []

        def before_training(self, model):
            self.moments.append("begin")
            return model

        def before_iteration(self, model, epoch, evals_log):
            self.moments.append(epoch)
            return False

        def after_iteration(self, model, epoch, evals_log):
            assert len(evals_log["validation_0"]["rmse"]) == epoch + 1
            return epoch == 2

        def after_training(self, model):
            self.moments.append("end")
            return model

    diary = Diary()
    assert len(fit(diary).trees_) == 3
    assert diary.moments == ["begin", 0, 1, 2, "end"]


# ---------------------------------------------------------------------- what callbacks may call
def test_checkpoints_are_models_of_the_rounds_so_far(tmp_path):
    whole = fit(TrainingCheckPoint(tmp_path, name="some", interval=4))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["some_4.arb", "some_8.arb"]
    early = arboretum.load(tmp_path / "some_8.arb")
    np.testing.assert_array_equal(early.predict(X), whole.predict(X, iteration_range=(0, 9)))
    with pytest.raises(arboretum.ParameterError, match="as_pickle"):
        TrainingCheckPoint(tmp_path, as_pickle=True)


def test_the_model_in_the_making_has_the_methods_of_a_booster():
    seen = []

    class Look(TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            seen.append((len(model), len(model[:1].get_dump()), len(model.predict(X))))
            model.set_attr(rounds=epoch + 1)
            with pytest.raises(AttributeError, match="nonsense"):
                _ = model.nonsense
            return epoch == 1

    model = fit(Look())
    assert seen == [(1, 1, 200), (2, 1, 200)]
    assert model.get_booster().attr("rounds") == "2"


def test_a_monitor_may_write_elsewhere(capsys):
    lines = []
    fit(EvaluationMonitor(period=6, logger=lines.append))
    assert [line.split("\t")[0] for line in lines] == ["[0]", "[6]", "[11]"]
    assert capsys.readouterr().out == ""


def test_the_peers_own_objects_do_the_same(tmp_path, capsys):
    peer = pytest.importorskip("xgboost.callback")
    same = {"learning_rate": 1.0}
    for save_best in (False, True):
        how = {"rounds": 2, "min_delta": 0.01, "save_best": save_best}
        ours, theirs = fit(EarlyStopping(**how), **same), fit(peer.EarlyStopping(**how), **same)
        assert ours.best_iteration == theirs.best_iteration
        assert len(ours.trees_) == len(theirs.trees_) < 12
    rates = [0.5 * 0.8**epoch for epoch in range(12)]
    slower = fit(peer.LearningRateScheduler(rates), learning_rate=0.5)
    expected = fit(LearningRateScheduler([0.5, *rates]), learning_rate=0.5)
    np.testing.assert_array_equal(slower.predict(X), expected.predict(X))
    capsys.readouterr()
    fit(peer.EvaluationMonitor(period=5))
    assert capsys.readouterr().out.count("validation_0-rmse") == 4
    fit(
        peer.TrainingCheckPoint(tmp_path, interval=5),
        peer.TrainingCheckPoint(tmp_path, interval=6, as_pickle=True),
    )
    assert {path.suffix for path in tmp_path.iterdir()} == {".ubj", ".pkl"}
    booster = pickle.loads((tmp_path / "model_6.pkl").read_bytes())
    np.testing.assert_array_equal(booster.predict(X), fit().predict(X, iteration_range=(0, 7)))


def test_a_stopping_callback_of_xgboost_with_changes():
    peer = pytest.importorskip("xgboost.callback")

    class Own(peer.EarlyStopping):
        pass

    ours, theirs = fit(EarlyStopping(2), learning_rate=1.0), fit(Own(rounds=2), learning_rate=1.0)
    assert (ours.best_iteration, ours.best_score) == (theirs.best_iteration, theirs.best_score)


def test_the_pruning_callback_of_optuna():
    class Pruned(Exception):
        pass

    class PruningCallback(TrainingCallback):
        """Of the shape of Optuna's: anything but XGBoost's Booster is a set of folds."""

        def __init__(self, key):
            self.key, self._is_cv, self.reported = key, False, []

        def before_training(self, model):
            self._is_cv = True
            return model

        def after_iteration(self, model, epoch, evals_log):
            table, metric = self.key.split("-")
            scores = evals_log[table][metric]
            assert isinstance(scores, list)
            self.reported.append(scores[-1][0] if self._is_cv else scores[-1])
            if epoch == 3:
                raise Pruned
            return False

    callback = PruningCallback("validation_0-rmse")
    with pytest.raises(Pruned):
        fit(callback)
    assert len(callback.reported) == 4
