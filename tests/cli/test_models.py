"""Words of the command line become estimators and parameters."""

import numpy as np
import pytest

import arboretum
from arboretum.cli.guard import UsageError
from arboretum.cli.models import choose_task, find_estimator, parse_settings
from arboretum.cli.registry import MODELS
from arboretum.data.values import RawNumbers, Words


@pytest.mark.parametrize("name", MODELS)
def test_every_registered_model_is_an_estimator(name):
    for task, kind in zip(("classification", "regression"), MODELS[name]):
        if kind is None:
            with pytest.raises(UsageError, match=f"the model {name!r} does not support {task}"):
                find_estimator(name, task)
        else:
            assert find_estimator(name, task) is getattr(arboretum, kind)
            assert hasattr(find_estimator(name, task), "fit")


def test_a_model_may_do_one_task_only(monkeypatch):
    monkeypatch.setitem(MODELS, "half", ("CARTClassifier", None))
    assert find_estimator("half", "classification") is arboretum.CARTClassifier
    with pytest.raises(UsageError, match="the model 'half' does not support regression"):
        find_estimator("half", "regression")


SETTINGS = [
    ("a=1", 1),
    ("a= 1.5 ", 1.5),
    ("a=None", None),
    ("a=True", True),
    ("a=sqrt", "sqrt"),
    ("a='1'", "1"),
    ("a=[1, -1, 0]", [1, -1, 0]),
    ("a={'x': 2}", {"x": 2}),
    ("a=x=y", "x=y"),
    ("a=", ""),
    ("a=__import__('os')", "__import__('os')"),  # a word, never run
    ("a=" + "(" * 5000, "(" * 5000),
]


@pytest.mark.parametrize(("setting", "value"), SETTINGS)
def test_a_setting_is_a_literal_or_a_word(setting, value):
    result = parse_settings([setting])
    assert result == {"a": value}
    assert type(result["a"]) is type(value)


def many(values, dtype):
    return RawNumbers(np.array(values), dtype)


TARGETS = [
    (Words(np.array([0, 1]), ["a", "b"], "str"), "classification", "words"),
    (Words(np.array([0, 1]), [False, True], "bool"), "classification", "truth values"),
    (Words(np.array([0, 0]), ["S"], "category"), "classification", "categories"),
    (many([0, 1], "int64"), "classification", "only 2 different"),
    (many([*range(20)] * 3, "int64"), "classification", "only 20 different"),
    (many([*range(20)] * 2, "int64"), "regression", "20 different"),  # two rows each
    (many([*range(21)] * 9, "int64"), "regression", "21 different"),
    (many([5, 7, 9], "uint8"), "regression", "3 different"),
    (many([0.0, 1.0] * 9, "float64"), "regression", "numbers with decimals"),
]


@pytest.mark.parametrize(("target", "task", "reason"), TARGETS)
def test_the_task_a_target_asks_for(target, task, reason):
    chosen, why = choose_task(target)
    assert chosen == task
    assert reason in why
    for wish in ("classification", "regression"):
        assert choose_task(target, wish) == (wish, f"--task {wish}")
