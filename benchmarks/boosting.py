"""Second-order boosting against LightGBM, XGBoost, scikit-learn's histogram boosting and CatBoost.

    higgs           1,000,000 × 28 numbers, two classes, 100 trees of 31 leaves; higgs-255: of 255 leaves
    small … iris    other shapes: rows, columns, numbers to predict, ten classes, sparse, categories
    exact           column blocks, depth 6, against XGBoost's exact search
    predict         margins of 1,000,000 rows from 100 trees of 31 leaves

All contenders grow as many trees of the same shape with the same learning rate, on the same number of
threads; the rest is their defaults. The score is the test loss (log-loss, or the mean squared error):
lower is better. The ratio is to LightGBM; the fastest peer is the smallest time in a case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.harness import Case, Job, Make

__all__ = ["experiments", "loss", "ten_classes"]

OURS, LIGHTGBM, XGBOOST = "arboretum", "LightGBM", "XGBoost hist"
HGB, CATBOOST, EXACT = "scikit-learn HGB", "CatBoost", "XGBoost exact"
_TREES = 100


@dataclass(frozen=True)
class _Shape:
    """A case of fitting."""

    name: str
    title: str
    data: Callable[[int], data.Split]
    rows: int
    quick_rows: int
    leaves: int = 31
    regression: bool = False
    without: tuple[str, ...] = ()  # peers that cannot do it, or not in reasonable time
    goal: float | None = None
    calls: int = 1
    ours: dict[str, Any] = field(default_factory=dict)


# ---------------------------------------------------------------------- contenders
def _ours(jobs: int, leaves: int, regression: bool, **parameters: Any) -> Any:
    import arboretum

    model = arboretum.LGBMRegressor if regression else arboretum.LGBMClassifier
    return model(n_estimators=_TREES, num_leaves=leaves, n_jobs=jobs, random_state=0, **parameters)


def _lightgbm(jobs: int, leaves: int, regression: bool) -> Any:
    import lightgbm

    model = lightgbm.LGBMRegressor if regression else lightgbm.LGBMClassifier
    return model(n_estimators=_TREES, num_leaves=leaves, n_jobs=jobs, random_state=0, verbose=-1)


def _xgboost(jobs: int, leaves: int, regression: bool) -> Any:
    import xgboost

    model = xgboost.XGBRegressor if regression else xgboost.XGBClassifier
    return model(
        n_estimators=_TREES, max_leaves=leaves, max_depth=0, grow_policy="lossguide",
        learning_rate=0.1, tree_method="hist", n_jobs=jobs, random_state=0, enable_categorical=True,
    )  # fmt: skip


def _hgb(jobs: int, leaves: int, regression: bool) -> Any:
    from sklearn import ensemble

    model = (
        ensemble.HistGradientBoostingRegressor
        if regression
        else ensemble.HistGradientBoostingClassifier
    )
    return model(
        max_iter=_TREES, max_leaf_nodes=leaves, learning_rate=0.1, early_stopping=False,
        random_state=0,
    )  # fmt: skip


def _catboost(jobs: int, leaves: int, regression: bool) -> Any:
    import catboost

    model = catboost.CatBoostRegressor if regression else catboost.CatBoostClassifier
    return model(
        iterations=_TREES, max_leaves=leaves, grow_policy="Lossguide", learning_rate=0.1,
        thread_count=jobs, random_seed=0, verbose=False, allow_writing_files=False,
    )  # fmt: skip


_PEERS = {
    LIGHTGBM: ("lightgbm", _lightgbm),
    XGBOOST: ("xgboost", _xgboost),
    HGB: ("sklearn", _hgb),
    CATBOOST: ("catboost", _catboost),
}


def _contenders(shape: _Shape, jobs: int) -> dict[str, Make]:
    """Return ours and every peer that is installed; threads of scikit-learn's follow OMP settings."""
    found: dict[str, Make] = {
        OURS: partial(_ours, jobs, shape.leaves, shape.regression, **shape.ours)
    }
    for name, (package, make) in _PEERS.items():
        if name not in shape.without and find_spec(package) is not None:
            found[name] = partial(make, jobs, shape.leaves, shape.regression)
    return found


# ---------------------------------------------------------------------- work
def loss(model: Any, split: data.Split) -> float:
    """Return the log-loss, or the mean squared error, on the held-out rows."""
    from sklearn.metrics import log_loss, mean_squared_error

    if hasattr(model, "predict_proba"):
        return float(log_loss(split.y_test, model.predict_proba(split.X_test)))
    return float(mean_squared_error(split.y_test, model.predict(split.X_test)))


def boosting(make: Make, split: data.Split) -> Job:
    """Return the job of a fit; its score is the loss on held-out rows."""
    return Job(run=lambda: make().fit(split.X, split.y), score=partial(loss, split=split))


def predicting(make: Make, split: data.Split) -> Job:
    """Return the job of predicting the classes' shares of the held-out rows."""
    model = make().fit(split.X, split.y)
    return Job(
        run=lambda: model.predict_proba(split.X_test),
        score=lambda shares: float((shares.argmax(1) == split.y_test).mean()),
    )


# ---------------------------------------------------------------------- data
def ten_classes(n: int, n_classes: int = 10, *, seed: int = 0) -> data.Split:
    """Return the columns of `data.classification` with classes by noisy linear scores of pairs."""
    split = data.classification(n, seed=seed)
    rng = np.random.default_rng([seed, n_classes])
    turn = rng.normal(size=(split.X.shape[1], n_classes))

    def labels(X: np.ndarray) -> np.ndarray:
        scores = np.tanh(X) @ turn + 0.5 * np.abs(X[:, :n_classes])
        return (scores + 2.0 * rng.normal(size=scores.shape)).argmax(axis=1)

    return data.Split(split.X, labels(split.X), split.X_test, labels(split.X_test))


def _one_hot(n: int, n_columns: int = 2_000, *, seed: int = 0) -> data.Split:
    """Return a sparse table of 20 categories of 100 values each, one column per value."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(seed)
    groups, n_all = 20, n + max(n // 4, 50)
    width = n_columns // groups
    values = rng.integers(0, width, (n_all, groups))
    worth = rng.normal(size=(groups, width))
    score = worth[np.arange(groups), values].sum(axis=1) / 2
    y = (rng.random(n_all) < 1 / (1 + np.exp(-score))).astype(int)
    columns = (values + width * np.arange(groups)).ravel()
    ends = np.arange(n_all + 1) * groups
    X = csr_matrix((np.ones(len(columns), np.float32), columns, ends), (n_all, n_columns))
    return data.Split(X[:n], y[:n], X[n:], y[n:])


def _predict_data(rows: int) -> data.Split:
    """A tenth of the rows to fit, all of them to predict."""
    return data.classification(rows // 10, n_test=rows)


_SHAPES = (
    _Shape("higgs", "28 columns, 31 leaves", data.classification, 1_000_000, 20_000, goal=2.0),
    _Shape(
        "higgs-255",
        "28 columns, 255 leaves",
        data.classification,
        1_000_000,
        20_000,
        255,
        goal=2.0,
    ),
    _Shape("small", "28 columns, 31 leaves", data.classification, 10_000, 2_000, goal=1.0),
    _Shape(
        "wide",
        "500 columns, 31 leaves",
        partial(data.classification, n_columns=500),
        200_000,
        2_000,
        goal=1.0,
    ),
    _Shape(
        "regression",
        "28 columns, 31 leaves",
        data.regression,
        1_000_000,
        5_000,
        regression=True,
        goal=1.0,
    ),
    _Shape("classes", "28 columns, 10 classes, 31 leaves", ten_classes, 100_000, 2_000, goal=1.0),
    _Shape(
        "sparse",
        "2,000 one-hot columns, 31 leaves",
        _one_hot,
        500_000,
        5_000,
        without=(HGB, CATBOOST),
        goal=1.0,
    ),
    _Shape(
        "categories",
        "10 columns of 200 categories, 31 leaves",
        partial(data.categories, n_values=200),
        500_000,
        5_000,
        without=(CATBOOST,),
        goal=1.0,
    ),
    _Shape("iris", "iris, 31 leaves", data.iris, 120, 120, goal=1.0, calls=3),
)


# ---------------------------------------------------------------------- experiments
def _exact_cases(jobs: int) -> Iterator[Case]:
    how = {"n_estimators": 20, "max_depth": 6, "tree_method": "exact", "n_jobs": jobs}

    def ours() -> Any:
        import arboretum

        return arboretum.XGBClassifier(**how)

    def peer() -> Any:
        import xgboost

        return xgboost.XGBClassifier(**how)

    yield Case(
        benchmark="boosting",
        name="exact",
        title="fit, 28 columns, exact splits, 20 trees of depth 6",
        data=data.classification,
        rows=200_000,
        quick_rows=5_000,
        work=boosting,
        contenders={OURS: ours, EXACT: peer},
        baseline=EXACT,
        score_name="log-loss",
        goal=2.0,
        needs=("xgboost",),
    )


def experiments(jobs: int) -> dict[str, Case]:
    """Return every experiment by name, in the order in which they run."""
    cases = [
        Case(
            benchmark="boosting",
            name=shape.name,
            title=f"fit, {shape.title}, {_TREES} trees",
            data=shape.data,
            rows=shape.rows,
            quick_rows=shape.quick_rows,
            work=boosting,
            contenders=_contenders(shape, jobs),
            baseline=LIGHTGBM,
            score_name="mean squared error" if shape.regression else "log-loss",
            goal=shape.goal,
            calls=shape.calls,
            needs=("lightgbm",),
        )
        for shape in _SHAPES
    ]
    first = _SHAPES[0]
    cases += _exact_cases(jobs)
    cases.append(
        Case(
            benchmark="boosting",
            name="predict",
            title=f"predict_proba, {_TREES} trees of 31 leaves",
            data=_predict_data,
            rows=1_000_000,
            quick_rows=20_000,
            work=predicting,
            contenders=_contenders(first, jobs),
            baseline=LIGHTGBM,
            goal=1.0,
            needs=("lightgbm",),
        )
    )
    return {case.name: case for case in cases}
