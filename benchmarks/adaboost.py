"""AdaBoost against scikit-learn's: stumps, deeper trees, several classes, numbers.

    stumps      50 stumps, two classes: the columns are sorted once for all rounds
    depth-2     50 trees of depth 2
    classes     50 stumps, ten classes
    regression  AdaBoost.R2, 50 trees of depth 3, rows drawn by weight as scikit-learn does
    iris        where the work is small and calls count
    predict     the classes of new rows

scikit-learn's AdaBoost has no threads of its own; ours gets as many as asked for, and one beside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.harness import Case, Job, Make, predicting

__all__ = ["experiments"]

OURS, OURS_ALONE, PEER = "arboretum", "arboretum, 1 thread", "scikit-learn"


@dataclass(frozen=True)
class _Fit:
    """A case of fitting: the same work for both sides."""

    name: str
    title: str
    depth: int | None = None  # None: the default of both
    rows: int = 100_000
    quick_rows: int = 3_000
    regression: bool = False
    classes: int = 2
    ours: Mapping[str, Any] = field(default_factory=dict)
    goal: float | None = None


_FITS = (
    _Fit("stumps", "fit, 28 columns, 50 stumps", goal=30.0),
    _Fit("depth-2", "fit, 28 columns, 50 trees of depth 2", depth=2, rows=20_000, quick_rows=2_000),
    _Fit(
        "classes",
        "fit, 28 columns, 10 classes, 50 stumps",
        rows=20_000,
        quick_rows=2_000,
        classes=10,
    ),
    _Fit(
        "regression",
        "fit, 28 columns, 50 trees of depth 3, R2",
        rows=20_000,
        quick_rows=2_000,
        regression=True,
        ours={"sampling": "resample"},
    ),
)


def _ours(fit: _Fit, jobs: int) -> Make:
    def make() -> Any:
        import arboretum

        kind = "Regressor" if fit.regression else "Classifier"
        base = None
        if fit.depth is not None:
            base = getattr(arboretum, f"CART{kind}")(max_depth=fit.depth)
        model = getattr(arboretum, f"AdaBoost{kind}")
        return model(base, random_state=0, n_jobs=jobs, **fit.ours)

    return make


def _peer(fit: _Fit) -> Make:
    def make() -> Any:
        from sklearn import ensemble, tree

        kind = "Regressor" if fit.regression else "Classifier"
        base = None
        if fit.depth is not None:
            base = getattr(tree, f"DecisionTree{kind}")(max_depth=fit.depth)
        return getattr(ensemble, f"AdaBoost{kind}")(base, n_estimators=50, random_state=0)

    return make


def _contenders(fit: _Fit, jobs: int) -> dict[str, Make]:
    alone = {OURS_ALONE: _ours(fit, 1)} if jobs != 1 else {}
    return {OURS: _ours(fit, jobs), **alone, PEER: _peer(fit)}


def boosting(make: Make, split: data.Split) -> Job:
    """Return the job of boosting; its score is accuracy or R² on held-out rows."""
    return Job(
        run=lambda: make().fit(split.X, split.y),
        score=lambda model: float(model.score(split.X_test, split.y_test)),
        facts=lambda model: {"rounds": len(model.estimators_)},
    )


def _in_classes(rows: int, classes: int) -> data.Split:
    """Numbers to predict, cut into classes of equal size."""
    split = data.regression(rows)
    edges = np.quantile(split.y, np.linspace(0, 1, classes + 1)[1:-1])
    return data.Split(
        split.X, np.searchsorted(edges, split.y), split.X_test, np.searchsorted(edges, split.y_test)
    )


def _data_of(fit: _Fit) -> Any:
    if fit.regression:
        return data.regression
    return data.classification if fit.classes == 2 else partial(_in_classes, classes=fit.classes)


def _cases(jobs: int) -> Iterator[Case]:
    for fit in _FITS:
        yield Case(
            benchmark="adaboost",
            name=fit.name,
            title=fit.title,
            data=_data_of(fit),
            rows=fit.rows,
            quick_rows=fit.quick_rows,
            work=boosting,
            contenders=_contenders(fit, jobs),
            baseline=PEER,
            score_name="R²" if fit.regression else "accuracy",
            goal=fit.goal,
        )
    small = _Fit("iris", "fit, iris, 50 stumps")
    yield Case(
        benchmark="adaboost",
        name="iris",
        title=small.title,
        data=data.iris,
        rows=120,
        quick_rows=120,
        work=boosting,
        contenders=_contenders(small, jobs),
        baseline=PEER,
        calls=5,
        goal=1.0,
    )
    asked = _Fit("predict", "predict, 50 stumps")
    yield Case(
        benchmark="adaboost",
        name="predict",
        title=asked.title,
        data=lambda rows: data.classification(rows // 10, n_test=rows),
        rows=100_000,
        quick_rows=5_000,
        work=predicting,
        contenders={OURS: _ours(asked, jobs), PEER: _peer(asked)},
        baseline=PEER,
        goal=3.0,
    )


def experiments(jobs: int) -> dict[str, Case]:
    """Return every experiment by name, in the order in which they run."""
    return {case.name: case for case in _cases(jobs)}
