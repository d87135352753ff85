"""Rules as plain arrays for a file, and the proof that arrays from a file are rules.

The tests of all rules stand one after the other; rule r has those from ``start[r]`` to ``start[r + 1]``:

    start       0           2       3
    feature     0     2     1                    rule 0: x0 <= 5 and x2 in {0, 3}
    operator    <=    in    =                    rule 1: x1 = 1
    bound       5.0   0.0   0.0
    code_start  0     0     2       3            the categories of test t
    codes             0 3   1
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.c45.rules.rule import C45Rule, RuleTest
from arboretum.errors import ModelFileError

if TYPE_CHECKING:
    from arboretum.data.schema import Schema

__all__ = ["make_rule", "rules_from_state", "rules_to_state"]

OPERATORS = ("<=", ">", "=", "in")
_ARRAYS = {
    "start": ("int64", 1),
    "feature": ("int32", 1),
    "operator": ("uint8", 1),
    "bound": ("float64", 1),
    "code_start": ("int64", 1),
    "codes": ("int64", 1),
    "answer": ("int32", 1),
    "accuracy": ("float64", 1),
    "counts": ("float64", 2),
}


def make_rule(
    tests: tuple[RuleTest, ...],
    answer: int,
    accuracy: float,
    counts: Sequence[float],
    schema: Schema,
    classes: np.ndarray,
) -> C45Rule:
    """Return a rule with all its tests in words."""
    label = classes[answer]
    weight = float(sum(counts))
    return C45Rule(
        conditions=tuple(test.condition(schema) for test in tests),
        prediction=label.item() if isinstance(label, np.generic) else label,
        weight=weight,
        errors=max(weight - counts[answer], 0.0),
        accuracy=accuracy,
        counts=tuple(counts),
        answer=answer,
        tests=tests,
    )


def rules_to_state(rules: Sequence[C45Rule], n_classes: int) -> dict[str, np.ndarray]:
    """Return the rules as arrays.

    Examples
    --------
    >>> from arboretum.data.schema import Column, Schema
    >>> schema, classes = Schema((Column("a", "numeric"),), True), np.array(["no", "yes"])
    >>> rules = [make_rule((RuleTest(0, ">", 3.0),), 1, 0.75, (1.0, 8.0), schema, classes)]
    >>> state = rules_to_state(rules, 2)
    >>> state["bound"], rules_from_state(state, schema, classes) == rules
    (array([3.]), True)
    """
    tests = [test for rule in rules for test in rule.tests]
    return {
        "start": _starts([len(rule.tests) for rule in rules]),
        "feature": np.array([test.feature for test in tests], np.int32),
        "operator": np.array([OPERATORS.index(test.operator) for test in tests], np.uint8),
        "bound": np.array([test.bound for test in tests], np.float64),
        "code_start": _starts([len(test.codes) for test in tests]),
        "codes": np.array([code for test in tests for code in test.codes], np.int64),
        "answer": np.array([rule.answer for rule in rules], np.int32),
        "accuracy": np.array([rule.accuracy for rule in rules], np.float64),
        "counts": np.array([rule.counts for rule in rules], np.float64).reshape(-1, n_classes),
    }


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def rules_from_state(state: Any, schema: Schema, classes: np.ndarray) -> list[C45Rule]:
    """Return the rules that `rules_to_state` described, after checking every part of them.

    Raises
    ------
    ModelFileError
        If the arrays are not rules over the columns of the schema.
    """
    _check_arrays(state)
    n_rules, n_tests = len(state["answer"]), len(state["feature"])
    _check_starts(state["start"], n_rules, n_tests, "the tests are not shared out to the rules")
    _check_starts(
        state["code_start"], n_tests, len(state["codes"]), "the categories are not shared out"
    )
    counts, accuracy = state["counts"], state["accuracy"]
    _expect(counts.shape == (n_rules, len(classes)), "the counts do not fit rules and classes")
    _expect(bool(np.all(np.isfinite(counts) & (counts >= 0))), "a count is not a number ≥ 0")
    fair = np.all((accuracy >= -1e-9) & (accuracy <= 1 + 1e-9))
    _expect(len(accuracy) == n_rules and bool(fair), "an accuracy is outside 0 … 1")
    answer = state["answer"]
    _expect(bool(np.all((answer >= 0) & (answer < len(classes)))), "a rule answers no class")
    tests = [_test(state, t, schema) for t in range(n_tests)]
    return [
        make_rule(
            tuple(tests[lo:hi]),
            int(answer[r]),
            float(accuracy[r]),
            tuple(counts[r].tolist()),
            schema,
            classes,
        )
        for r, (lo, hi) in enumerate(pairwise(state["start"].tolist()))
    ]


def _expect(condition: bool, problem: str) -> None:
    if not condition:
        raise ModelFileError(f"the rules are damaged: {problem}")


def _check_arrays(state: Any) -> None:
    _expect(isinstance(state, dict) and set(state) == set(_ARRAYS), "an array is missing or odd")
    for name, (dtype, axes) in _ARRAYS.items():
        array = state[name]
        good = isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == axes
        _expect(good, f"{name!r} is not a {axes}-dimensional {dtype} array")
    for name in ("operator", "bound"):
        _expect(len(state[name]) == len(state["feature"]), f"{name!r} has another length")


def _check_starts(start: np.ndarray, n: int, total: int, problem: str) -> None:
    good = len(start) == n + 1 and start[0] == 0 and start[-1] == total
    _expect(bool(good and np.all(start[1:] >= start[:-1])), problem)


def _test(state: dict[str, Any], t: int, schema: Schema) -> RuleTest:
    feature, operator = int(state["feature"][t]), int(state["operator"][t])
    _expect(0 <= feature < schema.n_features, f"test {t} names no column")
    _expect(operator < len(OPERATORS), f"test {t} is of an unknown kind")
    column, bound = schema.columns[feature], float(state["bound"][t])
    codes = tuple(state["codes"][state["code_start"][t] : state["code_start"][t + 1]].tolist())
    n_words = len(column.categories or ())
    if OPERATORS[operator] in ("<=", ">"):
        _expect(column.kind != "categorical", f"test {t} compares categories")
        _expect(not codes and bool(np.isfinite(bound)), f"test {t} has no threshold")
        rank = bound == int(bound) and 0 <= bound < n_words
        _expect(not n_words or rank, f"test {t} has a threshold that is no rank of its column")
    else:
        _expect(column.kind == "categorical", f"test {t} names categories of a column of numbers")
        _expect(all(0 <= code < n_words for code in codes), f"test {t} names no category")
        fits = len(codes) == 1 if OPERATORS[operator] == "=" else len(codes) > 0
        _expect(fits and bound == 0.0, f"test {t} has not the categories of its kind")
    return RuleTest(feature, OPERATORS[operator], bound, codes)
