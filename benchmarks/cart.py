"""CART against scikit-learn's DecisionTree: the cases, the curves and the start-up scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks import data
from benchmarks.harness import Case, Make, fitting, predicting
from benchmarks.scaling import Curve
from benchmarks.startup import Script, StartUp

__all__ = ["experiments"]

OURS, OURS_ALONE, PEER = "arboretum", "arboretum, 1 thread", "scikit-learn"

Experiment = Case | Curve | StartUp


@dataclass(frozen=True)
class _Fit:
    """A case of fitting: the same parameters for both sides."""

    name: str
    title: str
    kind: str = "Classifier"
    rows: int = 100_000
    parameters: Mapping[str, Any] = field(default_factory=dict)
    goal: float | None = None


_FITS = (
    _Fit("classification", "fit, gini, unlimited depth", goal=8.0),
    _Fit("regression", "fit, squared error, unlimited depth", "Regressor", goal=8.0),
    _Fit(
        "classification-1m",
        "fit, gini, depth 10",
        rows=1_000_000,
        parameters={"max_depth": 10},
        goal=8.0,
    ),
    _Fit("entropy", "fit, entropy", rows=20_000, parameters={"criterion": "entropy"}),
    _Fit(
        "absolute-error",
        "fit, absolute error",
        "Regressor",
        rows=20_000,
        parameters={"criterion": "absolute_error"},
    ),
    _Fit("sqrt-features", 'fit, max_features="sqrt"', parameters={"max_features": "sqrt"}),
    _Fit("random-splitter", 'fit, splitter="random"', parameters={"splitter": "random"}),
    _Fit("best-first", "fit, max_leaf_nodes=1000", parameters={"max_leaf_nodes": 1000}),
)


def _ours(kind: str, **parameters: Any) -> Make:
    def make() -> Any:
        import arboretum

        return getattr(arboretum, f"CART{kind}")(random_state=0, **parameters)

    return make


def _peer(kind: str, **parameters: Any) -> Make:
    def make() -> Any:
        from sklearn import tree

        return getattr(tree, f"DecisionTree{kind}")(random_state=0, **parameters)

    return make


def _three(kind: str, jobs: int, **parameters: Any) -> dict[str, Make]:
    """Return ours on all threads, ours on one, and the peer (whose trees know only one)."""
    contenders = {OURS: _ours(kind, n_jobs=jobs, **parameters)}
    if jobs != 1:
        contenders[OURS_ALONE] = _ours(kind, n_jobs=1, **parameters)
    return {**contenders, PEER: _peer(kind, **parameters)}


def _encoded(encoder: str, **options: Any) -> Make:
    """Return scikit-learn's way to a table with words: encode them first, then fit."""

    def make() -> Any:
        from sklearn import preprocessing
        from sklearn.compose import make_column_transformer
        from sklearn.pipeline import make_pipeline

        words = getattr(preprocessing, encoder)(**options)
        table = make_column_transformer(
            (words, ["colour", "city", "product"]), remainder="passthrough", sparse_threshold=0
        )
        return make_pipeline(table, _peer("Classifier", max_depth=12)())

    return make


def _fit_cases(jobs: int) -> Iterator[Case]:
    for fit in _FITS:
        regression = fit.kind == "Regressor"
        yield Case(
            benchmark="cart",
            name=fit.name,
            title=fit.title,
            data=data.regression if regression else data.classification,
            rows=fit.rows,
            quick_rows=max(2_000, fit.rows // 20),
            work=fitting,
            contenders=_three(fit.kind, jobs, **fit.parameters),
            baseline=PEER,
            score_name="R²" if regression else "accuracy",
            goal=fit.goal,
        )


def _predict_data(rows: int) -> data.Split:
    """A tenth of the rows to fit on, all of them to predict."""
    return data.classification(rows // 10, n_test=rows)


def _other_cases(jobs: int) -> Iterator[Case]:
    yield Case(
        benchmark="cart",
        name="iris",
        title="fit, iris",
        data=data.iris,
        rows=120,
        quick_rows=120,
        work=fitting,
        contenders={OURS: _ours("Classifier", n_jobs=jobs), PEER: _peer("Classifier")},
        baseline=PEER,
        calls=100,
        goal=0.5,
    )
    yield Case(
        benchmark="cart",
        name="predict",
        title="predict, tree of unlimited depth",
        data=_predict_data,
        rows=1_000_000,
        quick_rows=100_000,
        work=predicting,
        contenders=_three("Classifier", jobs),
        baseline=PEER,
        goal=2.0,
    )
    yield Case(
        benchmark="cart",
        name="words-and-gaps",
        title="fit, words and missing values, depth 12",
        data=data.mixed_table,
        rows=100_000,
        quick_rows=5_000,
        work=fitting,
        contenders={
            OURS: _ours("Classifier", n_jobs=jobs, max_depth=12),
            "scikit-learn, ordinal": _encoded(
                "OrdinalEncoder", handle_unknown="use_encoded_value", unknown_value=-1
            ),
            "scikit-learn, one-hot": _encoded("OneHotEncoder", handle_unknown="ignore"),
        },
        baseline="scikit-learn, ordinal",
        needs=("pandas",),
    )


def _curves(jobs: int) -> Iterator[Curve]:
    rows = (10_000, 30_000, 100_000, 300_000, 1_000_000)
    for name, title, depth, sizes in (
        ("rows-depth-10", "depth 10, 28 columns", 10, rows),
        ("rows-unlimited", "unlimited depth, 28 columns", None, rows[:-1]),
    ):
        yield Curve(
            name=name,
            title=title,
            axis="rows",
            reference="n·log₂ n",
            data=data.classification,
            sizes=sizes,
            quick_sizes=(2_000, 5_000, 10_000, 20_000),
            contenders={
                OURS: _ours("Classifier", n_jobs=jobs, max_depth=depth),
                PEER: _peer("Classifier", max_depth=depth),
            },
        )
    yield Curve(
        name="columns",
        title="depth 10, 50,000 rows",
        axis="columns",
        reference="n",
        data=partial(data.classification, 50_000),
        sizes=(7, 14, 28, 56, 112),
        quick_sizes=(7, 14, 28),
        contenders={
            OURS: _ours("Classifier", n_jobs=jobs, max_depth=10),
            PEER: _peer("Classifier", max_depth=10),
        },
    )


def _fit_script(package: str, estimator: str, table: str = "iris") -> str:
    """Return a script that fits an estimator, given as it is written in code."""
    return (
        f"import numpy as np\n"
        f"from {package} import {estimator.split('(')[0]}\n"
        f"{estimator}.fit(np.load('{table}_X.npy'), np.load('{table}_y.npy'))"
    )


# (estimator, data set, whether a quick run measures it too)
_FIRST_FITS = (
    ("CARTClassifier()", "iris", True),
    ("CARTRegressor()", "iris", True),
    ("CARTClassifier()", "large", False),
    ("CARTClassifier(criterion='entropy')", "iris", False),
    ("CARTClassifier(max_leaf_nodes=50)", "iris", False),
    ("CARTClassifier(splitter='random')", "iris", False),
    ("CARTRegressor(criterion='absolute_error')", "iris", False),
    ("CARTRegressor(criterion='poisson')", "iris", False),
)


def _start_up() -> StartUp:
    peer = _fit_script("sklearn.tree", "DecisionTreeClassifier()")
    scripts = [
        Script("python alone", "pass"),
        Script("import arboretum", "import arboretum", goal=0.5),
        Script("import sklearn.tree", "import sklearn.tree"),
        Script("import + fit, warm", _fit_script("arboretum", "CARTClassifier()"), goal=1.5),
        Script("import + fit, scikit-learn", peer),
    ]
    for estimator, table, in_quick in _FIRST_FITS:
        code = _fit_script("arboretum", estimator, table)
        scripts.append(Script(f"first fit: {estimator}, {table}", code, True, 10.0, in_quick))
    return StartUp(
        name="start-up",
        title="fresh processes; iris, or 100,000 × 28 where it says large",
        data={"iris": partial(data.iris, 120), "large": partial(data.classification, 100_000)},
        scripts=tuple(scripts),
    )


def experiments(jobs: int) -> dict[str, Experiment]:
    """Return every experiment by name, in the order in which they run."""
    every: list[Experiment] = [*_fit_cases(jobs), *_other_cases(jobs), *_curves(jobs), _start_up()]
    return {experiment.name: experiment for experiment in every}
