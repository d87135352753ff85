"""Chooses the tree of a model to show, and explains the meaning of its numbers.

    model                       tree=                title
    CART, ID3, C4.5, a Tree     0                    none, it is the only one
    forest, bag of trees        0 … 99, or -1        tree 7 of 100
    AdaBoost of trees           the same             tree 7 of 50, estimator weight 0.412
    booster                     the same             tree 7 of 100
      of several classes        or (round, class)    tree 7 of 300: round 2, class maple

A tree of a forest predicts by itself. A tree of a booster adds a number to a margin and predicts no class:

    answers      class probabilities or a number, with the impurity of its criterion
    residuals    Friedman's boosting: steps at the leaves, impurity of the residuals
    gradients    second-order boosting: steps at the leaves, gain of a split, cover of a node
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arboretum.base.anatomy import Anatomy
from arboretum.errors import ParameterError
from arboretum.explain.pipeline import anatomy_of
from arboretum.predict.ensemble import Ensemble
from arboretum.structure.tree import Tree

__all__ = ["NoSuchTree", "Picked", "pick_tree", "rounds_of", "trees_of"]


class NoSuchTree(ParameterError, IndexError):
    """The number of a tree is out of range."""


class Picked(NamedTuple):
    """One tree of a model.

    Attributes
    ----------
    tree : Tree
    owner : object
        The estimator with the tree's classes, criterion and columns: the model or one of its members.
    anatomy : Anatomy
        The anatomy of the owner.
    kind : {"answers", "residuals", "gradients"}
        What its numbers mean.
    title : str
        Names the tree; empty for a model with one tree.
    note : str
        How the value of a leaf enters the prediction; empty if the tree predicts by itself.
    """

    tree: Tree
    owner: Any
    anatomy: Anatomy
    kind: str
    title: str
    note: str

    @property
    def classes(self) -> tuple[np.ndarray, ...] | None:
        """Class labels by target, if its leaves hold class probabilities; None if they hold numbers."""
        classes = self.anatomy.classes
        if self.kind != "answers" or classes is None:
            return None
        fits = self.tree.n_outputs > 1 or len(classes[0]) == self.tree.value.shape[2]
        return classes if fits else None  # stumps that predict -1 and 1 have no probabilities


def pick_tree(model: Any, tree: Any, caller: str) -> Picked:
    """Return one tree of a fitted model; ``caller`` is named in errors.

    Parameters
    ----------
    model : fitted estimator or Tree
    tree : int or pair
        An index, negative from the end; for boosters also (round, class), the class by number or name. If
        trees are side by side, a pair means the first of them.

    Examples
    --------
    >>> from arboretum import RandomForestClassifier
    >>> forest = RandomForestClassifier(5, random_state=0).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> pick_tree(forest, -1, "export_text").title
    'tree 4 of 5'
    """
    anatomy = anatomy_of(model, caller)
    trees = anatomy.trees
    if not trees:
        raise _without_trees(model, anatomy, caller)
    picker = _Picker(caller, type(model).__name__, anatomy)
    number = picker.number(tree)
    picked, rounds = trees[number], rounds_of(anatomy)
    is_part = anatomy.family in ("bag", "adaboost")
    owner = anatomy.parts[number].model if is_part else model
    theirs = anatomy_of(owner, caller) if is_part else anatomy
    title = "" if anatomy.family in _SINGLE else f"tree {number} of {len(trees)}"
    if rounds is None:
        if anatomy.family == "adaboost":
            title += f", estimator weight {anatomy.history.figures['weight'][number]:.3g}"
        kind = "gradients" if _is_second_order(picked) else "answers"
        return Picked(picked, owner, theirs, kind, title, "")
    title += picker.place(number, rounds)
    return Picked(picked, owner, theirs, anatomy.leaves, title, picker.counted(number, rounds))


_SINGLE = ("bare", "tree", "id3", "c45")


def trees_of(model: Any) -> list[Tree]:
    """Return the trees of a fitted model in their order; empty if it has none itself."""
    return anatomy_of(model, "trees_of").trees


def rounds_of(anatomy: Anatomy) -> Ensemble | None:
    """Return the trees of a booster, which are ordered by round; None for other models."""
    return None if anatomy.leaves == "answers" else anatomy.ensemble


def _is_second_order(tree: Tree) -> bool:
    """Return True if a bare tree was grown on gradients: it has gains, but no impurity."""
    return bool(tree.gain.any()) and not tree.impurity.any()


class _Picker(NamedTuple):
    """Finds and names the tree that a user requests; errors name the caller and the model."""

    caller: str
    model: str
    anatomy: Anatomy

    # ------------------------------------------------------------------ names
    def place(self, number: int, rounds: Ensemble) -> str:
        """Return the round and class of a booster's tree; empty if its number is enough."""
        if rounds.per_round == 1:
            return ""
        text = f": round {number // rounds.per_round}"
        if rounds.n_outputs > 1:
            name = self._output_name(number, rounds) or f"output {rounds.output_of(number)}"
            text += f", {name}"
        if rounds.n_parallel > 1:
            text += f", {number % rounds.n_parallel + 1} of {rounds.n_parallel} side by side"
        return text

    def counted(self, number: int, rounds: Ensemble) -> str:
        """Return a sentence on how the value of a leaf enters the prediction."""
        weight = float(rounds.weights[number])
        weight /= rounds.n_rounds if rounds.averaged else 1
        what = "The value" if weight == 1.0 else f"{weight:.4g} times the value"
        whose = self._output_name(number, rounds)
        return f"{what} is added to the margin{' of ' if whose else ''}{whose}."

    def _output_name(self, number: int, rounds: Ensemble) -> str:
        """Return the class to whose margin a tree adds; for two classes (or one), the last."""
        classes = self.anatomy.labels
        if classes is None or self.anatomy.n_targets > 1:
            return ""
        return f"class {classes[-1 if rounds.n_outputs == 1 else rounds.output_of(number)]}"

    # ------------------------------------------------------------------ arguments of users
    def number(self, tree: Any) -> int:
        """Return the index of the requested tree."""
        rounds, count = rounds_of(self.anatomy), len(self.anatomy.trees)
        if isinstance(tree, tuple | list) and len(tree) == 2 and rounds is not None:
            m = self._index(tree[0], count // rounds.per_round, ("round", "rounds"))
            k = self._class_number(tree[1], rounds.n_outputs)
            return m * rounds.per_round + k * rounds.n_parallel
        if not _is_int(tree):
            either = "" if rounds is None else " or a pair (round, class)"
            raise ParameterError(
                f"{self.caller}: tree must be an int{either} for {self.model}, got {tree!r}"
            )
        return self._index(tree, count, ("tree", "trees"))

    def _class_number(self, given: Any, n_outputs: int) -> int:
        classes = self.anatomy.labels
        if isinstance(given, str) and classes is not None and n_outputs == len(classes):
            names = [str(one) for one in classes]
            if given not in names:
                raise ParameterError(
                    f"{self.caller}: there is no class {given!r}, {self.model} has {', '.join(names)}"
                )
            return names.index(given)
        words = ("output", "outputs") if classes is None or n_outputs == 1 else ("class", "classes")
        return self._index(given, n_outputs, words)

    def _index(self, given: Any, count: int, words: tuple[str, str]) -> int:
        """Return the index of one of ``count`` things; ``words`` are their singular and plural."""
        if not _is_int(given) or not -count <= given < count:
            one, many = words
            has = f"only {one} 0" if count == 1 else f"{many} 0 to {count - 1}, or -1 for the last"
            raise NoSuchTree(f"{self.caller}: there is no {one} {given!r}, {self.model} has {has}")
        return int(given) % count


def _is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def _without_trees(model: Any, anatomy: Anatomy, caller: str) -> ParameterError:
    """Return the error that names an alternative."""
    kind = type(model).__name__
    if anatomy.family == "rules":
        return ParameterError(
            f"{caller} needs a tree, but {kind} is a list of rules: print(model.to_text()) shows it"
        )
    if not anatomy.parts:
        return ParameterError(f"{caller}: this {kind} has no trees to show")
    first = anatomy.parts[0]
    named = anatomy.family in ("stack", "vote")
    where = f"named_estimators_[{first.name!r}]" if named else "estimators_[0]"
    return ParameterError(
        f"{caller}: {kind} has no trees itself, it combines other models: show one of them, for "
        f"example model.{where} ({type(first.model).__name__})"
    )
