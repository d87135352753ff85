"""SHAP values of a mean of models: the mean of their SHAP values.

A column's contribution to ½ (a + b) is half of its contribution to a and half of that to b, so models that
predict the mean of others, votes and bags, have SHAP values as exact as theirs:

    vote of a forest and a booster of numbers      values of each, weighted like their predictions
    bag whose members see some columns             a member's values stand at its columns, 0 elsewhere

Class probabilities are averaged, not margins: a member with a nonlinear link (a booster) needs a background.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.data.slices import take_columns
from arboretum.errors import ParameterError
from arboretum.predict.additive import NoAdditiveForm

if TYPE_CHECKING:
    from arboretum.base.shap_values import Explained, Explains

__all__ = ["Member", "joined", "joined_base"]


class Member(NamedTuple):
    """One of the models whose predictions are averaged."""

    model: Explains
    weight: float = 1.0
    columns: np.ndarray | None = None  # of the whole table; None: all of them


def joined(
    whole: Explains, members: list[Member], X: Any, background: Any, pairs: bool, output: str
) -> Explained:
    """Return the weighted mean of the members' SHAP values."""
    from arboretum.base.shap_values import Explained

    _check_output(whole, output)
    n_features, n_classes = whole.schema_.n_features, _classes(whole)
    X = whole._table_for_members(X)
    background = None if background is None else whole._table_for_members(background)
    values: Any = 0.0
    base: Any = 0.0
    for member in members:
        wanted = _output_of(whole, member, background)
        try:
            found = member.model._explained(
                _own(X, member), _own(background, member), pairs, wanted, None
            )
        except NoAdditiveForm as error:
            raise NoAdditiveForm(f"{type(whole).__name__} is a mean of models: {error}") from error
        spread = _by_column(found.values, member, n_features, pairs)
        values = values + member.weight * _by_class(spread, n_classes, 2 + pairs)
        base = base + member.weight * _by_class(found.base, n_classes, 0, of=1.0)
    total = sum(member.weight for member in members)
    return Explained(values / total, base / total)


def joined_base(whole: Explains, members: list[Member]) -> Any:
    """Return the weighted mean of the members' base values, without a background."""
    n_classes = _classes(whole)
    base: Any = 0.0
    for member in members:
        _output_of(whole, member, None)
        own = np.asarray(member.model.shap_base_value())  # class probabilities are sums here
        base = base + member.weight * _by_class(own, n_classes, 0, of=1.0)
    return base / sum(member.weight for member in members)


def _check_output(whole: Explains, output: str) -> None:
    name = type(whole).__name__
    if output == "loss":
        raise ParameterError(
            f"output='loss' is for one sum of trees, {name} joins models: explain them one by one"
        )
    if output == "probability" and _classes(whole) is None:
        raise ParameterError(
            f"output='probability' is for classifiers, {name} predicts numbers: use output='raw'"
        )


def _output_of(whole: Explains, member: Member, background: Any) -> str:
    """Return the output that is explained for a member: its part of the average."""
    own = member.model
    name = type(own).__name__
    if own._members() is not None:
        return "raw"  # a mean itself
    bent = own._summed_trees().link.name != "identity"
    if _classes(whole) is None:
        if bent:
            raise NoAdditiveForm(
                f"{type(whole).__name__} averages numbers, and those of its {name} are a function of a "
                "sum: explain its models one by one (estimators_); scikit-learn's "
                "permutation_importance works with any model"
            )
        return "raw"
    if bent and background is None:
        raise ParameterError(
            f"{type(whole).__name__} averages probabilities, and those of its {name} are no sums: give a "
            "background, a table of rows to compare with, a sample of the training rows, say"
        )
    return "probability"


def _classes(whole: Explains) -> int | None:
    labels = getattr(whole, "classes_", None)
    return len(labels) if isinstance(labels, np.ndarray) else None


def _own(X: Any, member: Member) -> Any:
    return X if X is None or member.columns is None else take_columns(X, member.columns)


def _by_column(values: np.ndarray, member: Member, n_features: int, pairs: bool) -> np.ndarray:
    """Return values with the columns of the whole table; a column given twice has the sum of both."""
    if member.columns is None:
        return values
    for axis in range(1, 2 + pairs):
        moved = np.moveaxis(values, axis, 0)
        spread = np.zeros((n_features, *moved.shape[1:]))
        np.add.at(spread, member.columns, moved)
        values = np.moveaxis(spread, 0, axis)
    return values


def _by_class(
    values: np.ndarray, n_classes: int | None, axes: int, *, of: float = 0.0
) -> np.ndarray:
    """Return values with a last axis of classes; two classes with one number become two, of sum ``of``."""
    if n_classes is None or values.ndim > axes:
        return values
    return np.stack([of - values, values], axis=-1)
