"""Latency: how long one call takes that asks for 1, 10 or 1,000 rows, beside the peers.

All models have 100 trees of 31 leaves on 28 columns. Contenders take turns of twenty calls, each on the rows
that the others had, and percentiles are told, not means: a server is as good as its slow answers.

    model           ours                          peers
    boosting        XGB, LGBM, GBM; predictor     XGBoost (inplace_predict, predict), LightGBM, scikit-learn,
                                                  CatBoost, lleaves, onnxruntime where they are installed
    forest          RandomForest; predictor       scikit-learn
    tree            CART; predictor               scikit-learn
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.harness import Options, Say

__all__ = ["Latency", "LatencyResult", "experiments"]

_TREES, _LEAVES, _COLUMNS = 100, 31, 28
_ROWS = (1, 10, 1000)
_CALLS = {1: 4000, 10: 2000, 1000: 100}
_TURN = 20  # calls of a contender in a row: a server has the model in its cache
PERCENTILES = (5, 50, 99)

Ask = Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class LatencyResult:
    """Percentiles of the seconds a call takes, by contender and number of rows."""

    name: str
    title: str
    seconds: dict[str, dict[int, tuple[float, ...]]]


@dataclass(frozen=True)
class Latency:
    """Contenders that are asked in turns; ``contenders(X, y, jobs)`` yields them fitted."""

    name: str
    title: str
    contenders: Callable[[np.ndarray, np.ndarray, int], Iterator[tuple[str, Ask]]]

    def measure(self, options: Options, say: Say) -> LatencyResult:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(4_000, _COLUMNS))
        y = (X[:, 0] * X[:, 1] + X[:, 2:8].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
        say("fitting")
        asked = dict(self.contenders(X, y, options.jobs))
        seconds: dict[str, dict[int, tuple[float, ...]]] = {label: {} for label in asked}
        for n in _ROWS:
            say(f"asking for {n} rows")
            calls = _CALLS[n] // (10 if options.quick else 1)
            for label, times in _take_turns(asked, X, n, calls).items():
                seconds[label][n] = tuple(np.percentile(times, PERCENTILES).tolist())
        return LatencyResult(self.name, self.title, seconds)


def _take_turns(asked: dict[str, Ask], X: np.ndarray, n: int, calls: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {label: [] for label in asked}
    for ask in asked.values():  # what is made on the first call
        ask(np.ascontiguousarray(X[:n]))
    for turn in range(0, calls, _TURN):
        places = [k * n % (len(X) - n + 1) for k in range(turn, turn + _TURN)]
        each = [np.ascontiguousarray(X[at : at + n]) for at in places]
        for label, ask in asked.items():
            for rows in each:
                start = time.perf_counter()
                ask(rows)
                times[label].append(time.perf_counter() - start)
    return times


# ---------------------------------------------------------------------- contenders
def _boosters(X: np.ndarray, y: np.ndarray, jobs: int) -> Iterator[tuple[str, Ask]]:
    import arboretum as A

    leafwise = {"max_leaves": _LEAVES, "max_depth": 0, "grow_policy": "lossguide"}
    ours = {
        "XGB": A.XGBClassifier(n_estimators=_TREES, n_jobs=jobs, **leafwise),
        "LGBM": A.LGBMClassifier(n_estimators=_TREES, num_leaves=_LEAVES, n_jobs=jobs),
        "GBM": A.GradientBoostingClassifier(n_estimators=_TREES, max_depth=5, n_jobs=jobs),
    }
    for label, model in ours.items():
        model.fit(X, y)
        yield f"arboretum {label} predictor", model.predictor("predict_proba")
        yield f"arboretum {label}", model.predict_proba
    for peer in (_xgboost, _lightgbm, _scikit_learn_boosting, _catboost):
        try:
            yield from peer(X, y, jobs)
        except (ImportError, AttributeError):  # not installed, or not beside what is: left out
            continue


def _xgboost(X: np.ndarray, y: np.ndarray, jobs: int) -> Iterator[tuple[str, Ask]]:
    from xgboost import XGBClassifier

    leafwise = {"max_leaves": _LEAVES, "max_depth": 0, "grow_policy": "lossguide"}
    model = XGBClassifier(n_estimators=_TREES, tree_method="hist", n_jobs=jobs, **leafwise).fit(
        X, y
    )
    booster = model.get_booster()
    booster.set_param({"nthread": 1})
    yield "xgboost inplace_predict", booster.inplace_predict
    yield "xgboost", model.predict_proba


def _lightgbm(X: np.ndarray, y: np.ndarray, jobs: int) -> Iterator[tuple[str, Ask]]:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=_TREES, num_leaves=_LEAVES, n_jobs=jobs, verbose=-1).fit(
        X, y
    )
    booster = model.booster_
    yield "lightgbm Booster.predict", lambda rows: booster.predict(rows, num_threads=1)
    yield "lightgbm", model.predict_proba
    if find_spec("lleaves"):
        yield "lleaves", _lleaves(booster)


def _lleaves(booster: Any) -> Ask:
    import tempfile
    from pathlib import Path

    import lleaves

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.txt"
        booster.save_model(str(path))
        model = lleaves.Model(model_file=str(path))
        model.compile()
    return lambda rows: model.predict(rows, n_jobs=1)


def _scikit_learn_boosting(X: np.ndarray, y: np.ndarray, jobs: int) -> Iterator[tuple[str, Ask]]:
    from sklearn.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(n_estimators=_TREES, max_depth=5).fit(X, y)
    yield "scikit-learn GBM", model.predict_proba
    if find_spec("onnxruntime") and find_spec("skl2onnx"):
        yield "onnxruntime GBM", _onnx(model)


def _onnx(model: Any) -> Ask:
    import onnxruntime
    from skl2onnx import to_onnx

    graph = to_onnx(model, np.zeros((1, _COLUMNS), np.float32), options={"zipmap": False})
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    return lambda rows: session.run(None, {"X": rows.astype(np.float32)})


def _catboost(X: np.ndarray, y: np.ndarray, jobs: int) -> Iterator[tuple[str, Ask]]:
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        iterations=_TREES, max_leaves=_LEAVES, grow_policy="Lossguide", verbose=False,
        allow_writing_files=False,
    ).fit(X, y)  # fmt: skip
    yield "catboost", lambda rows: model.predict_proba(rows, thread_count=1)


def _forests(X: np.ndarray, y: np.ndarray, jobs: int) -> Iterator[tuple[str, Ask]]:
    from sklearn.ensemble import RandomForestClassifier as Peer

    from arboretum import RandomForestClassifier

    how = {"n_estimators": _TREES, "max_leaf_nodes": _LEAVES, "random_state": 0}
    model = RandomForestClassifier(n_jobs=jobs, **how).fit(X, y)
    yield "arboretum forest predictor", model.predictor("predict_proba")
    yield "arboretum forest", model.predict_proba
    yield "scikit-learn forest", Peer(n_jobs=1, **how).fit(X, y).predict_proba


def _trees(X: np.ndarray, y: np.ndarray, jobs: int) -> Iterator[tuple[str, Ask]]:
    from sklearn.tree import DecisionTreeClassifier

    from arboretum import CARTClassifier

    model = CARTClassifier(max_leaf_nodes=_LEAVES).fit(X, y)
    yield "arboretum CART predictor", model.predictor("predict_proba")
    yield "arboretum CART", model.predict_proba
    peer = DecisionTreeClassifier(max_leaf_nodes=_LEAVES).fit(X, y)
    yield "scikit-learn tree", peer.predict_proba


def experiments(jobs: int) -> dict[str, Latency]:
    """Return the experiments by name."""
    size = f"{_LEAVES} leaves, {_COLUMNS} columns, predict_proba"
    each = (
        Latency("boosting", f"boosting, {_TREES} trees of {size}", _boosters),
        Latency("forest", f"forest, {_TREES} trees of {size}", _forests),
        Latency("tree", f"one tree of {size}", _trees),
    )
    return {one.name: one for one in each}
