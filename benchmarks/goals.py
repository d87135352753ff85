"""The goals of speed in one table: every case that has one, beside the peer it is set against.

    python -m benchmarks goals --jobs 1                    all of them, some twenty minutes
    python -m benchmarks goals --case adaboost-words-2     one

Cases that other benchmarks have are theirs, with the goal set here; the rest are the options that a plain
benchmark leaves out: deep and drawn gradient boosting, AdaBoost on words and on other bases than the plain
one, more bins than a byte has. Words are those of a real table, adult (32,561 × 14, eight columns of words);
scikit-learn gets their codes, made ready for it and not timed.

    wide-bins-N      the baseline is our own fit with 255 bins: a goal of 1/1.5 is "at most 1.5 times as long"
    c45-memory       the baseline is our own CART: look at its last column
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks import boosting, c45, data, forest
from benchmarks.harness import Case, Job, Make

__all__ = ["experiments"]

OURS, PEER = "arboretum", "scikit-learn"
_BINS = (1_023, 4_095, 16_383)


# ---------------------------------------------------------------------- words
@dataclass(frozen=True)
class WordSplit(data.Split):
    """A table of words, with the codes that the peer is given for them."""

    codes: np.ndarray
    codes_test: np.ndarray

    def head(self, n: int) -> WordSplit:
        """Return the first rows of either part."""
        return WordSplit(
            self.X[:n], self.y[:n], self.X_test[:n], self.y_test[:n],
            self.codes[:n], self.codes_test[:n],
        )  # fmt: skip


@cache
def adult(rows: int) -> WordSplit:
    """Return three quarters of so many rows of adult to train on, the rest to test on."""
    from benchmarks.real_models import FilledCodes
    from benchmarks.real_tables import load

    table, codes = load("adult"), FilledCodes()  # its AdaBoost takes no gaps
    order = np.random.default_rng(0).permutation(len(table.X))[:rows]
    cut = 3 * len(order) // 4
    X, y = table.X.iloc[order].reset_index(drop=True), table.y.to_numpy()[order]
    ready = codes.training(X[:cut], table.y.iloc[order[:cut]])
    return WordSplit(X[:cut], y[:cut], X[cut:], y[cut:], ready, codes.rows(X[cut:]))


def fitting(make: Make, split: data.Split) -> Job:
    """Return the job of a fit; scikit-learn's of words is given codes."""
    model = make()
    ready = isinstance(split, WordSplit) and type(model).__module__.startswith("sklearn")
    X, X_test = (split.codes, split.codes_test) if ready else (split.X, split.X_test)
    return Job(
        run=lambda: make().fit(X, split.y),
        score=lambda model: float(model.score(X_test, split.y_test)),
    )


# ---------------------------------------------------------------------- contenders
def _gbm(jobs: int, **settings: Any) -> dict[str, Make]:
    def ours() -> Any:
        import arboretum

        return arboretum.GradientBoostingClassifier(random_state=0, n_jobs=jobs, **settings)

    def peer() -> Any:
        from sklearn.ensemble import GradientBoostingClassifier

        return GradientBoostingClassifier(random_state=0, **settings)

    return {OURS: ours, PEER: peer}


def _adaboost(jobs: int, *, max_bins: int | None = None, **base: Any) -> dict[str, Make]:
    def ours() -> Any:
        import arboretum

        weak = arboretum.CARTClassifier(max_bins=max_bins, random_state=0, **base)
        return arboretum.AdaBoostClassifier(weak, n_estimators=50, random_state=0, n_jobs=jobs)

    def peer() -> Any:
        from sklearn.ensemble import AdaBoostClassifier
        from sklearn.tree import DecisionTreeClassifier

        return AdaBoostClassifier(DecisionTreeClassifier(**base), n_estimators=50, random_state=0)

    return {OURS: ours, PEER: peer}


def _tree(jobs: int) -> dict[str, Make]:
    def ours() -> Any:
        import arboretum

        return arboretum.CARTRegressor(n_jobs=jobs)

    def peer() -> Any:
        from sklearn.tree import DecisionTreeRegressor

        return DecisionTreeRegressor(random_state=0)

    return {OURS: ours, PEER: peer}


def _bins(jobs: int, bins: int) -> Iterator[tuple[str, Make]]:
    """Return fits with so many bins: ours with those and with 255, and the peers'."""

    def ours(n: int) -> Any:
        import arboretum

        return arboretum.LGBMClassifier(max_bin=n, n_jobs=jobs, random_state=0)

    def lightgbm() -> Any:
        import lightgbm

        return lightgbm.LGBMClassifier(max_bin=bins, n_jobs=jobs, random_state=0, verbose=-1)

    def xgboost() -> Any:
        import xgboost

        return xgboost.XGBClassifier(
            max_bin=bins, n_jobs=jobs, random_state=0, max_leaves=31, max_depth=0,
            grow_policy="lossguide", learning_rate=0.1, tree_method="hist",
        )  # fmt: skip

    yield OURS, partial(ours, bins)
    yield "arboretum, 255 bins", partial(ours, 255)
    yield boosting.LIGHTGBM, lightgbm
    yield boosting.XGBOOST, xgboost


# ---------------------------------------------------------------------- data
def heavy_tailed(n: int) -> data.Split:
    """Return the columns of `data.regression` with noise of Student's t, two degrees of freedom."""
    split = data.regression(n)
    rng = np.random.default_rng(1)
    noisy = (y + rng.standard_t(2, len(y)) for y in (split.y, split.y_test))
    y, y_test = noisy
    return data.Split(split.X, y, split.X_test, y_test)


# ---------------------------------------------------------------------- cases
def _borrowed(jobs: int) -> Iterator[Case]:
    """Cases of other benchmarks, with the goals set here."""
    theirs = boosting.experiments(jobs)
    for name, goal in {
        "higgs": 3.0,
        "higgs-255": 2.7,
        "small": 2.0,
        "classes": 2.0,
        "sparse": 2.0,
        "categories": 2.0,
        "iris": 1.0,
        "predict": 3.0,
    }.items():
        case = theirs[name]
        few = {
            k: m for k, m in case.contenders.items() if k not in (boosting.HGB, boosting.CATBOOST)
        }
        yield replace(case, name=f"boosting-{name}", goal=goal, contenders=few)
    forests = forest.experiments(jobs)
    yield replace(forests["extra-trees"], rows=60_000, goal=4.0)
    yield replace(forests["predict"], name="forest-predict", rows=60_000, goal=3.0)
    yield replace(c45.experiments(jobs)["categories"], name="c45-memory", goal=None)


_made = partial(
    Case, benchmark="goals", data=data.classification, rows=20_000, quick_rows=1_000,
    work=fitting, baseline=PEER,
)  # fmt: skip


def _tree_cases(jobs: int) -> Iterator[Case]:
    yield _made(
        name="cart-heavy-tails",
        title="CART to pure leaves, noise of Student's t",
        data=heavy_tailed,
        rows=60_000,
        contenders=_tree(jobs),
        score_name="R²",
        goal=8.0,
    )


def _gbm_cases(jobs: int) -> Iterator[Case]:
    shapes = {"depth-10": {"max_depth": 10}, "16-leaves": {"max_depth": None, "max_leaf_nodes": 16}}
    draws = {
        "": {},
        "-subsample": {"subsample": 0.5},
        "-columns": {"max_features": "sqrt"},
        "-both": {"subsample": 0.5, "max_features": "sqrt"},
    }
    for shape, size in shapes.items():
        for draw, share in draws.items():
            settings: dict[str, Any] = {"n_estimators": 20, **size, **share}
            yield _made(
                name=f"gbm-{shape}{draw}",
                title=f"GradientBoosting, {_said(settings)}",
                contenders=_gbm(jobs, **settings),
                goal=10.0,
            )


def _adaboost_cases(jobs: int) -> Iterator[Case]:
    for name, base in {
        "adaboost-words": {"max_depth": 1},
        "adaboost-words-2": {"max_depth": 2},
        "adaboost-words-3": {"max_depth": 3},
    }.items():
        yield _made(
            name=name,
            title=f"AdaBoost on words, {_said(base)}, 50 rounds",
            data=adult,
            rows=32_561,
            contenders=_adaboost(jobs, **base),
            goal=20.0,
        )
    others: dict[str, dict[str, Any]] = {
        "bins": {"max_depth": 2, "max_bins": 255},
        "columns": {"max_depth": 2, "max_features": "sqrt"},
        "random": {"max_depth": 2, "splitter": "random"},
    }
    for name, base in others.items():
        yield _made(
            name=f"adaboost-{name}",
            title=f"AdaBoost, {_said(base)}, 50 rounds",
            contenders=_adaboost(jobs, **base),
            goal=20.0,
        )


def _bins_cases(jobs: int) -> Iterator[Case]:
    for bins in _BINS:
        yield _made(
            name=f"wide-bins-{bins}",
            title=f"LGBMClassifier, 28 columns, max_bin={bins}, 100 trees",
            rows=100_000,
            contenders=dict(_bins(jobs, bins)),
            baseline="arboretum, 255 bins",
            goal=1 / 1.5,
            needs=("lightgbm", "xgboost"),
        )


def _said(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())


def experiments(jobs: int) -> dict[str, Case]:
    """Return every experiment by name, in the order in which they run."""
    found: tuple[Callable[[int], Iterator[Case]], ...] = (
        _borrowed,
        _tree_cases,
        _gbm_cases,
        _adaboost_cases,
        _bins_cases,
    )
    return {case.name: replace(case, benchmark="goals") for make in found for case in make(jobs)}
