"""Searches, pruning, stacking and imputing inside joblib's Dask and Ray backends: the same results."""

from __future__ import annotations

from contextlib import contextmanager

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import arboretum
from tests.distributed.test_boosting import table, to_bytes


@contextmanager
def backend(engine, request):
    """Let joblib use the workers of an engine."""
    if engine == "dask":
        more = {"client": request.getfixturevalue("client")}
    else:
        from ray.util.joblib import register_ray

        request.getfixturevalue("ray")
        register_ray()
        more = {}
    with joblib.parallel_config(engine, n_jobs=2, **more):
        yield


def _searched(X, y):
    search = GridSearchCV(arboretum.CARTClassifier(unseen="ignore"), {"max_depth": [2, 4]}, cv=3)
    return search.fit(X, y).cv_results_["mean_test_score"]


def _pruned(X, y):
    return to_bytes(arboretum.CARTClassifier(random_state=0).prune_cv(X, y, cv=3))


def _stacked(X, y):
    members = [
        ("tree", arboretum.CARTClassifier(max_depth=3)),
        ("boosted", arboretum.LGBMClassifier(n_estimators=3)),
    ]
    return to_bytes(arboretum.StackingClassifier(members, cv=3).fit(X, y))


def _imputed(X, y):
    imputer = arboretum.ProximityImputer(n_estimators=5, random_state=0)
    return np.asarray(imputer.fit_transform(X[["a", "b", "c"]], y))


def _scored(X, y):
    return cross_val_score(arboretum.XGBClassifier(n_estimators=3, unseen="ignore"), X, y, cv=3)


WORK = [_searched, _pruned, _stacked, _imputed, _scored]
_ON_RAY = [  # its workers take seconds to start
    pytest.param("ray", work, marks=() if work is _pruned else pytest.mark.slow) for work in WORK
]


@pytest.mark.parametrize(("engine", "work"), [*(("dask", work) for work in WORK), *_ON_RAY])
def test_the_results_are_those_of_this_process(engine, work, request):
    X, y, _ = table(150)
    expected = work(X, y)
    with backend(engine, request):
        found = work(X, y)
    assert np.array_equal(found, expected)
