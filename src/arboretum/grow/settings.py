"""From an estimator's parameters to how a tree is grown: fractions become counts, names columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, sqrt
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from arboretum.data.checks import list_names
from arboretum.data.schema import Schema
from arboretum.errors import ParameterError

if TYPE_CHECKING:
    from arboretum.grow.grower import GrowTarget

__all__ = [
    "Growth",
    "count_of",
    "growth",
    "loner_excess",
    "monotone_signs",
    "n_drawn",
    "signs_of_columns",
]

_SHOWN = 5  # names in a message


@dataclass(frozen=True)
class Growth:
    """How far and in what way a tree grows; numbers are final (fractions already counted out)."""

    criterion: int
    random_splits: bool = False
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_share: float = 0.0  # of the weight a tree learns from, that a leaf needs besides
    max_features: int | None = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    monotone: np.ndarray | None = None  # int8 per feature
    surrogates: int = 0
    max_bins: int | None = None
    category_penalty: float = 1.0  # see engine/split/categories.py
    loner_excess: float = 0.0  # `loner_excess`
    ccp_alpha: float = 0.0  # `Grown.pruned`
    seed: int = 0  # the key of a single tree
    n_jobs: int = 1

    @property
    def draws(self) -> bool:
        """Nodes draw their columns or cuts."""
        return self.random_splits or self.max_features is not None

    @property
    def is_limited(self) -> bool:
        """Something besides depth keeps a tree from growing, or prunes it."""
        return (
            self.min_samples_split > 2
            or self.min_samples_leaf > 1
            or max(self.min_weight_leaf, self.min_share, self.min_impurity_decrease, self.ccp_alpha)
            > 0
            or self.max_leaf_nodes is not None
            or self.monotone is not None
            or self.surrogates > 0
        )

    def for_weights(self, weights: np.ndarray, n_rows: int) -> Growth:
        """Return the limits of a tree on ``n_rows`` rows of these weights (empty: 1 each)."""
        if self.min_share <= 0:
            return self
        if len(weights):
            return replace(self, min_weight_leaf=self.min_share * float(weights.sum()))
        least = max(self.min_samples_leaf, ceil(self.min_share * n_rows))
        return replace(self, min_samples_leaf=least)


def growth(model: Any, schema: Schema, target: GrowTarget, n_rows: int) -> Growth:
    """Return how far and in what way this estimator grows a tree on this data."""
    from arboretum.engine.keys import seed_from
    from arboretum.engine.parallel import effective_jobs
    from arboretum.grow.criterion import CLASSIFICATION, REGRESSION

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
        loner_excess=loner_excess(
            float(model.category_penalty), getattr(model, "n_classes_", None) == 2
        ),
        ccp_alpha=float(model.ccp_alpha),
        seed=seed_from(model.random_state) if random or drawn < n_features else 0,
        n_jobs=effective_jobs(model.n_jobs),
    )


def loner_excess(penalty: float, two_classes: bool) -> float:
    """Return the additional charge of a category of one row, as a share of the charge of the others.

    Its row is its own mean: of two classes it gains all of its impurity, not ``CHANCE`` of it. A penalty
    that takes all of it anyway needs no more.
    """
    from arboretum.engine.split.score import CHANCE

    return max(1.0 / (CHANCE * max(penalty, 1.0)) - 1.0, 0.0) if two_classes else 0.0


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
        return max(1, n_features.bit_length() - 1)
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))


def monotone_signs(constraints: Any, schema: Schema, target: GrowTarget) -> np.ndarray | None:
    """Return the monotone constraint of every column, or None if there is none."""
    if constraints is not None and target.outputs > 1:
        _refuse_target("multiple output")
    signs = signs_of_columns(constraints, schema)
    if signs is not None and target.classes is not None and target.classes[0] > 2:
        _refuse_target("multiclass classification")
    return signs


def signs_of_columns(
    constraints: Any, schema: Schema, owner: str = "The model"
) -> np.ndarray | None:
    """Return the sign of every column for ``monotonic_cst``, or None if there is no constraint.

    >>> from arboretum.data.schema import Column
    >>> schema = Schema((Column("age", "numeric"), Column("size", "numeric")), True)
    >>> signs_of_columns({"size": -1}, schema)
    array([ 0, -1], dtype=int8)
    """
    if constraints is None:
        return None
    signs = np.zeros(schema.n_features)
    if isinstance(constraints, dict):
        _check_columns(constraints, schema, owner)
        for name, sign in constraints.items():
            signs[schema.names.index(name)] = _sign(sign, name)
    else:
        given = list(constraints) if np.iterable(constraints) else [constraints]
        if isinstance(constraints, str) or len(given) != len(signs):
            raise ParameterError(
                f"monotonic_cst has shape {len(given)} but the input data X has {len(signs)} features. "
                f"It must hold one of -1, 0, 1 for each of the {len(signs)} columns, or "
                f"be a dict of column names, got {constraints!r}"
            )
        signs[:] = [_sign(sign) for sign in given]
    for column, sign in zip(schema.columns, signs):
        if sign and column.kind == "categorical":
            raise ParameterError(
                "Categorical features cannot have monotonic constraints: monotonic_cst constrains "
                f"{column.name!r}, a category; only numbers and ranks have an order (name it in "
                "ordinal_features if it is a rank)"
            )
    return signs.astype(np.int8) if signs.any() else None


def _refuse_target(what: str) -> NoReturn:
    raise ParameterError(
        f"Monotonicity constraints are not supported with {what}: monotonic_cst works for one output, "
        "and for two classes"
    )


def _check_columns(constraints: dict[Any, Any], schema: Schema, owner: str) -> None:
    odd = sorted((name for name in constraints if name not in schema.names), key=str)
    if odd and not schema.named:
        raise ParameterError(
            f"{owner} was not fitted on data with feature names. Pass monotonic_cst as an integer array "
            "instead."
        )
    if odd:
        shown = odd if len(odd) <= _SHOWN else [*odd[:_SHOWN], "..."]
        raise ParameterError(
            f"monotonic_cst contains {len(odd)} unexpected feature names: {shown}. The table has "
            f"{list_names(schema.names)}"
        )


def _sign(value: Any, name: str | None = None) -> int:
    if isinstance(value, Real) and not isinstance(value, bool) and value in (-1, 0, 1):
        return int(float(value))
    shown = value.item() if isinstance(value, np.generic) else value
    if name is not None:
        raise ParameterError(f"monotonic_cst[{name!r}] must be either -1, 0 or 1. Got {shown!r}.")
    raise ParameterError(
        f"monotonic_cst must be None or an array-like of -1, 0 or 1. It holds [{shown!r}]"
    )
