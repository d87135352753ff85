"""Copies of a fitted model that explanations show in its place: with other names, or of one target.

The copies share all arrays that do not change with the model they were made of.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from arboretum.base.anatomy import Anatomy, has_anatomy
from arboretum.data.schema import Schema
from arboretum.structure.tree import Tree

__all__ = ["of_one_target", "with_column_names"]


def with_column_names(model: Any, names: Mapping[str, str]) -> Any:
    """Return a fitted model whose columns have other names; ``names`` maps the old ones to the new.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> model = CARTClassifier().fit([[1.0], [2.0]], [0, 1])
    >>> with_column_names(model, {"x0": "age"}).tree_[0].name
    'age'
    """
    memo: dict[int, Any] = {
        id(schema): _renamed(schema, names) for schema in _schemas(model._anatomy())
    }
    return _timed_like(model, copy.deepcopy(model, memo))


def _schemas(anatomy: Anatomy) -> list[Schema]:
    """Return the schemas of a model, its trees and the models in it that read the same table."""
    found = [anatomy.columns.schema, *(tree.schema for tree in anatomy.trees)]
    for part in anatomy.parts:
        if part.reads_table and has_anatomy(part.model):
            found += _schemas(part.model._anatomy())
    return found


def _renamed(schema: Schema, names: Mapping[str, str]) -> Schema:
    columns = tuple(replace(one, name=names.get(one.name, one.name)) for one in schema.columns)
    return replace(schema, columns=columns)


def _timed_like(model: Any, made: Any) -> Any:
    """Return the copy with the seconds that the fit took, which pickles and copies leave out."""
    if "_fit_seconds" in vars(model):
        made._fit_seconds = model._fit_seconds
    return made


def of_one_target(model: Any, target: int) -> Any:
    """Return a fitted model of trees that predicts one of its targets: the same trees, fewer values.

    Raises
    ------
    ValueError
        The model has no trees of its own, or trees for every target.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> model = CARTRegressor().fit([[0.0], [1.0]], [[1.0, 5.0], [2.0, 6.0]])
    >>> of_one_target(model, 1).predict([[1.0]]).tolist()
    [6.0]
    """
    anatomy = model._anatomy()
    if not anatomy.trees or anatomy.family == "second order":
        raise ValueError(f"{type(model).__name__} has no trees that predict all of its targets")
    single = copy.copy(model)
    kept = vars(single)
    for name in (
        *type(model)._cached,
        "oob_score_",
        "_oob",
        "pruning_curve_",
    ):  # of all targets together
        kept.pop(name, None)
    single.n_outputs_, single._one_output = 1, True
    width = 1
    if isinstance(kept.get("classes_"), list):
        single._take_classes(model.classes_[target])
        width = len(model.classes_[target])
    if "_kept_tree" in kept:
        single._kept_tree = _of_target(model._kept_tree, target, width)
    elif "trees_" in kept:
        single.trees_ = [_of_target(tree, target, width) for tree in model.trees_]
    else:  # a bag of trees
        single.estimators_ = [of_one_target(member, target) for member in model.estimators_]
    return _timed_like(model, single)


def _of_target(tree: Tree, target: int, width: int) -> Tree:
    return replace(tree, value=np.ascontiguousarray(tree.value[:, target : target + 1, :width]))
