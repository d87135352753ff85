"""A classifier whose training loss rises says so, once, at the end of the fit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from arboretum import LGBMClassifier, XGBClassifier


def rare_classes(seed=0, n=600, k=15):
    """Return a table with classes of a handful of rows."""
    rng = np.random.default_rng(seed)
    share = 0.6 ** np.arange(k)
    y = rng.choice(k, n, p=share / share.sum())
    return rng.normal(size=(k, 4))[y] + rng.normal(size=(n, 4)), y


def test_steps_that_run_away_are_told_and_are_lightgbm_s():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = rare_classes()
    how = {"learning_rate": 0.5, "n_estimators": 15}
    with pytest.warns(
        UserWarning, match="loss on the training rows rose from .* to .* after 1"
    ) as told:
        ours = LGBMClassifier(**how).fit(X, y)
    assert len(told) == 1
    assert told[0].filename == __file__
    theirs = lightgbm.LGBMClassifier(**how, verbose=-1, n_jobs=1).fit(X, y)
    for model in (ours, theirs):
        assert np.mean(model.predict(X) == np.asarray(y)) < 0.5


@pytest.mark.parametrize("door", [XGBClassifier, LGBMClassifier])
@pytest.mark.parametrize("classes", [2, 15])
def test_a_usual_fit_is_silent(door, classes):
    X, y = rare_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        door(n_estimators=30).fit(X, np.minimum(y, classes - 1))
        door(n_estimators=1).fit(X, np.minimum(y, classes - 1))
