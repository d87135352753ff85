"""Rounds: whole ones are kept whatever ends them, and Ctrl-C ends whatever the fit is part of."""

import io
import os
import pickle
import signal
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import arboretum as A
from arboretum.base.rounds import run_rounds
from arboretum.callback import TrainingCallback
from arboretum.io.container import read, write


def make_rounds(stop, interrupt, numbers, kept, step=1, **options):
    with run_rounds(numbers, lambda: len(kept), name="Model", **options) as rounds:
        for number in numbers[::step]:
            if number == interrupt:
                raise KeyboardInterrupt
            kept.extend(range(number, number + step))
            rounds.finished(number + step)
            if number == stop:
                break
    return rounds.interrupted


@pytest.mark.parametrize(
    ("stop", "interrupt", "rounds", "interrupted"),
    [(None, None, 6, None), (3, None, 2, None), (None, 4, 2, (2, 8, "round"))],
)
def test_what_is_kept(stop, interrupt, rounds, interrupted):
    kept: list[int] = []
    assert make_rounds(stop, interrupt, range(2, 8), kept) == interrupted
    assert len(kept) == rounds


def test_an_interrupt_before_anything_is_kept_goes_on():
    with pytest.raises(KeyboardInterrupt):
        make_rounds(None, 0, range(3), [])


@pytest.mark.parametrize("step", [1, 2, 3])
def test_the_bar_follows_steps_of_several_rounds(step, monkeypatch):
    reported: list[int] = []
    monkeypatch.setattr("arboretum.base.rounds.progress", lambda *_: nullcontext(reported.append))
    assert make_rounds(None, None, range(4, 10), [], step, bar=True) is None
    assert reported == list(range(step, 7, step))


# ---------------------------------------------------------------------- Ctrl-C in a fit
X = np.random.default_rng(0).normal(size=(90, 3))
Y = (X[:, 0] > 0).astype(int)


class PressCtrlC(TrainingCallback):
    """Presses Ctrl-C in the round with a number, every time it comes."""

    def __init__(self, number=3):
        self.number, self.pressed = number, []

    def after_iteration(self, model, epoch, evals_log):
        if epoch == self.number:
            self.pressed.append(epoch)
            os.kill(os.getpid(), signal.SIGINT)
        return False

    def __deepcopy__(self, memo):
        return self  # copies count together


def pressed(**how):
    press = PressCtrlC()
    return press, A.XGBClassifier(n_estimators=10, max_depth=2, callbacks=[press], **how)


def test_the_finished_rounds_are_on_the_estimator_when_the_interrupt_goes_on():
    _, model = pressed()
    with pytest.raises(
        KeyboardInterrupt, match="XGBClassifier was interrupted: it has the 4 rounds"
    ):
        model.fit(X, Y)
    assert model.interrupted_ == (4, 10, "round")
    assert str(model.interrupted_) == "the 4 rounds that were finished, of 10"
    whole = A.XGBClassifier(n_estimators=4, max_depth=2).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    assert whole.interrupted_ is None
    model.set_params(callbacks=None).fit(X, Y)
    assert model.interrupted_ is None


def test_who_asks_for_it_gets_the_smaller_model_and_a_warning():
    _, model = pressed()
    model.on_interrupt = "keep"
    with pytest.warns(UserWarning, match="has the 4 rounds that were finished, of 10"):
        assert model.fit(X, Y) is model
    assert model.interrupted_.done == 4
    assert clone(model).on_interrupt == "raise"
    with pytest.raises(A.ParameterError, match="on_interrupt must be one of"):
        model.on_interrupt = "ask"


@pytest.mark.parametrize(
    "loop",
    [
        lambda model: cross_val_score(model, X, Y, cv=3),
        lambda model: GridSearchCV(model, {"max_depth": [1, 2]}, cv=2).fit(X, Y),
        lambda model: A.StackingClassifier([("a", model)], cv=2).fit(X, Y),
        lambda model: A.VotingClassifier([("a", model), ("b", A.CARTClassifier())]).fit(X, Y),
        lambda model: A.BaggingClassifier(model, 3, n_jobs=1).fit(X, Y),
        lambda model: A.AdaBoostClassifier(model, n_estimators=3).fit(X, Y),
    ],
    ids=["cross_val_score", "GridSearchCV", "stacking", "voting", "bagging", "AdaBoost"],
)
def test_one_press_ends_the_loop_that_the_fit_is_part_of(loop):
    press, model = pressed()
    model.on_interrupt = "keep"  # a wish of this estimator, not of its copies
    with pytest.raises(KeyboardInterrupt):
        loop(model)
    assert len(press.pressed) == 1


def test_a_file_tells_that_its_model_is_not_whole():
    _, model = pressed()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    file = io.BytesIO()
    model.save(file)
    assert A.load(file.getvalue()).interrupted_ == model.interrupted_
    assert pickle.loads(pickle.dumps(model.set_params(callbacks=None))).interrupted_.wanted == 10
    document = read(file.getvalue())
    document["state"]["interrupted"] = [4, "ten", "round"]
    file = io.BytesIO()
    write(file, document)
    with pytest.raises(A.ModelFileError, match="how far its fit got"):
        A.load(file.getvalue())
