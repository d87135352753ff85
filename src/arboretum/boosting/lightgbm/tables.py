"""Arguments of `fit` of LightGBM's estimators: evaluation tables, metrics, names of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.boosting.second_order.fit import GivenTable
from arboretum.errors import DataError, ParameterError

__all__ = ["FitArguments", "by_output", "category_settings", "column_names"]


@dataclass(frozen=True)
class FitArguments:
    """The arguments of a fit; those of evaluation tables have one entry per table, or are None."""

    X: Any = None
    y: Any = None
    sample_weight: Any = None
    init_score: Any = None
    group: Any = None
    eval_set: Any = None
    eval_names: Any = None
    eval_sample_weight: Any = None
    eval_class_weight: Any = None
    eval_init_score: Any = None
    eval_group: Any = None
    eval_metric: Any = None
    eval_at: Any = None
    feature_name: Any = "auto"
    categorical_feature: Any = "auto"
    callbacks: Sequence[Any] | None = None
    init_model: Any = None
    eval_X: Any = None
    eval_y: Any = None
    save_snapshot: Any = None
    snapshot_every: int = 10
    resume: Any = False

    def training(self, class_weight: Any) -> GivenTable:
        """Return the training table."""
        groups = None if self.group is None else np.asarray(self.group)
        score = by_output(self.init_score, self.y)
        weight = self.sample_weight
        return GivenTable(self.X, self.y, weight, score, groups, class_weight=class_weight)

    def held_out(self, training: GivenTable) -> list[GivenTable]:
        """Return the tables; that of the training rows is named "training", others "valid_0", …"""
        given = any(one is not None for one in (self.eval_set, self.eval_X, self.eval_y))
        if training.groups is not None and given and self.eval_group is None:
            raise DataError(
                "eval_group cannot be None if any of eval_set, eval_X, or eval_y are provided: give the "
                "sizes of the groups of every table"
            )
        pairs = self._pairs()
        n = len(pairs)
        names = self._each("eval_names", n)
        weights, classes = self._each("eval_sample_weight", n), self._each("eval_class_weight", n)
        scores, groups = self._each("eval_init_score", n), self._each("eval_group", n)
        if training.groups is not None and any(sizes is None for sizes in groups):
            raise DataError("every table of eval_set needs groups: eval_group holds None")
        tables = []
        for k, (X, y) in enumerate(pairs):
            own = X is training.X and y is training.y
            name = names[k] or ("training" if own else f"valid_{k}")
            weight, by_class = weights[k], classes[k]
            if own and weight is None and by_class is None:
                weight, by_class = training.sample_weight, training.class_weight
            score = training.base_margin if own and scores[k] is None else by_output(scores[k], y)
            tables.append(GivenTable(X, y, weight, score, groups[k], name, by_class))
        if len({table.name for table in tables}) < n:
            raise ParameterError(f"eval_names must differ, got {[table.name for table in tables]}")
        return tables

    def _pairs(self) -> list[tuple[Any, Any]]:
        if self.eval_X is not None or self.eval_y is not None:
            if self.eval_set is not None:
                raise ParameterError("Specify either 'eval_set' or 'eval_X' and 'eval_y', not both")
            tables = self.eval_X if isinstance(self.eval_X, tuple) else (self.eval_X,)
            labels = self.eval_y if isinstance(self.eval_y, tuple) else (self.eval_y,)
            if any(one is None for one in (*tables, *labels)):
                raise ParameterError("You must specify eval_X and eval_y, not just one of them.")
            if len(tables) != len(labels):
                raise ParameterError(
                    "If eval_X is a tuple, y_val must be a tuple of same length, and vice versa."
                )
            return list(zip(tables, labels, strict=True))
        given = self.eval_set
        if given is None:
            return []
        if isinstance(given, tuple) and len(given) == 2 and not _is_pair(given[0]):
            given = [given]
        if not isinstance(given, list | tuple) or not all(_is_pair(pair) for pair in given):
            raise ParameterError("eval_set must be a list of (X, y) pairs")
        return [(X, y) for X, y in given]

    def _each(self, name: str, n: int) -> list[Any]:
        """Return one entry per table."""
        given = getattr(self, name)
        if given is None:
            return [None] * n
        if name == "eval_names" and isinstance(given, str):
            given = [given]
        if not isinstance(given, list | tuple):
            raise ParameterError(f"{name} must be a list with an entry for each table of eval_set")
        if len(given) != n:
            raise ParameterError(
                f"Length of {name} ({len(given)}) not equal to length of eval_set ({n})"
            )
        return list(given)


def _is_pair(given: Any) -> bool:
    return isinstance(given, list | tuple) and len(given) == 2


def by_output(init_score: Any, y: Any) -> Any:
    """Return scores of several classes, given class after class, as rows.

    >>> by_output([1, 2, 3, 10, 20, 30], [0, 1, 2]).tolist()
    [[1, 10], [2, 20], [3, 30]]
    """
    if init_score is None:
        return None
    scores = np.asarray(init_score)
    n = np.shape(y)[0] if np.ndim(y) else 0
    if scores.ndim == 1 and n and len(scores) > n and len(scores) % n == 0:
        return scores.reshape(-1, n).T
    return scores


# ---------------------------------------------------------------------- columns
def column_names(feature_name: Any, width: int) -> list[str] | None:
    """Return the given names, or None."""
    if isinstance(feature_name, str) and feature_name == "auto":
        return None
    good = isinstance(feature_name, list | tuple | np.ndarray) and all(
        isinstance(name, str) for name in feature_name
    )
    if not good or len(feature_name) != width or len(set(feature_name)) != width:
        raise ParameterError(
            f"feature_name must be 'auto' or {width} different names, got {feature_name!r}"
        )
    return [str(name) for name in feature_name]


def category_settings(categorical_feature: Any, feature_name: Any) -> dict[str, Any]:
    """Return the columns that are categories, as `learn_schema` takes them."""
    if categorical_feature is None or (
        isinstance(categorical_feature, str) and categorical_feature == "auto"
    ):
        return {}
    if not isinstance(categorical_feature, list | tuple | np.ndarray):
        raise ParameterError(
            "categorical_feature must be 'auto' or a list of names or positions of columns, got "
            f"{categorical_feature!r}"
        )
    named = [] if isinstance(feature_name, str) else list(feature_name)
    columns = [named.index(one) if one in named else one for one in categorical_feature]
    return {"categorical_features": columns}
