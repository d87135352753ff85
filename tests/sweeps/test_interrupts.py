"""Ctrl-C at any moment of any operation: it ends, nothing hangs, and the next answers are right."""

import io
import os
import random
import signal
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import arboretum as A
from tests.io.model_cases import saved
from tests.sweeps.work import SIZE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers"),
]

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(4000, 8))
NUMBERS = TABLE[:, 0] * TABLE[:, 1]
CLASSES = (NUMBERS > 0).astype(int)

MODELS = {
    "CART": (A.CARTClassifier(max_depth=8), CLASSES),
    "C4.5": (A.C45Classifier(), CLASSES),
    "forest": (A.RandomForestRegressor(20, random_state=0), NUMBERS),
    "AdaBoost": (A.AdaBoostClassifier(n_estimators=20, random_state=0), CLASSES),
    "Friedman": (A.GradientBoostingRegressor(n_estimators=20, random_state=0), NUMBERS),
    "XGB": (A.XGBClassifier(n_estimators=20), CLASSES),
    "LGBM": (A.LGBMRegressor(n_estimators=20, verbosity=-1), NUMBERS),
}


def operations(model, y):
    """Return what people do with a model, by name."""

    def load():
        return A.load(saved(model))

    found = {
        "fit": lambda: clone(model).fit(TABLE, y),
        "predict": lambda: model.predict(TABLE),
        "save": lambda: model.save(io.BytesIO()),
        "load": load,
        "text": lambda: A.export_text(model, tree=0) if hasattr(model, "trees_") else None,
        "dependence": lambda: A.partial_dependence(model, TABLE[:200], [0]),
    }
    if hasattr(model, "shap_values"):
        found["shap"] = lambda: model.shap_values(TABLE[:300])
    return found


def interrupted_after(seconds, work) -> bool:
    """Run something, with Ctrl-C after some time; return whether that came before the end."""
    old = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        work()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    return False


@pytest.mark.parametrize("name", MODELS)
def test_ctrl_c_in_an_operation(name):
    model, y = MODELS[name]
    rng = random.Random(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).fit(TABLE, y)
        right, whole = model.predict(TABLE), saved(model)
        for operation in operations(model, y).values():
            begin = time.perf_counter()
            operation()
            took = max(time.perf_counter() - begin, 1e-4)
            for _ in range(6 * SIZE):
                begin = time.perf_counter()
                interrupted_after(max(rng.random() * took, 1e-5), operation)
                assert time.perf_counter() - begin < 30 + 20 * took
                assert np.array_equal(model.predict(TABLE), right)
        assert saved(model) == whole
        assert saved(clone(model).fit(TABLE, y)) == whole
