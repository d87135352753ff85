"""Which tree of a model is shown, and what its numbers mean.

    model                       tree=                title
    CART, ID3, C4.5, a Tree     0                    none: it is the only one
    forest, bag of trees        0 … 99, or -1        tree 7 of 100
    AdaBoost of trees           the same             tree 7 of 50, estimator weight 0.412
    booster                     the same             tree 7 of 100
      of several classes        or (round, class)    tree 7 of 300: round 2, class maple

A tree of a forest predicts by itself. A tree of a booster adds a number to a margin, and names no class:

    answers      class shares or a number, with the impurity of its criterion
    residuals    Friedman's boosting: steps at the leaves, impurity of the residuals
    gradients    second-order boosting: steps at the leaves, gain of a split, cover of a node
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arboretum.errors import ParameterError
from arboretum.structure.tree import Tree

__all__ = ["Picked", "Rounds", "pick_tree", "rounds_of", "trees_of"]


class Picked(NamedTuple):
    """One tree of a model.

    Attributes
    ----------
    tree : Tree
    owner : object
        The estimator whose classes, criterion and columns the tree has: the model or one of its members.
    kind : {"answers", "residuals", "gradients"}
        What its numbers mean.
    title : str
        Which one it is; empty for a model of one tree.
    note : str
        How a leaf's number counts; empty where the tree predicts by itself.
    """

    tree: Tree
    owner: Any
    kind: str
    title: str
    note: str

    @property
    def classes(self) -> Any:
        """Labels of the classes whose shares its leaves hold; None where leaves hold numbers."""
        classes = getattr(self.owner, "classes_", None)
        if self.kind != "answers" or classes is None:
            return None
        fits = self.tree.n_outputs > 1 or len(classes) == self.tree.value.shape[2]
        return classes if fits else None  # stumps that answer -1 and 1 hold no shares


class Rounds(NamedTuple):
    """How the trees of a booster follow each other: by round, by output, side by side."""

    n_outputs: int
    n_parallel: int
    weights: np.ndarray  # what each tree counts

    @property
    def per_round(self) -> int:
        return self.n_outputs * self.n_parallel

    def output_of(self, number: int) -> int:
        """Return the output a tree adds to."""
        return number % self.per_round // self.n_parallel


def pick_tree(model: Any, tree: Any, caller: str) -> Picked:
    """Return one tree of a fitted model; ``caller`` is named in errors.

    Parameters
    ----------
    model : fitted estimator or Tree
    tree : int or pair
        An index, negative ones from the end; for boosters also (round, class), the class by its number or
        its name. Of trees side by side a pair takes the first.

    Examples
    --------
    >>> from arboretum import RandomForestClassifier
    >>> forest = RandomForestClassifier(5, random_state=0).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> pick_tree(forest, -1, "export_text").title
    'tree 4 of 5'
    """
    trees = trees_of(model)
    if not trees:
        raise _without_trees(model, caller)
    rounds = rounds_of(model)
    number = _number(model, tree, rounds, len(trees), caller)
    members = getattr(model, "estimators_", None)
    owner = members[number] if isinstance(members, list) else model
    picked = trees[number]
    is_single = isinstance(model, Tree) or hasattr(model, "tree_")
    title = "" if is_single else f"tree {number} of {len(trees)}"
    if rounds is None:
        if hasattr(model, "estimator_weights_"):
            title += f", estimator weight {model.estimator_weights_[number]:.3g}"
        kind = "gradients" if _is_second_order(picked) else "answers"
        return Picked(picked, owner, kind, title, "")
    title += _place(model, number, rounds)
    kind = "gradients" if hasattr(model, "objective_") else "residuals"
    return Picked(picked, owner, kind, title, _counted(model, number, rounds))


def trees_of(model: Any) -> list[Tree]:
    """Return the trees of a fitted model in their order; empty if it has none of its own."""
    if isinstance(model, Tree):
        return [model]
    trees = getattr(model, "trees_", None)
    if trees is None and hasattr(model, "tree_"):
        trees = [model.tree_]
    if trees is None and not hasattr(model, "named_estimators_"):  # models of different kinds
        trees = [getattr(member, "tree_", None) for member in getattr(model, "estimators_", ())]
    return list(trees or ()) if all(isinstance(tree, Tree) for tree in trees or ()) else []


def rounds_of(model: Any) -> Rounds | None:
    """Return how a booster's trees follow each other; None for other models."""
    if not (hasattr(model, "objective_") or hasattr(model, "n_trees_per_iteration_")):
        return None
    ensemble = model.ensemble_
    share = 1.0 / max(ensemble.n_rounds, 1) if ensemble.averaged else 1.0
    return Rounds(ensemble.n_outputs, ensemble.n_parallel, ensemble.weights * share)


def _is_second_order(tree: Tree) -> bool:
    """Tell whether a bare tree was grown on gradients: its splits gain, but impurity is unknown."""
    return bool(tree.gain.any()) and not tree.impurity.any()


def _place(model: Any, number: int, rounds: Rounds) -> str:
    """Return where in a booster a tree stands; nothing where its number says it all."""
    if rounds.per_round == 1:
        return ""
    text = f": round {number // rounds.per_round}"
    if rounds.n_outputs > 1:
        text += f", {_output_name(model, number, rounds) or f'output {rounds.output_of(number)}'}"
    if rounds.n_parallel > 1:
        text += f", {number % rounds.n_parallel + 1} of {rounds.n_parallel} side by side"
    return text


def _output_name(model: Any, number: int, rounds: Rounds) -> str:
    """Return the class whose margin a tree adds to; of two classes (or one) it is the last."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return ""
    return f"class {classes[-1 if rounds.n_outputs == 1 else rounds.output_of(number)]}"


def _counted(model: Any, number: int, rounds: Rounds) -> str:
    """Return how a leaf's number counts."""
    weight = float(rounds.weights[number])
    what = "The value" if weight == 1.0 else f"{weight:.4g} times the value"
    whose = _output_name(model, number, rounds)
    return f"{what} is added to the margin{' of ' if whose else ''}{whose}."


# ---------------------------------------------------------------------- reading what the user gave
def _number(model: Any, tree: Any, rounds: Rounds | None, count: int, caller: str) -> int:
    """Return the index of the tree that is asked for."""
    if isinstance(tree, tuple | list) and len(tree) == 2 and rounds is not None:
        m = _index(tree[0], count // rounds.per_round, ("round", "rounds"), model, caller)
        k = _class_number(model, tree[1], rounds.n_outputs, caller)
        return m * rounds.per_round + k * rounds.n_parallel
    if not _is_int(tree):
        either = "" if rounds is None else " or a pair (round, class)"
        raise ParameterError(
            f"{caller}: tree must be an int{either} for {type(model).__name__}, got {tree!r}"
        )
    return _index(tree, count, ("tree", "trees"), model, caller)


def _class_number(model: Any, asked: Any, n_outputs: int, caller: str) -> int:
    classes = getattr(model, "classes_", None)
    if isinstance(asked, str) and classes is not None and n_outputs == len(classes):
        names = [str(one) for one in classes]
        if asked not in names:
            raise ParameterError(
                f"{caller}: there is no class {asked!r}, {type(model).__name__} knows {', '.join(names)}"
            )
        return names.index(asked)
    words = ("output", "outputs") if classes is None or n_outputs == 1 else ("class", "classes")
    return _index(asked, n_outputs, words, model, caller)


def _index(asked: Any, count: int, words: tuple[str, str], model: Any, caller: str) -> int:
    """Return which of ``count`` things is asked for; ``words`` name one of them and many."""
    if not _is_int(asked) or not -count <= asked < count:
        one, many = words
        has = f"only {one} 0" if count == 1 else f"{many} 0 to {count - 1}, or -1 for the last"
        raise ParameterError(
            f"{caller}: there is no {one} {asked!r}, {type(model).__name__} has {has}"
        )
    return int(asked) % count


def _is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def _without_trees(model: Any, caller: str) -> Exception:
    """Return the error that says what can be shown instead."""
    kind = type(model).__name__
    if hasattr(model, "rules_"):
        return ParameterError(
            f"{caller} needs a tree, but {kind} is a list of rules: print(model.to_text()) shows it"
        )
    members = getattr(model, "named_estimators_", None) or getattr(model, "estimators_", None)
    if members is not None and len(members):
        named = members.items() if isinstance(members, dict) else enumerate(members)
        where = "named_estimators_" if isinstance(members, dict) else "estimators_"
        key, member = next(iter(named))
        return ParameterError(
            f"{caller}: {kind} has no trees of its own, it joins other models: ask one of them, for "
            f"example model.{where}[{key!r}] ({type(member).__name__})"
        )
    if hasattr(model, "tree_"):
        theirs = type(model.tree_).__module__
        return ParameterError(
            f"{caller} needs a fitted arboretum tree model or a Tree, got {kind} whose tree_ is a "
            f"{theirs} object"
        )
    if not hasattr(model, "fit"):
        return ParameterError(f"{caller} needs a fitted arboretum tree model or a Tree, got {kind}")
    if any(name.endswith("_") and not name.startswith("_") for name in vars(model)):
        return ParameterError(f"{caller}: this {kind} has no trees to show")
    from sklearn.exceptions import NotFittedError

    return NotFittedError(f"{caller} needs a fitted model: call fit on this {kind} first")
