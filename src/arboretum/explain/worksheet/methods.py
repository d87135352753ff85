"""Which methods of a worksheet every family of models answers, and why it refuses the others: one table."""

from __future__ import annotations

from arboretum.errors import ParameterError

__all__ = ["ANSWERS", "NOT_KEPT", "NotInModel", "menu", "refusal"]

CALLS = {
    "node": ".node(tree, node)",
    "leaf": ".leaf(tree, leaf)",
    "row": ".row(i)",
    "cell": ".cell(row, column)",
    "round": ".round(m)",
    "pruning": ".pruning()",
    "oob": ".oob()",
}
# Family -> the methods it answers, in the order of the menu.
ANSWERS = {
    "tree": ("node", "leaf", "row", "pruning"),
    "id3": ("node", "leaf", "row"),
    "c45": ("node", "leaf", "row", "pruning"),
    "rules": ("leaf", "row"),
    "forest": ("node", "leaf", "row", "oob"),
    "cuts": ("leaf", "row"),
    "bag": ("node", "leaf", "row", "oob"),
    "adaboost": ("node", "leaf", "row", "round"),
    "coordinate": ("row", "round"),
    "friedman": ("node", "leaf", "row", "round", "oob"),
    "second order": ("node", "leaf", "row", "round"),
    "averaged": ("row",),
    "joined": ("node", "leaf", "row"),
    "final": ("row",),
    "imputer": ("cell", "round"),
}
_ONE_TREE: dict[str, str | tuple[str, str]] = {
    "round": "a single tree is not made in rounds",
    "oob": "a single tree sees every row, none is out of bag",
}
_JOINED = "models of different kinds are joined"
_NOT_TREES = ("the estimators are not CART trees", "use .member(number), if they are of arboretum")
_NOT_CART = (
    "the learners are not CART trees over the columns of the table",
    "look at model.estimators_ one by one",
)
_DICTIONARY = (
    "the classifiers are a fixed dictionary, none of them was grown",
    ".round(m) shows the one that moved",
)
NOT_KEPT = (
    "the final model of a stack learned from answers to rows that its models had not seen, which are not "
    "kept"
)
_AVERAGED = (
    "the trees are those of several boosters, whose rounds are not played again",
    ".row(i) adds up the members; fit an LGBMClassifier or LGBMRegressor for sheets of nodes",
)
_FILLED = "an imputer grows its forests on tables filled so far, which are not kept"
# Family -> method -> why there is no answer, and what there is instead; for answered methods, why a model of
# the family may have none.
WITHOUT: dict[str, dict[str, str | tuple[str, str]]] = {
    "tree": _ONE_TREE,
    "id3": {**_ONE_TREE, "pruning": ("ID3 does not prune", "C45Classifier does")},
    "c45": _ONE_TREE,
    "rules": {
        "node": ("rules are a list, not a tree", "use .leaf(0, number of the rule)"),
        "round": "rules are not made in rounds",
        "oob": "all rows make the rules, none is out of bag",
        "pruning": (
            "conditions of rules are dropped one by one",
            ".leaf(0, number of the rule) shows the cost of each",
        ),
    },
    "forest": {
        "round": "the trees of a forest do not depend on each other, there are no rounds",
        "pruning": (
            "trees of a forest have no pruning path of their own",
            "fit a DecisionTreeClassifier or DecisionTreeRegressor",
        ),
    },
    "cuts": {
        "node": ("cuts are drawn, no others are tried", ".leaf(tree, node) has the cuts above it"),
        "round": "the trees do not depend on each other, there are no rounds",
        "pruning": "cuts are drawn at random, nothing is pruned",
        "oob": "there is no target to err on",
    },
    "bag": {
        "round": "the estimators do not depend on each other, there are no rounds",
        "pruning": (
            "estimators of a bag have no pruning path of their own",
            "fit one of them alone",
        ),
        "node": _NOT_TREES,
        "leaf": _NOT_TREES,
        "oob": "every estimator saw every row, none is out of bag; or they are no trees",
    },
    "adaboost": {
        "pruning": "its trees are weak by design, nothing is pruned",
        "oob": "every round weighs all rows: none is out of bag",
        "node": _NOT_CART,
        "leaf": _NOT_CART,
    },
    "coordinate": {
        "node": _DICTIONARY,
        "leaf": _DICTIONARY,
        "pruning": "there is nothing to prune",
        "oob": "every step weighs all rows: none is out of bag",
    },
    "friedman": {
        "pruning": (
            "trees of boosting are kept small by max_depth and max_leaf_nodes, not pruned along a path"
        ),
        "oob": ("every round saw every row", "fit with subsample below 1"),
        "node": "the learners are not trees",
        "leaf": "the learners are not trees",
    },
    "second order": {
        "pruning": "trees of boosting are held back by γ, depth and leaves, not pruned along a path",
        "oob": (
            "boosting keeps no out-of-bag answers",
            ".round(m) shows the rows that a round drew",
        ),
    },
    "averaged": {
        **dict.fromkeys(("node", "leaf", "round"), _AVERAGED),
        "pruning": "trees of boosting are held back by their leaves and a penalty, not pruned along a path",
        "oob": ("no out-of-bag answers are kept", "choices_ has the held-out loss"),
    },
    "joined": {
        "round": (f"{_JOINED}, there are no rounds", "use .member(name)"),
        "pruning": (_JOINED, "use .member(name)"),
        "oob": (_JOINED, "use .member(name)"),
    },
    "final": dict.fromkeys(("node", "leaf", "round", "pruning", "oob"), NOT_KEPT),
    "imputer": {
        **dict.fromkeys(("node", "leaf", "pruning", "oob"), _FILLED),
        "row": ("an imputer fills cells", "use .cell(row, column)"),
    },
}
_ELSE = {
    "member": "it is not made of other models",
    "cell": ("it fills no cells", "ProximityImputer does"),
}


class NotInModel(ParameterError):
    """A method that a model has no answer to; ``why`` is the reason without the names of methods."""

    def __init__(self, message: str, why: str = "") -> None:
        super().__init__(message)
        self.why = why


def refusal(kind: str, method: str, name: str) -> NotInModel:
    """Return the error for a method that a family (or one of its models, ``name``) does not answer.

    >>> refusal("id3", "pruning", "ID3Classifier").why
    'ID3Classifier: ID3 does not prune'
    """
    found = WITHOUT[kind].get(method) or _ELSE.get(method, "there is nothing like it in this model")
    why, remedy = found if isinstance(found, tuple) else (found, "")
    text = f"{why}: {remedy}" if remedy else why
    return NotInModel(f"worksheet.{method}: {text} ({name}). {menu(kind)}", f"{name}: {why}")


def menu(kind: str) -> str:
    """Return the methods that a family answers, in a sentence."""
    return "It has " + ", ".join(CALLS[method] for method in ANSWERS[kind]) + "."
