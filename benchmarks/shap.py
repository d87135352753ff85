"""SHAP values of the same trees by everybody: nanoseconds per row and tree, building and coding included.

The trees are those of the peer that is asked (foreign_trees.py), so that all contenders explain one model.
Ours begins with nothing laid out at every call: its time has everything that a first call does but compiling.

    experiment   trees                                  peers
    leaves       LightGBM, 100 of 31 leaves             LightGBM pred_contrib; shap
    depth        XGBoost, 100 of depth 6                XGBoost pred_contribs; shap
    background   the same against 100,000 rows          shap (100 rows)
    pairs        the same, all pairs of columns         XGBoost pred_interactions
    forest       scikit-learn, 100 trees to purity      shap
    purity       XGBoost's own such forest              XGBoost pred_contribs
    catboost     CatBoost's own values of its own trees, beside ours of LightGBM's

Times are CPU seconds of the process with one thread, the best of the rounds, contenders in turns; peers are
asked about as many rows as they answer in a few seconds, and time per row is compared. With ``--jobs 2``
there are lines of elapsed time with two threads besides. Memory is by how much the process grows at most
while ours answers, the answer included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.foreign_trees import (
    ensemble_of_forest,
    ensemble_of_lightgbm,
    ensemble_of_xgboost,
)
from benchmarks.harness import Options, Say, Unavailable
from benchmarks.memory import peak_growth

__all__ = ["Ask", "ShapExperiment", "ShapResult", "experiments"]

_TREES, _COLUMNS = 100, 28
_ROWS, _QUICK_ROWS = 100_000, 5_000


@dataclass(frozen=True)
class Ask:
    """One contender and the rows it is asked about."""

    label: str
    rows: int
    call: Callable[[np.ndarray], Any]
    goal: float | None = None  # times as fast as this ours should be
    elapsed: bool = False  # by the clock, for several threads


@dataclass(frozen=True)
class ShapResult:
    """Nanoseconds per row and tree, by contender and number of rows; the first contender is ours."""

    name: str
    title: str
    lines: list[dict[str, Any]]
    facts: dict[str, float]


@dataclass(frozen=True)
class ShapExperiment:
    """Contenders for the values of one model; ``contenders(train, X, jobs, facts)`` yields them."""

    name: str
    title: str
    contenders: Callable[..., Iterator[Ask]]
    needs: tuple[str, ...] = ()

    def measure(self, options: Options, say: Say) -> ShapResult:
        missing = [package for package in self.needs if find_spec(package) is None]
        if missing:
            raise Unavailable(f"needs {', '.join(missing)}")
        n = _QUICK_ROWS if options.quick else _ROWS
        train, (X, _) = _data(n, 0), _data(n, 1)
        facts: dict[str, float] = {}
        say("growing trees")
        asked = list(self.contenders(train, X, options.jobs, facts))
        best = dict.fromkeys(range(len(asked)), np.inf)
        for turn in range(1 + options.repeat):  # the first one compiles and warms up
            for k, one in enumerate(asked):
                say(f"{one.label}, {one.rows:,} rows")
                clock = time.perf_counter if one.elapsed else time.process_time
                rows = X[: one.rows]
                start = clock()
                one.call(rows)
                spent = clock() - start
                if turn:
                    best[k] = min(best[k], spent)
        ours = max((one for one in asked if not one.elapsed), key=lambda one: one.rows)
        peak = peak_growth(lambda: ours.call(X[: ours.rows])).n_bytes
        facts[f"{ours.label}, {ours.rows:,} rows: memory, MB"] = peak / 1e6
        lines = [
            {
                "contender": one.label,
                "rows": one.rows,
                "clock": "elapsed" if one.elapsed else "CPU",
                "nanoseconds": best[k] / one.rows / _TREES * 1e9,
                "goal": None if options.quick else one.goal,
            }
            for k, one in enumerate(asked)
        ]
        return ShapResult(self.name, self.title, lines, facts)


def _data(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers with interactions, and a label; the numbers are float32 for XGBoost's sake."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, _COLUMNS)).astype(np.float32).astype(np.float64)
    x = X.T
    s = x[0] * x[1] + np.sin(2 * x[2]) * x[3] + np.where(x[4] > 0, x[5], -x[6])
    s += 0.5 * x[7] ** 2 + 0.4 * x[8] * x[9] * x[10] + np.linspace(0.1, 0.5, 9) @ x[11:20]
    return X, (s + 0.3 * np.abs(x[20]) + rng.logistic(size=n) > 0.5).astype(float)


# ---------------------------------------------------------------------- contenders
def _ours(ensemble: Any, jobs: int = 1, background: Any = None, *, pairs: bool = False) -> Callable:
    """Return a question that lays everything out anew."""
    from arboretum.data.matrix import DenseMatrix
    from arboretum.predict.shap.layout import lay_out
    from arboretum.predict.shap.values import Contributions

    others = None if background is None else DenseMatrix(background)

    def ask(rows: np.ndarray) -> Any:
        found = Contributions(lay_out(ensemble.additive(), _COLUMNS, "count"))
        return found.values(DenseMatrix(rows), others, pairs=pairs, n_jobs=jobs)

    return ask


def _build_facts(ensemble: Any, facts: dict[str, float]) -> None:
    """Note how long tables take to make, and how large they are."""
    from arboretum.predict.shap.layout import lay_out
    from arboretum.predict.shap.tabling import Tabled, has_tables

    start = time.process_time()
    layout = lay_out(ensemble.additive(), _COLUMNS, "count")
    trees = np.flatnonzero(has_tables(layout))
    Tabled(layout, trees, 1024, None, _COLUMNS)
    start = time.process_time()
    layout = lay_out(ensemble.additive(), _COLUMNS, "count")
    facts["layout, ms per tree"] = (time.process_time() - start) / _TREES * 1e3
    start = time.process_time()
    made = Tabled(layout, trees, 1024, None, _COLUMNS)
    facts["tables, ms per tree"] = (time.process_time() - start) / _TREES * 1e3
    facts["tables, MB"] = made.nbytes / 1e6


def _sizes(X: np.ndarray) -> list[int]:
    return [10, 1_000, len(X)]


def _leaves(train: tuple, X: np.ndarray, jobs: int, facts: dict[str, float]) -> Iterator[Ask]:
    booster = _lightgbm(train)
    ensemble = ensemble_of_lightgbm(booster)
    _build_facts(ensemble, facts)
    for rows in _sizes(X):
        yield Ask("arboretum", rows, _ours(ensemble))
    if jobs > 1:
        yield Ask(f"arboretum, {jobs} threads", len(X), _ours(ensemble, jobs), elapsed=True)

    def theirs(rows: np.ndarray, threads: int = 1) -> Any:
        return booster.predict(rows, pred_contrib=True, num_threads=threads)

    for rows, goal in ((10, 1.0), (1_000, 10.0), (2_000, 50.0)):
        yield Ask("LightGBM", rows, theirs, goal)
    if jobs > 1:
        yield Ask(f"LightGBM, {jobs} threads", 2_000, lambda rows: theirs(rows, jobs), 50.0, True)
    yield from _shap(booster, 100)


def _depth(train: tuple, X: np.ndarray, jobs: int, facts: dict[str, float]) -> Iterator[Ask]:
    booster, ensemble = _xgboost(train)
    _build_facts(ensemble, facts)
    for rows in _sizes(X):
        yield Ask("arboretum", rows, _ours(ensemble))
    if jobs > 1:
        yield Ask(f"arboretum, {jobs} threads", len(X), _ours(ensemble, jobs), elapsed=True)
    yield from _xgboosts(booster, 2_000, jobs, 20.0, pred_contribs=True)
    yield from _shap(booster, 100)


def _background(train: tuple, X: np.ndarray, jobs: int, facts: dict[str, float]) -> Iterator[Ask]:
    booster = _lightgbm(train)
    ensemble = ensemble_of_lightgbm(booster)
    others = np.ascontiguousarray(
        X[::-1]
    )  # as tables are handed over: to turn a view round takes time
    yield Ask("arboretum, 100,000 rows of background", len(X), _ours(ensemble, 1, others))
    yield Ask("arboretum, path-dependent", len(X), _ours(ensemble), 1 / 1.5)
    yield Ask("arboretum, 100 rows of background", len(X), _ours(ensemble, 1, X[:100]))
    if find_spec("shap"):
        import shap

        explainer = shap.TreeExplainer(booster, X[:100])
        call = lambda rows: explainer.shap_values(rows, check_additivity=False)  # noqa: E731
        yield Ask("shap, 100 rows of background", 20, call)


def _pairs(train: tuple, X: np.ndarray, jobs: int, facts: dict[str, float]) -> Iterator[Ask]:
    booster, ensemble = _xgboost(train)
    rows = min(len(X), 20_000)
    yield Ask("arboretum", rows, _ours(ensemble, pairs=True))
    if jobs > 1:
        two = _ours(ensemble, jobs, pairs=True)
        yield Ask(f"arboretum, {jobs} threads", rows, two, elapsed=True)
    yield from _xgboosts(booster, 100, jobs, 50.0, pred_interactions=True)


def _forest(train: tuple, X: np.ndarray, jobs: int, facts: dict[str, float]) -> Iterator[Ask]:
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(_TREES, n_jobs=jobs, random_state=0, max_features=1 / 3)
    forest.fit(train[0][:10_000], train[1][:10_000])
    ensemble = ensemble_of_forest(forest)
    facts["leaves of a tree"] = float(np.mean([tree.n_leaves for tree in ensemble.trees]))
    yield Ask("arboretum", min(len(X), 10_000), _ours(ensemble))
    yield Ask("arboretum", 100, _ours(ensemble))
    yield from _shap(forest, 4, 40.0)


def _purity(train: tuple, X: np.ndarray, jobs: int, facts: dict[str, float]) -> Iterator[Ask]:
    import xgboost

    settings = {
        "max_depth": 60, "eta": 1, "subsample": 0.632, "colsample_bynode": 1 / 3, "nthread": 2,
        "num_parallel_tree": _TREES, "min_child_weight": 0, "reg_lambda": 0,
    }  # fmt: skip
    few = xgboost.DMatrix(train[0][:10_000], train[1][:10_000])
    booster = xgboost.train(settings, few, 1)
    ensemble = ensemble_of_xgboost(booster)
    facts["leaves of a tree"] = float(np.mean([tree.n_leaves for tree in ensemble.trees]))
    rows = min(len(X), 10_000)
    yield Ask("arboretum", rows, _ours(ensemble))
    if jobs > 1:
        yield Ask(f"arboretum, {jobs} threads", rows, _ours(ensemble, jobs), elapsed=True)
    yield from _xgboosts(booster, 128, jobs, 8.0, pred_contribs=True)


def _catboost(train: tuple, X: np.ndarray, jobs: int, facts: dict[str, float]) -> Iterator[Ask]:
    import catboost

    ensemble = ensemble_of_lightgbm(_lightgbm(train))
    model = catboost.CatBoostClassifier(
        iterations=_TREES, depth=5, verbose=False, allow_writing_files=False, thread_count=jobs
    ).fit(*train)
    yield Ask("arboretum, LightGBM's trees of 31 leaves", len(X), _ours(ensemble))
    pool = catboost.Pool(X[:2_000])
    call = lambda rows: model.get_feature_importance(pool, type="ShapValues", thread_count=1)  # noqa: E731
    yield Ask("CatBoost, its own trees of depth 5", 2_000, call)


def _lightgbm(train: tuple) -> Any:
    import lightgbm

    settings = {"objective": "binary", "num_leaves": 31, "num_threads": 2, "verbose": -1}
    return lightgbm.train(settings, lightgbm.Dataset(*train), _TREES)


def _xgboost(train: tuple) -> tuple[Any, Any]:
    import xgboost

    settings = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "nthread": 2}
    booster = xgboost.train(settings, xgboost.DMatrix(*train), _TREES)
    return booster, ensemble_of_xgboost(booster)


def _xgboosts(booster: Any, rows: int, jobs: int, goal: float, **question: bool) -> Iterator[Ask]:
    """XGBoost with one thread, and with several by the clock."""
    import xgboost

    def call(some: np.ndarray, threads: int = 1) -> Any:
        booster.set_param({"nthread": threads})
        return booster.predict(xgboost.DMatrix(some, nthread=threads), **question)

    name = f"XGBoost {xgboost.__version__}"
    yield Ask(name, rows, call, goal)
    if jobs > 1:
        yield Ask(f"{name}, {jobs} threads", rows, lambda some: call(some, jobs), goal, True)


def _shap(model: Any, rows: int, goal: float | None = None) -> Iterator[Ask]:
    if find_spec("shap") is None:
        return
    import shap

    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    call = lambda rows: explainer.shap_values(rows, check_additivity=False)  # noqa: E731
    yield Ask("shap", rows, call, goal)


def experiments(jobs: int) -> dict[str, ShapExperiment]:
    """Return the experiments by name."""
    each = (
        ShapExperiment("leaves", "100 trees of 31 leaves (LightGBM's)", _leaves, ("lightgbm",)),
        ShapExperiment("depth", "100 trees of depth 6 (XGBoost's)", _depth, ("xgboost",)),
        ShapExperiment("background", "100 trees of 31 leaves", _background, ("lightgbm",)),
        ShapExperiment("pairs", "100 trees of depth 6, 378 pairs", _pairs, ("xgboost",)),
        ShapExperiment("forest", "100 trees grown to purity on 10,000 rows", _forest),
        ShapExperiment("purity", "100 trees of XGBoost's grown to purity", _purity, ("xgboost",)),
        ShapExperiment("catboost", "like models", _catboost, ("catboost", "lightgbm")),
    )
    return {one.name: one for one in each}
