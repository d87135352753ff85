"""A fitted model as steps that the page can compute: rows in, the same numbers as `predict` out.

    XGBClassifier       {"op": "trees", …} ──▶ {"op": "link", "name": "logit"} ──▶ {"op": "two"}
    StackingClassifier  {"op": "stack", "members": [ … ], "final": … }

A step is a dictionary with the name of an operation; "of" holds the steps it works on. The page's
`walk.js` has one function per operation; this table is the whole contract between them:

    op        result
    trees     base + Σ values of the leaves, in the order of the trees, / "div"; or their weighted median
    spread    the values of all leaves a row reaches, by share (C4.5); "stops": of the node it stops at (ID3)
    link      identity, log, logit, softmax or step of every number, times sigma
    raw       the score of a prediction, the inverse of a link (boosting that begins with a model)
    two       [1 - p, p]
    signs     [-d, d] of a decision d;  difference: second number less the first
    mean      of several steps, by weight;  add: their sum;  hard: a vote of 1 for the largest of each
    classes   numbers of a member's classes, put in the places of the model's classes
    columns   a member that takes only some of the columns
    recode    a member whose categories have other numbers
    bins      numbers cut into bins (ID3)
    rules     shares of the first rule that holds (C4.5rules)
    linear    w·x + b
    stack     predictions of the members are the row of the final model
    one       a single class

Numbers of the row are those of `model.schema_`: categories by their place, null for missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from arboretum.base.anatomy import Anatomy, PartModel, has_anatomy
from arboretum.data.schema import Schema
from arboretum.explain.report.budget import PAGE_BYTES, packed_size
from arboretum.explain.report.tree_code import code_of_tree, figures_of_tree, whole
from arboretum.predict.ensemble import Ensemble
from arboretum.predict.link import Link
from arboretum.structure.tree import Tree

__all__ = ["ModelCode", "NotWalkable", "code_of_model"]

_LOOKED = 8  # trees from whose size the size of all is estimated
_FIGURES = 0.05  # of the room, kept for the figures of trees


class NotWalkable(Exception):
    """Raised for models that the page cannot compute; the message gives the reason."""


class ModelCode:
    """The steps of a model and the trees they use.

    Attributes
    ----------
    steps : dict or None
        None where the page cannot compute them; ``reason`` explains it.
    trees : list of dict
        In the order in which steps refer to them (tree_code.py).
    sources : list of (Tree, str)
        Those trees themselves, and the member they belong to ("" for the model itself).
    shown : int
        How many trees, from the first on, have figures to draw.
    too_large : bool
        The trees do not fit into the page, so it cannot compute predictions.
    """

    def __init__(self, room: int) -> None:
        self.steps: dict[str, Any] | None = None
        self.reason = ""
        self.trees: list[dict[str, Any]] = []
        self.sources: list[tuple[Tree, str]] = []
        self.shown, self.too_large = 0, False
        self.bytes = 0  # of the lists that the page computes with
        self._room = room
        self._sizes: list[int] = []
        self._rest: Iterator[tuple[Tree, np.ndarray]] = iter(())  # trees that did not fit
        self._member = ""

    def take(self, trees: list[Tree], added: list[np.ndarray]) -> list[int]:
        """Add trees and return their numbers; raise at the first that does not fit into the page."""
        first, nodes, seen = len(self.trees), sum(map(len, trees)), 0
        self._rest = rest = zip(trees, added, strict=True)
        for at, (tree, values) in enumerate(rest, start=1):
            self.add(tree, values)
            seen += len(tree)
            if at == _LOOKED:
                own = sum(self._sizes[first:])
                self._check(self.bytes - own + own * nodes / seen)
        return list(range(first, len(self.trees)))

    def add(self, tree: Tree, added: np.ndarray, *, stops: bool = False) -> int:
        """Add a tree and return its number."""
        self._write(tree, added, stops)
        self._check(self.bytes)
        return len(self.trees) - 1

    def _write(self, tree: Tree, added: np.ndarray, stops: bool = False) -> None:
        self.trees.append(code_of_tree(tree, added, stops=stops))
        self.sources.append((tree, self._member))
        self._sizes.append(packed_size(self.trees[-1]))
        self.bytes += self._sizes[-1]

    def _check(self, size: float) -> None:
        if size > (1 - _FIGURES) * self._room:
            self.too_large = True
            raise NotWalkable(
                f"all its trees would make the page larger than {PAGE_BYTES / 1e6:g} MB, "
                "so only model.predict computes predictions"
            )

    def show(self, room: int) -> int:
        """Write the figures of trees while they fit into ``room`` bytes; return the bytes used.

        For a model that the page cannot compute, the lists of the trees count too.
        """
        used, walked = 0, self.steps is not None
        while True:
            if self.shown == len(self.trees):
                another = None if walked else next(self._rest, None)
                if another is None:
                    break
                self._write(*another)
            figures = figures_of_tree(self.sources[self.shown][0])
            size = packed_size(figures) + (0 if walked else self._sizes[self.shown])
            if used + size > room:
                break
            self.trees[self.shown] |= figures
            used, self.shown = used + size, self.shown + 1
        if not walked:
            del self.trees[self.shown :], self.sources[self.shown :]
        return used


def code_of_model(model: Any, room: int = PAGE_BYTES) -> ModelCode:
    """Return a fitted model as the page computes it; ``room`` is in bytes.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> code = code_of_model(CARTRegressor().fit([[0.0], [1.0]], [0.0, 2.0]))
    >>> code.steps["op"], len(code.trees)
    ('trees', 1)
    """
    code = ModelCode(room)
    try:
        code.steps = _steps(code, model)
    except NotWalkable as problem:
        code.reason = str(problem)
    return code


def _steps(code: ModelCode, model: Any) -> dict[str, Any]:
    """Return the steps to class probabilities, (classes,), or to a number, (1,)."""
    if not has_anatomy(model):
        return _foreign(model)
    anatomy: Anatomy = model._anatomy()
    if anatomy.n_targets > 1:
        raise NotWalkable("the model predicts several targets at once, and the page shows one")
    if anatomy.family not in _FAMILIES:
        raise NotWalkable(f"the page cannot compute predictions of a {type(model).__name__}")
    steps = _FAMILIES[anatomy.family](code, model, anatomy)
    missing = anatomy.columns.missing
    if missing == missing:
        steps = {"op": "absent", "value": float(missing), "of": steps}
    return steps


# ---------------------------------------------------------------------- models of trees
def _trees(code: ModelCode, ensemble: Ensemble) -> dict[str, Any]:
    """Return the step that adds up the trees of an ensemble."""
    if not ensemble.trees:
        return {"op": "constant", "value": whole(ensemble.base.ravel())}
    if any(tree.spreads for tree in ensemble.trees):
        raise NotWalkable("its trees send fractions of a row down several branches")
    terms = ensemble.terms
    numbers = code.take(terms.trees, terms.values)
    step: dict[str, Any] = {
        "op": "trees",
        "first": numbers[0],
        "count": len(numbers),
        "base": whole(ensemble.base.ravel()),
        "k": terms.values[0].shape[1],
    }
    if step["k"] < ensemble.base.size:
        step["columns"] = terms.columns.tolist()
    if ensemble.rule == "mean":
        step["div"] = float(ensemble.weights.sum())
    if ensemble.rule == "median":
        step["median"] = whole(ensemble.weights)
    return step


def _plain_trees(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    """CART, forests, bags of trees: means of probabilities or numbers."""
    assert anatomy.used is not None
    return _trees(code, anatomy.used)


def _boosted(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    """Second-order boosting: the rounds that `predict` uses, and the objective's link."""
    objective = anatomy.recipe.steps["objective"]()
    link = objective.link
    if anatomy.labels is not None and link.name == "identity":
        if objective.name != "binary:logitraw":
            raise NotWalkable(
                "its objective is a function of yours, and so is the meaning of its scores"
            )
        link = Link("logit")  # `predict` returns the score, `predict_proba` probabilities
    return _both(_link(_plain_trees(code, model, anatomy), link), anatomy)


def _gradient(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    """Friedman's boosting: begins with a number or with the predictions of another model."""
    from arboretum.boosting.friedman.start import Constant

    loss = model.loss_
    if isinstance(model.init_, Constant):
        start: dict[str, Any] = {"op": "constant", "value": whole(model.init_.raw.reshape(-1))}
    else:
        first = _part(code, anatomy, anatomy.parts[0])
        if loss.classifies and loss.link.name == "logit":
            first = {"op": "pick", "at": 1, "of": first}
        start = {"op": "raw", "name": loss.link.name, "sigma": loss.link.sigma, "of": first}
    if not isinstance(model.loss, str):
        raise NotWalkable("its loss is a function of yours, and so is the meaning of its scores")
    if anatomy.ensemble is None:
        rates = anatomy.history.figures["rate"]
        parts = [start]
        for members, rate, length in zip(model.members_, rates, model.step_lengths_):
            each = [_part(code, anatomy, PartModel("", one)) for one in members]
            joined = {"op": "concat", "of": each}
            parts.append({"op": "scale", "by": float(rate * length), "of": joined})
        return _both(_link({"op": "add", "of": parts}, loss.link), anatomy)
    trees = _plain_trees(code, model, anatomy)
    if trees["op"] == "constant":
        trees = start
    elif not isinstance(model.init_, Constant):
        trees = {"op": "begin", "start": start, "of": trees}
    return _both(_link(trees, loss.link), anatomy)


def _link(step: dict[str, Any], link: Any) -> dict[str, Any]:
    if link.name == "identity":
        return step
    if link.name == "own":
        raise NotWalkable("its loss is a function of yours, and so is the meaning of its scores")
    return {"op": "link", "name": link.name, "sigma": float(link.sigma), "of": step}


def _both(step: dict[str, Any], anatomy: Anatomy) -> dict[str, Any]:
    """Return the step from the probability of the second class to both probabilities."""
    classes = anatomy.labels
    if classes is None or len(classes) > 2:
        return step
    return {"op": "one"} if len(classes) == 1 else {"op": "two", "of": step}


def _coordinate(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    if len(model.classes_) == 1:
        return {"op": "one"}
    if not np.any(model.coefficients_):
        return {"op": "constant", "value": [0.5, 0.5]}
    if anatomy.ensemble is not None:
        step = _trees(code, anatomy.ensemble)
    else:
        parts = []
        for j in np.flatnonzero(model.coefficients_):
            vote = {"op": "sign", "of": _part(code, anatomy, anatomy.parts[j])}
            parts.append({"op": "scale", "by": float(model.coefficients_[j]), "of": vote})
        step = {"op": "add", "of": parts}
    return {"op": "two", "of": {"op": "link", "name": "logit", "sigma": 2.0, "of": step}}


def _adaboost(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    if anatomy.labels is None:
        return _r2(code, model, anatomy)
    K = len(anatomy.labels)
    if K == 1:
        return {"op": "one"}
    take = _member_votes if anatomy.ensemble is None else _plain_trees
    votes = take(code, model, anatomy)
    if K > 2:
        return {"op": "link", "name": "softmax", "sigma": 1.0 / (K - 1), "of": votes}
    if model.algorithm == "discrete":
        return {"op": "link", "name": "softmax", "sigma": 1.0, "of": {"op": "signs", "of": votes}}
    decision = {"op": "signs", "of": {"op": "difference", "of": votes}}
    return {"op": "link", "name": "softmax", "sigma": 0.5, "of": decision}


def _member_votes(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    """Return the step for votes of learners that are not trees over the columns of the table."""
    reading = {"discrete": "sign", "SAMME": "samme", "SAMME.R": "samme_r"}[model.algorithm]
    weights = model.estimator_weights_
    parts = [
        _scaled(weight, {"op": reading, "of": _as_classes(_part(code, anatomy, one), one, anatomy)})
        for one, weight in zip(anatomy.parts, weights, strict=True)
    ]
    total = {"op": "add", "of": parts}
    return total if reading == "sign" else _scaled(1.0 / float(weights.sum()), total)


def _scaled(by: float, step: dict[str, Any]) -> dict[str, Any]:
    return {"op": "scale", "by": float(by), "of": step}


def _r2(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    if anatomy.ensemble is not None:
        return _plain_trees(code, model, anatomy)
    answers = [_part(code, anatomy, one) for one in anatomy.parts]
    weights = model.estimator_weights_
    if model.combine == "median":
        return {"op": "median", "weights": whole(weights), "of": answers}
    parts = [_scaled(w, one) for w, one in zip(weights, answers, strict=True)]
    total = {"op": "add", "of": parts}
    return _scaled(1.0 / float(weights.sum()), total) if model.combine == "mean" else total


def _bagging(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    if anatomy.ensemble is not None:
        return _plain_trees(code, model, anatomy)
    parts = []
    for part in anatomy.parts:
        step = _part(code, anatomy, part)
        if anatomy.labels is not None:
            step = _as_classes(step, part, anatomy, coded=not has_anatomy(part.model))
            if not hasattr(part.model, "predict_proba"):
                step = {"op": "hard", "of": step}
        parts.append(step)
    return {"op": "mean", "of": parts}


# ---------------------------------------------------------------------- ID3, C4.5, rules
def _case_tree(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    stops, tree = anatomy.family == "id3", anatomy.trees[0]
    number = code.add(tree, tree.value[:, 0], stops=stops)
    step: dict[str, Any] = {"op": "spread", "tree": number}
    cuts = {str(f): whole(points) for f, points in anatomy.columns.cuts.items()}
    return {"op": "bins", "cuts": cuts, "of": step} if cuts else step


def _rules(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    rules = [
        [[t.feature, t.operator, float(t.bound), list(t.codes)] for t in rule.tests]
        for rule in model.rules_
    ]
    shares = [whole(row) for row in anatomy.recipe.steps["shares"]()]
    return {"op": "rules", "rules": rules, "shares": shares}


# ---------------------------------------------------------------------- models of models
def _voting(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    answers = [_part(code, anatomy, one) for one in anatomy.parts]
    step: dict[str, Any] = {"op": "mean", "of": answers}
    if model.weights is not None:
        step["weights"] = [float(one.weight) for one in anatomy.parts]
    if anatomy.labels is not None and model.voting == "hard":
        step["of"] = [{"op": "hard", "of": one} for one in answers]
    return step


def _stacking(code: ModelCode, model: Any, anatomy: Anatomy) -> dict[str, Any]:
    parts = []
    *members, final = anatomy.parts
    for member, method in zip(members, model.stack_method_, strict=True):
        step = _part(code, anatomy, member)
        if method == "predict" and anatomy.labels is not None:
            raise NotWalkable("its members predict class labels, which the page does not support")
        if method == "decision_function":
            raise NotWalkable(
                "its members predict decision values, which the page does not support"
            )
        if method == "predict_proba" and len(model.classes_) == 2:
            step = {"op": "pick", "at": 1, "of": step}
        parts.append(step)
    if model.passthrough:
        if any(column.categories is not None for column in anatomy.columns.schema.columns):
            raise NotWalkable("its final model reads the table too, with its own categories")
        parts.append({"op": "row"})
    code._member = final.name
    return {"op": "stack", "row": {"op": "concat", "of": parts}, "of": _steps(code, final.model)}


def _part(code: ModelCode, anatomy: Anatomy, part: PartModel) -> dict[str, Any]:
    """Return the steps of a model inside another one, given the numbers of the outer model's row."""
    before, name = code._member, part.name
    code._member = f"{before} · {name}" if before and name else before or name
    steps = _steps(code, part.model)
    code._member = before
    mine = anatomy.columns.schema
    places = np.arange(mine.n_features) if part.columns is None else part.columns
    if has_anatomy(part.model):
        maps = _maps(mine, part.model._anatomy().columns.schema, places)
        if maps:
            steps = {"op": "recode", "maps": maps, "of": steps}
    if part.columns is not None:
        steps = {"op": "columns", "columns": [int(f) for f in part.columns], "of": steps}
    return steps


def _maps(mine: Schema, theirs: Schema, places: np.ndarray) -> dict[str, list[int | None]]:
    """Return, by column, the member's codes of the model's categories, where they differ."""
    maps: dict[str, list[int | None]] = {}
    for f, place in enumerate(places.tolist()):
        one, other = mine.columns[place], theirs.columns[f]
        if one.categories == other.categories:
            continue
        known = {word: code for code, word in enumerate(other.categories or ())}
        maps[str(f)] = [known.get(word) for word in one.categories or ()]
    return maps


def _as_classes(
    step: dict[str, Any], part: PartModel, anatomy: Anatomy, *, coded: bool = False
) -> dict[str, Any]:
    """Return the step that moves a member's class probabilities to the places of the model's classes.

    ``coded``: the member has learned the numbers of the classes.
    """
    theirs, mine = np.asarray(part.model.classes_), anatomy.labels
    assert mine is not None
    places = theirs if coded else np.searchsorted(mine, theirs)
    if np.array_equal(places, np.arange(len(mine))):
        return step
    return {"op": "classes", "places": places.tolist(), "count": len(mine), "of": step}


# ---------------------------------------------------------------------- other libraries' models
def _foreign(model: Any) -> dict[str, Any]:
    """Return the step of a linear model; raise for other models."""
    name = type(model).__name__
    is_linear = type(model).__module__.startswith("sklearn.linear_model")
    classes = getattr(model, "classes_", None)
    logistic = ("LogisticRegression", "LogisticRegressionCV")
    if not (is_linear and hasattr(model, "coef_") and (classes is None or name in logistic)):
        raise NotWalkable(f"it contains a {name}, whose predictions the page cannot compute")
    coef = np.atleast_2d(np.asarray(model.coef_, np.float64))
    intercept = np.broadcast_to(np.asarray(model.intercept_, np.float64), len(coef))
    step = {"op": "linear", "w": [whole(row) for row in coef], "b": whole(intercept)}
    if classes is None:
        return step
    if len(classes) == 2:
        return {"op": "two", "of": {"op": "link", "name": "logit", "sigma": 1.0, "of": step}}
    return {"op": "link", "name": "softmax", "sigma": 1.0, "of": step}


_FAMILIES: dict[str, Callable[[ModelCode, Any, Anatomy], dict[str, Any]]] = {
    "tree": _plain_trees,
    "id3": _case_tree,
    "c45": _case_tree,
    "rules": _rules,
    "forest": _plain_trees,
    "bag": _bagging,
    "adaboost": _adaboost,
    "coordinate": _coordinate,
    "friedman": _gradient,
    "second order": _boosted,
    "averaged": _boosted,
    "stack": _stacking,
    "vote": _voting,
}
