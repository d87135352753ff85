"""`arboretum.callback`: XGBoost's names for what is done between rounds."""

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
