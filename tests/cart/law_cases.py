"""Models and tables for the laws of trees, and what "the same tree" means.

Every case is one way to grow a tree; together they pass through every search of the engine. The tables
hold few-valued and many-valued columns, categories (few, and more than every subset is tried of) and
missing values. Targets are multiples of 1/8 and weights whole numbers: their sums are exact.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import CARTClassifier, CARTRegressor
from arboretum.structure.tree import SUBSET
from tests.cart.textbook_walk import has_bit


@dataclass(frozen=True)
class Case:
    """A model, and what its table looks like."""

    name: str
    options: dict = field(default_factory=dict)
    categories: bool = False
    missing: bool = False
    classes: int = 0  # 0: numbers
    outputs: int = 1
    counts: bool = False  # targets 0, 1, 2, ...

    def model(self, **more):
        model = CARTClassifier if self.classes else CARTRegressor
        return model(
            categorical_features=[2, 3] if self.categories else None, **self.options, **more
        )

    def table(self, seed: int = 0, n: int = 150) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return X, y and weights."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 6)).astype(np.float32).astype(np.float64)
        X[:, 1] = np.round(X[:, 1], 1)
        X[:, 2], X[:, 3] = rng.integers(0, 6, n), rng.integers(0, 14, n)
        X[:, 4] = rng.integers(0, 3, n)
        signal = X[:, 0] * X[:, 1] + (X[:, 2] % 3) + (X[:, 3] % 2) + X[:, 4] / 2
        y = np.round(8 * (signal[:, None] + rng.normal(size=(n, self.outputs)))) / 8
        if self.classes:
            y = np.digitize(y, np.linspace(0.5, 2.5, self.classes - 1))
        elif self.counts:
            y = np.floor(np.abs(y))
        if self.missing:
            X[rng.random(X.shape) < 0.15] = np.nan
        return X, y[:, 0] if self.outputs == 1 else y, rng.integers(1, 5, n).astype(float)


MIXED = {"categories": True, "missing": True}
CASES = [
    Case("gini", classes=2),
    Case("gini-3", classes=3, **MIXED),
    Case("entropy", {"criterion": "entropy"}, classes=2, **MIXED),
    Case("log_loss-outputs", {"criterion": "log_loss"}, classes=3, outputs=2, **MIXED),
    Case("squared_error", **MIXED),
    Case("squared_error-outputs", outputs=3, **MIXED),
    Case("friedman_mse", {"criterion": "friedman_mse"}, outputs=2),
    Case("absolute_error", {"criterion": "absolute_error"}, **MIXED),
    Case("absolute_error-outputs", {"criterion": "absolute_error"}, outputs=2, missing=True),
    Case("poisson", {"criterion": "poisson"}, counts=True, **MIXED),
    Case("monotone", {"monotonic_cst": [1, -1, 0, 0, 1, 0], "min_samples_leaf": 3}, missing=True),
    Case("best-first", {"max_leaf_nodes": 9}, **MIXED),
    Case("bins", {"max_bins": 8}, classes=3, **MIXED),
    Case("surrogates", {"surrogates": 3, "max_depth": 5}, classes=2, **MIXED),
    Case("max_features", {"max_features": "sqrt", "random_state": 3}, classes=3, **MIXED),
    Case(
        "max_features-absolute",
        {"max_features": 2, "random_state": 3, "criterion": "absolute_error"},
        **MIXED,
    ),
    Case("random", {"splitter": "random", "random_state": 5}, **MIXED),
    Case("random-3", {"splitter": "random", "random_state": 5}, classes=3, **MIXED),
    Case(
        "random-some",
        {"splitter": "random", "max_features": 0.5, "random_state": 5},
        classes=2,
        **MIXED,
    ),
]


def cases_without(*names: str, of: tuple | list = CASES):
    """Run a test on every case that sets none of these options (or has one of these as criterion)."""
    chosen = [
        case for case in of if not set(names) & {*case.options, case.options.get("criterion")}
    ]
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case.name)


cases = cases_without()
settled_cases = cases_without("random_state")
NUMBERS = [case for case in CASES if not case.classes]
CLASSES = [case for case in CASES if case.classes]
RANDOM = [case for case in CASES if "random_state" in case.options]

QUESTIONS = ("kind", "feature", "threshold", "first_child", "n_children", "missing_child")


def assert_same_questions(a, b):
    """The two trees ask the same, bit for bit."""
    for name in QUESTIONS:
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert category_sets(a, a) == category_sets(b, b)
    assert (a.surrogates is None) == (b.surrogates is None)
    if a.surrogates is not None:
        for name in ("start", "kind", "feature", "threshold", "reverse"):
            assert_array_equal(getattr(a.surrogates, name), getattr(b.surrogates, name))
        assert category_sets(a, a.surrogates) == category_sets(b, b.surrogates)


def category_sets(tree, table) -> list:
    """The codes that go left, of every node or surrogate that asks for a category."""
    return [
        [c for c in range(len(tree.column(f).categories)) if has_bit(tree, start, c)]
        for kind, f, start in zip(table.kind, table.feature, table.bits_start)
        if kind == SUBSET
    ]


def assert_same_tree(a, b):
    assert_same_questions(a, b)
    for name in ("value", "impurity", "gain", "weight"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-12, atol=1e-12, err_msg=name)


def saved(model) -> bytes:
    buffer = io.BytesIO()
    model.save(buffer)
    return buffer.getvalue()


def proba(model, X):
    return model.predict_proba(X) if isinstance(model, CARTClassifier) else model.predict(X)
