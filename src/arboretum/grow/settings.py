"""From an estimator's parameters to final numbers, and the last checks before a tree is grown.

Fractions become counts, names become columns, class weights join the sample weights, and whatever the
engine could not hold (too many rows, squares beyond float64) is refused here with a way out.
"""

from __future__ import annotations

from math import ceil, log2, sqrt
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.parameters import real
from arboretum.data.checks import list_names, list_rows
from arboretum.data.schema import Schema
from arboretum.errors import DataError, ParameterError

if TYPE_CHECKING:
    from arboretum.grow.criterion import Target
    from arboretum.grow.levelwise import Growth

__all__ = [
    "check_counts",
    "check_rows",
    "check_scale",
    "check_weights",
    "count_of",
    "growth",
    "monotone_signs",
    "n_drawn",
    "with_class_weight",
]

_LARGE = 1e100  # a weight times the square of a target stays well inside float64 up to here


def growth(model: Any, schema: Schema, target: Target, n_rows: int) -> Growth:
    """Return how far and in what way this estimator grows a tree on this data."""
    from arboretum.engine.parallel import effective_jobs
    from arboretum.engine.random import seed_from
    from arboretum.grow.criterion import CLASSIFICATION, REGRESSION
    from arboretum.grow.levelwise import Growth

    n_features = schema.n_features
    total = float(target.weights.sum()) if len(target.weights) else float(len(target.y))
    min_weight = model.min_weight_fraction_leaf * total
    min_rows = count_of(model.min_samples_leaf, n_rows)
    if not len(target.weights):  # a row weighs 1
        min_rows = max(min_rows, ceil(min_weight))
    drawn = n_drawn(model.max_features, n_features)
    random = model.splitter == "random"
    return Growth(
        criterion={**CLASSIFICATION, **REGRESSION}[model.criterion],
        random_splits=random,
        max_depth=model.max_depth,
        min_samples_split=max(2, count_of(model.min_samples_split, n_rows)),
        min_samples_leaf=min_rows,
        min_weight_leaf=min_weight,
        max_features=drawn if drawn < n_features else None,
        max_leaf_nodes=model.max_leaf_nodes,
        min_impurity_decrease=float(model.min_impurity_decrease),
        monotone=monotone_signs(model.monotonic_cst, schema, target),
        surrogates=model.surrogates,
        max_bins=model.max_bins,
        category_penalty=float(model.category_penalty),
        seed=seed_from(model.random_state) if random or drawn < n_features else 0,
        n_jobs=effective_jobs(model.n_jobs),
    )


def count_of(value: int | float, n: int) -> int:
    """Return a number of rows: itself, or a share of n rounded up.

    >>> count_of(5, 101), count_of(0.3, 101)
    (5, 31)
    """
    return int(value) if isinstance(value, Integral) else ceil(value * n)


def n_drawn(max_features: int | float | str | None, n_features: int) -> int:
    """Return how many columns a node draws.

    >>> n_drawn("sqrt", 28), n_drawn("log2", 28), n_drawn(0.5, 28), n_drawn(None, 28)
    (5, 4, 14, 28)
    """
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(log2(n_features)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))


def monotone_signs(constraints: Any, schema: Schema, target: Target) -> np.ndarray | None:
    """Return the monotone constraint of every column, or None if there is none."""
    if constraints is None:
        return None
    signs = np.zeros(schema.n_features)
    if isinstance(constraints, dict):
        for name, sign in constraints.items():
            if name not in schema.names:
                raise ParameterError(
                    f"monotonic_cst names the column {name!r}, which the table does not have; "
                    f"it has {list_names(schema.names)}"
                )
            signs[schema.names.index(name)] = _sign(sign)
    else:
        given = list(constraints) if np.iterable(constraints) else [constraints]
        if isinstance(constraints, str) or len(given) != len(signs):
            raise ParameterError(
                f"monotonic_cst must hold one of -1, 0, 1 for each of the {len(signs)} columns, or "
                f"be a dict of column names, got {constraints!r}"
            )
        signs[:] = [_sign(sign) for sign in given]
    if not signs.any():
        return None
    if target.outputs > 1 or (target.classes is not None and target.classes[0] > 2):
        raise ParameterError(
            "monotonic_cst works for one output, and for two classes: Monotonicity constraints are "
            "not supported with several outputs or more classes"
        )
    for column, sign in zip(schema.columns, signs):
        if sign and column.kind == "categorical":
            raise ParameterError(
                f"monotonic_cst constrains {column.name!r}, a category: only numbers and ranks have "
                "an order (name it in ordinal_features if it is a rank)"
            )
    return signs.astype(np.int8)


def _sign(value: Any) -> int:
    if not real(-1, 1).allows(value) or value not in (-1, 0, 1):
        raise ParameterError(f"monotonic_cst must hold only -1, 0 and 1, got {value!r}")
    return int(value)


# --------------------------------------------------------------------------- class weights
def with_class_weight(
    class_weight: Any, classes: list[np.ndarray], codes: np.ndarray, w: np.ndarray | None
) -> np.ndarray:
    """Return sample weights times the weights of the rows' classes (scikit-learn's rules)."""
    rules = class_weight if isinstance(class_weight, list) else [class_weight] * len(classes)
    if len(rules) != len(classes) or (isinstance(class_weight, dict) and len(classes) > 1):
        raise ParameterError(
            f"class_weight must be 'balanced' or a list of one dict for each of the {len(classes)} "
            f"outputs, got {class_weight!r}"
        )
    product = np.ones(len(codes)) if w is None else w.copy()
    for output, rule in enumerate(rules):
        code = codes[:, output]
        product *= _weight_of_classes(rule, classes[output], code)[code]
    if not product.any():
        raise ParameterError(f"class_weight leaves no row a weight, got {class_weight!r}")
    return product


def _weight_of_classes(rule: Any, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    if isinstance(rule, str) and rule == "balanced":
        return len(codes) / (len(classes) * np.bincount(codes, minlength=len(classes)))
    if not isinstance(rule, dict):
        raise ParameterError(f"class_weight must hold dicts or 'balanced', got {rule!r}")
    result = np.ones(len(classes))
    position = {label: i for i, label in enumerate(classes.tolist())}
    unknown = [label for label in rule if label not in position]
    # all classes named and more: a part of the data that lacks a rare class, as in cross-validation
    if unknown and len(rule) - len(unknown) < len(classes):
        raise ParameterError(
            f"class_weight names the classes {list_names(unknown)}, which y does not hold; it "
            f"holds {list_names(classes.tolist())}"
        )
    for label, weight in rule.items():
        if not real(0).allows(weight):
            raise ParameterError(
                f"class_weight must give every class a number ≥ 0, got {weight!r} for {label!r}"
            )
        if label in position:
            result[position[label]] = weight
    return result


# --------------------------------------------------------------------------- checks
def check_rows(n_rows: int) -> None:
    """Raise a DataError if there are more rows than a list entry can number."""
    from arboretum.engine.columns.presort import MAX_ROWS

    if n_rows > MAX_ROWS:
        raise DataError(
            f"X has {n_rows} rows, a tree learns from at most {MAX_ROWS}: take a sample of them"
        )


def check_scale(y: np.ndarray) -> None:
    """Raise a DataError if squares of the target, summed up, could leave float64."""
    large = np.flatnonzero((np.abs(y) > _LARGE).any(axis=1))
    if len(large):
        raise DataError(
            f"y holds values beyond ±{_LARGE:g} ({list_rows(large)}): their squares leave float64, "
            f"scale y down, e.g. y / {_LARGE:g}"
        )
    spread = y.max(axis=0) - y.min(axis=0)
    if np.any((spread > 0) & (spread < 1 / _LARGE)):
        raise DataError(
            f"y varies by no more than {spread[spread > 0].min():g}: squares of such differences "
            f"vanish in float64, scale y up, e.g. y * {_LARGE:g}"
        )


def check_weights(w: np.ndarray) -> None:
    """Raise a DataError if sums of weighted squares could leave float64."""
    small = np.flatnonzero((w > 0) & (w < 1 / _LARGE))
    if w.sum() > _LARGE:
        raise DataError(
            f"the weights add up to {w.sum():g}, more than {_LARGE:g}: scale them down, e.g. "
            "sample_weight / sample_weight.max()"
        )
    if len(small):
        raise DataError(
            f"sample_weight (times class_weight) holds positive values below {1 / _LARGE:g} "
            f"({list_rows(small)}): scale the weights up, or use 0 to leave a row out"
        )


def check_counts(y: np.ndarray) -> None:
    """Raise a DataError unless every target suits the Poisson criterion."""
    bad = np.flatnonzero((y < 0).any(axis=1))
    if len(bad):
        raise DataError(
            f"y holds {len(bad)} negative values ({list_rows(bad)}): criterion='poisson' needs "
            "y ≥ 0"
        )
    if not np.all(y.sum(axis=0) > 0):
        raise DataError("y holds nothing but zeros: criterion='poisson' needs a positive sum")
