"""Gradient boosting against scikit-learn's.

    fits            both tasks, 20,000 and 200,000 rows, trees of depth 3; other losses; iris
    predict         predict_proba

Both sides find the same splits where there are no ties; arboretum's work is shared by the threads given,
scikit-learn's `GradientBoosting*` knows no threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.harness import Case, Job, Make

__all__ = ["experiments"]

OURS, OURS_ALONE, PEER = "arboretum", "arboretum, 1 thread", "scikit-learn"


@dataclass(frozen=True)
class _Fit:
    """A case of fitting: the same parameters for both sides."""

    name: str
    title: str
    model: str = "GradientBoostingClassifier"
    rows: int = 20_000
    quick_rows: int = 2_000
    columns: int = 28
    parameters: Mapping[str, Any] = field(default_factory=dict)
    goal: float | None = None


_FITS = (
    _Fit("classification", "fit, 28 columns, 100 trees of depth 3", goal=10.0),
    _Fit(
        "regression",
        "fit, 28 columns, 100 trees of depth 3",
        "GradientBoostingRegressor",
        goal=10.0,
    ),
    _Fit(
        "classification-200k",
        "fit, 28 columns, 10 trees of depth 3",
        rows=200_000,
        quick_rows=5_000,
        parameters={"n_estimators": 10},
        goal=10.0,
    ),
    _Fit(
        "absolute-error",
        "fit, 28 columns, 20 trees, loss='absolute_error'",
        "GradientBoostingRegressor",
        parameters={"n_estimators": 20, "loss": "absolute_error"},
    ),
    _Fit(
        "huber",
        "fit, 28 columns, 20 trees, loss='huber'",
        "GradientBoostingRegressor",
        parameters={"n_estimators": 20, "loss": "huber"},
    ),
    _Fit(
        "stochastic",
        "fit, 28 columns, 50 trees, subsample=0.5",
        parameters={"n_estimators": 50, "subsample": 0.5},
    ),
    _Fit(
        "deep",
        "fit, 28 columns, 20 trees of depth 6",
        parameters={"n_estimators": 20, "max_depth": 6},
    ),
    _Fit(
        "best-first",
        "fit, 28 columns, 20 trees of 16 leaves",
        parameters={"n_estimators": 20, "max_depth": None, "max_leaf_nodes": 16},
    ),
)


# ---------------------------------------------------------------------- contenders
def _ours(model: str, jobs: int, **parameters: Any) -> Make:
    def make() -> Any:
        import arboretum

        return getattr(arboretum, model)(random_state=0, n_jobs=jobs, **parameters)

    return make


def _peer(model: str, **parameters: Any) -> Make:
    def make() -> Any:
        from sklearn import ensemble

        return getattr(ensemble, model)(random_state=0, **parameters)

    return make


def _both(model: str, jobs: int, **parameters: Any) -> dict[str, Make]:
    return {OURS: _ours(model, jobs, **parameters), PEER: _peer(model, **parameters)}


# ---------------------------------------------------------------------- work
def _size(model: Any) -> dict[str, int]:
    """Return the leaves of all trees and the largest depth; both sides' trees know them."""
    trees = [member.tree_ for member in np.ravel(model.estimators_)]
    return {
        "leaves": sum(int(tree.n_leaves) for tree in trees),
        "depth": max(int(tree.max_depth) for tree in trees),
    }


def boosting(make: Make, split: data.Split) -> Job:
    """Return the job of boosting; its score is accuracy or R² on held-out rows."""
    return Job(
        run=lambda: make().fit(split.X, split.y),
        score=lambda model: float(model.score(split.X_test, split.y_test)),
        facts=_size,
    )


def giving_shares(make: Make, split: data.Split) -> Job:
    """Return the job of predicting the classes' probabilities of the held-out rows."""
    model = make().fit(split.X, split.y)
    return Job(
        run=lambda: model.predict_proba(split.X_test),
        score=lambda shares: float((model.classes_[shares.argmax(1)] == split.y_test).mean()),
    )


# ---------------------------------------------------------------------- experiments
def _fit_cases(jobs: int) -> Iterator[Case]:
    for fit in _FITS:
        regression = fit.model.endswith("Regressor")
        make_data = data.regression if regression else data.classification
        contenders = _both(fit.model, jobs, **fit.parameters)
        if jobs != 1 and fit.goal:
            contenders[OURS_ALONE] = _ours(fit.model, 1, **fit.parameters)
        yield Case(
            benchmark="gbm",
            name=fit.name,
            title=fit.title,
            data=partial(make_data, n_columns=fit.columns),
            rows=fit.rows,
            quick_rows=fit.quick_rows,
            work=boosting,
            contenders=contenders,
            baseline=PEER,
            score_name="R²" if regression else "accuracy",
            goal=fit.goal,
        )
    yield Case(
        benchmark="gbm",
        name="iris",
        title="fit, iris, 100 rounds of 3 trees",
        data=data.iris,
        rows=120,
        quick_rows=120,
        work=boosting,
        contenders=_both("GradientBoostingClassifier", jobs),
        baseline=PEER,
        calls=3,
        goal=1.0,
    )


def _predict_data(rows: int) -> data.Split:
    """A fifth of the rows to grow on, all of them to predict."""
    return data.classification(rows // 5, n_test=rows)


def _other_cases(jobs: int) -> Iterator[Case]:
    yield Case(
        benchmark="gbm",
        name="predict",
        title="predict_proba, 50 trees grown on a fifth as many rows",
        data=_predict_data,
        rows=50_000,
        quick_rows=5_000,
        work=giving_shares,
        contenders=_both("GradientBoostingClassifier", jobs, n_estimators=50),
        baseline=PEER,
    )


def experiments(jobs: int) -> dict[str, Case]:
    """Return every experiment by name, in the order in which they run."""
    return {case.name: case for case in (*_fit_cases(jobs), *_other_cases(jobs))}
