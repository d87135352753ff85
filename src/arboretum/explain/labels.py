"""Texts of a tree: the question of a node, the answers of its branches, the prediction of a leaf.

`Labels` joins a tree with the names of its columns and classes. Everything that shows a tree (text,
Graphviz, plot, rules) takes its texts from it, so a tree reads the same everywhere:

    question(0)     petal width <= 0.8        the split, as a yes/no question
    answer(0, 1)    no or missing             the answer of the second branch
    prediction(4)   virginica                 the prediction of a node as if it were a leaf
    cases(4)        3.4/0.4                   the cases of a node, and those it would get wrong

The last is C4.5's notation: a case with a missing value goes down every branch, a fraction in each, so cases
are counted in fractions. A branch may also be empty, if its value never occurred there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arboretum.errors import ParameterError
from arboretum.explain.pick_tree import Picked, pick_tree
from arboretum.lazy import cached_property
from arboretum.structure.condition import Condition, around_zero, format_value
from arboretum.structure.tree import GROUPS, MULTIWAY, Tree

__all__ = [
    "Labels",
    "Wording",
    "check_choice",
    "check_int",
    "format_decimals",
    "labels_of",
    "read_model",
]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NOISE = 1e-9  # relative to the largest numbers; smaller ones are rounding errors
_SPREAD = "A missing value goes down every branch, to each by its share of the cases."


@dataclass(frozen=True)
class Wording:
    """How numbers and lists are written."""

    decimals: int = 3
    trim: bool = True  # 0.8 instead of 0.800
    at_most: str = "<="
    ellipsis: str = "..."
    max_categories: int | None = 6  # longer lists end in "... 3 more"


def format_decimals(value: float, wording: Wording, noise: float = 0.0) -> str:
    """Write a number with the decimals of ``wording``, or more digits if a small number would read as zero.

    >>> format_decimals(0.8, Wording(2)), format_decimals(0.8, Wording(2, trim=False))
    ('0.8', '0.80')
    >>> format_decimals(0.000123, Wording(2))
    '0.00012'
    """
    if not math.isfinite(value):
        return str(value)
    if abs(value) <= noise:
        value = 0.0
    text = f"{value + 0.0:.{wording.decimals}f}"  # + 0.0 turns -0.0 into 0.0
    if value != 0 and float(text) == 0:
        return f"{value:.{max(wording.decimals, 1)}g}"
    if wording.trim and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text


@dataclass(frozen=True)
class Labels:
    """A tree with the names to show.

    Attributes
    ----------
    tree : Tree
    features : tuple of str
        One name per column.
    classes : tuple of tuples of str, or None
        Class names of every output; None for regression.
    criterion : str
        Name of the impurity.
    fractional : bool
        The tree counts cases of classes, which may be fractions of rows.
    laplace : bool
        The class shares of the tree are smoothed: one case was added to every class.
    kind : {"answers", "residuals", "gradients"}
        What the numbers of the tree mean, see pick_tree.py.
    title : str
        Which tree of its model this is; empty if it is the only one.
    counted : str
        How the value of a leaf enters the prediction of its model; empty if the tree predicts by itself.
    """

    tree: Tree
    features: tuple[str, ...]
    classes: tuple[tuple[str, ...], ...] | None
    criterion: str = "impurity"
    fractional: bool = False
    laplace: bool = False
    kind: str = "answers"
    title: str = ""
    counted: str = ""

    @property
    def note(self) -> str:
        """A note for the reader of the tree; often empty.

        It explains how leaves count, and where missing values go if no branch reads "or missing" (only for
        columns that had missing values in training).
        """
        everywhere = ~self.tree.is_leaf & (self.tree.missing_child < 0)
        columns = np.unique(self.tree.feature[everywhere])
        spread = any(self.tree.column(int(f)).has_missing for f in columns)
        return " ".join(filter(None, (self.counted, _SPREAD if spread else "")))

    def is_empty(self, node: int) -> bool:
        """True if no training case reached the node; it predicts what its parent would."""
        size = self.tree.count if self.kind == "gradients" else self.tree.weight
        return node > 0 and float(size[node]) == 0.0

    def cases(self, node: int) -> str:
        """Return the weight of a node and, after a slash, of the cases it would get wrong, if any."""
        weight = float(self.tree.weight[node])
        wrong = weight * (1.0 - float(self.shares(node)[0].max()))
        wording = Wording(1)
        text = format_decimals(weight, wording)
        return text if wrong <= _NOISE * weight else f"{text}/{format_decimals(wrong, wording)}"

    def condition(self, node: int, child: int) -> Condition:
        """Return the condition of ``child`` (0-based) of ``node``, with the names to show."""
        condition = self.tree.condition(node, child)
        return replace(condition, name=self.features[condition.feature])

    def terms(self, condition: Condition, wording: Wording) -> tuple[str, str, str]:
        """Return name, operator and right side of a condition, without "or missing"."""
        operator = condition.operator
        first = condition.values[0] if condition.values else None
        if operator in ("<=", ">") and isinstance(first, float):
            operator, first = around_zero(operator, first)
        operator = wording.at_most if operator == "<=" else operator
        if condition.operator == "in":
            right = "{" + ", ".join(shorten(condition.values, wording)) + "}"
        elif isinstance(first, float) and condition.kind != "datetime":
            right = format_decimals(first, wording)
        elif isinstance(first, float):
            right = format_value(first, condition.kind)
        else:
            right = clean(first)
        return condition.name, operator, right

    def question(self, node: int, wording: Wording) -> str:
        """Return the question of a node: a yes/no question, or just the column of a multiway split."""
        condition = self.condition(node, 0)
        if self.tree.kind[node] in (MULTIWAY, GROUPS):
            return condition.name
        return " ".join(self.terms(condition, wording))

    def answer(self, node: int, child: int, wording: Wording) -> str:
        """Return the answer of the ``child``-th branch to the question of ``node``."""
        condition = self.condition(node, child)
        if self.tree.kind[node] == MULTIWAY:
            text = self.terms(condition, wording)[2]
        elif self.tree.kind[node] == GROUPS:
            text = ", ".join(shorten(condition.values, wording))
        else:
            text = "no" if child else "yes"
        return text + (" or missing" if condition.or_missing else "")

    def shares(self, node: int) -> list[np.ndarray]:
        """Return the class shares of a node, one array per output, without smoothing."""
        assert self.classes is not None
        shares = [self.tree.value[node, k, : len(c)] for k, c in enumerate(self.classes)]
        weight = float(self.tree.weight[node])
        if not self.laplace or weight == 0.0:
            return shares
        return [np.maximum(s * (weight + len(s)) - 1.0, 0.0) / weight for s in shares]

    def prediction(self, node: int, wording: Wording) -> str:
        """Return the class or number that a node predicts; several outputs are joined by commas."""
        if self.classes is None:
            numbers = self.tree.value[node, :, 0]
            return ", ".join(format_decimals(float(v), wording, self._value_noise) for v in numbers)
        best = [names[int(np.argmax(s))] for names, s in zip(self.classes, self.shares(node))]
        return ", ".join(best)

    def class_values(self, node: int, wording: Wording, proportion: bool = False) -> list[str]:
        """Return the class weights (or shares) of a node as a list in brackets, per output."""
        scale = 1.0 if proportion else float(self.tree.weight[node])
        if self.fractional and not proportion:
            wording = replace(wording, decimals=min(wording.decimals, 1))
        return [
            "[" + ", ".join(format_decimals(float(v), wording, _NOISE) for v in share * scale) + "]"
            for share in self.shares(node)
        ]

    def number(self, numbers: np.ndarray, node: int, wording: Wording) -> str:
        """Return a node's impurity, gain or cover; rounding errors of large sums count as zero."""
        value = float(numbers[node])
        if abs(value) >= 1e7:  # a mean squared error of large targets
            return f"{value:.4g}"
        return format_decimals(value, wording, _NOISE * float(np.abs(numbers).max()))

    @cached_property
    def _value_noise(self) -> float:
        return _NOISE * float(np.abs(self.tree.value).max())


def shorten(values: Sequence[Any], wording: Wording) -> list[str]:
    """Return the values as text; a long list is cut, and the rest counted."""
    limit = wording.max_categories
    if limit is None or len(values) <= limit:
        return [clean(v) for v in values]
    rest = f"{wording.ellipsis} {len(values) - limit} more"
    return [*(clean(v) for v in values[:limit]), rest]


def clean(value: object) -> str:
    """Return a value as one line: a line break inside a name would break the drawing."""
    return _CONTROL.sub(" ", str(value))


# ---------------------------------------------------------------------- arguments of users
def read_model(
    model: Any, caller: str, feature_names: Any = None, class_names: Any = None, tree: Any = 0
) -> Labels:
    """Return the `Labels` of one tree of a model; ``caller`` is named in errors."""
    return labels_of(pick_tree(model, tree, caller), caller, feature_names, class_names)


def labels_of(
    picked: Picked, caller: str, feature_names: Any = None, class_names: Any = None
) -> Labels:
    """Return the `Labels` of the tree that `pick_tree` has returned."""
    one, anatomy = picked.tree, picked.anatomy
    counts_cases = anatomy.family in ("id3", "c45")
    return Labels(
        tree=one,
        features=_feature_names(one, feature_names, caller),
        classes=_class_names(one, picked.classes, class_names, caller),
        # the criteria of ID3 and C4.5 compare splits; their impurity of a node is entropy
        criterion="entropy" if counts_cases else anatomy.recipe.criterion or "impurity",
        fractional=counts_cases or (one.spreads and one.value.shape[1] == 1),
        laplace=counts_cases and bool(picked.owner.laplace),
        kind=picked.kind,
        title=clean(picked.title),
        counted=picked.note,
    )


def _feature_names(tree: Tree, given: Any, caller: str) -> tuple[str, ...]:
    if given is None:
        return tuple(clean(column.name) for column in tree.schema.columns)
    return _names(given, tree.n_features, f"feature_names of {caller}", "column")


def _class_names(
    tree: Tree, classes: Any, given: Any, caller: str
) -> tuple[tuple[str, ...], ...] | None:
    if classes is None and tree.value.shape[2] == 1:
        if given is not None:
            raise ParameterError(
                f"class_names of {caller} must be left out: the leaves of this tree hold numbers, not classes"
            )
        return None
    if classes is None:  # a bare Tree has class numbers only
        classes = [np.arange(tree.value.shape[2])] * tree.n_outputs
    what = f"class_names of {caller}"
    if given is None or given is True:  # in scikit-learn, True means the names of the model
        return tuple(tuple(clean(c) for c in output) for output in classes)
    if tree.n_outputs == 1:
        return (_names(given, len(classes[0]), what, "class"),)
    if not _is_list(given) or len(given) != tree.n_outputs:
        raise ParameterError(
            f"{what} must hold one list of names for each of {tree.n_outputs} outputs"
        )
    return tuple(
        _names(names, len(output), f"{what}, output {k},", "class")
        for k, (names, output) in enumerate(zip(given, classes))
    )


def _names(given: Any, count: int, what: str, thing: str) -> tuple[str, ...]:
    if not _is_list(given):
        raise ParameterError(f"{what} must be a list of {count} names, got {given!r}")
    if len(given) != count:
        raise ParameterError(f"{what} must hold {count} names, one per {thing}, got {len(given)}")
    return tuple(clean(name) for name in given)


def _is_list(given: Any) -> bool:
    return isinstance(given, Collection | np.ndarray) and not isinstance(given, str)


def check_int(value: Any, name: str, minimum: int, none: bool = False) -> None:
    """Raise unless ``value`` is an int ≥ ``minimum`` (or None where that is allowed)."""
    if none and value is None:
        return
    is_int = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not is_int or value < minimum:
        raise ParameterError(
            f"{name} must be an int ≥ {minimum}{' or None' if none else ''}, got {value!r}"
        )


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of the choices."""
    if value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
