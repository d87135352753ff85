"""`worksheet(model, X, y)`: the arithmetic behind a fitted model, piece by piece.

    worksheet(model, X, y) ──► Worksheet ─┬─ .node(tree, node)   the splits a node could have had, which won
                                          ├─ .leaf(tree, leaf)   where a leaf's number comes from
                                          ├─ .row(i)             the journey of one row through all trees
                                          ├─ .round(m)           a round of boosting
                                          ├─ .pruning()          how a tree was cut back, or would be
                                          └─ .oob()              rows, by trees that have not seen them

Every answer is a `Sheet`. Figures are computed again by `arboretum.textbook` from the rows concerned;
they agree with those that the model keeps.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from arboretum.base.anatomy import has_anatomy
from arboretum.errors import DataError, ParameterError
from arboretum.explain.pipeline import takes_pipelines
from arboretum.explain.worksheet.family import Family, Given
from arboretum.explain.worksheet.sheet import Sheet

__all__ = ["Worksheet", "family_of", "worksheet"]

_FAMILIES_AT = "arboretum.explain.worksheet.families."
# The family of a model, as its anatomy names it -> the class of its worksheet.
_FAMILIES = {
    "tree": "cart:CartFamily",
    "id3": "cases.id3:ID3Family",
    "c45": "cases.c45:C45Family",
    "rules": "cases.rules:RulesFamily",
    "forest": "forest:ForestFamily",
    "cuts": "cuts:CutsFamily",
    "imputer": "imputer:ImputerFamily",
    "bag": "combine:BagFamily",
    "stack": "combine:TogetherFamily",
    "vote": "combine:TogetherFamily",
    "friedman": "friedman:FriedmanFamily",
    "adaboost": "adaboost:AdaBoostFamily",
    "coordinate": "coordinate:CoordinateFamily",
    "averaged": "averaged:AveragedFamily",
    "second order": "second_order.family:SecondOrderFamily",
}


class Worksheet:
    """The arithmetic of one fitted model; see `worksheet`.

    Every method returns a `Sheet`: it prints itself, ``to_text()``, ``to_html()`` and ``to_dict()`` give
    it as text, HTML, and numbers.
    """

    def __init__(self, family: Family) -> None:
        self._family = family

    @property
    def model(self) -> Any:
        """The fitted model."""
        return self._family.model

    @property
    def table(self) -> Any:
        """The training table, with the columns of the model; of a member its own."""
        return self._family.given.X

    @property
    def answers(self) -> tuple[str, ...]:
        """Names of the methods that have an answer for this model."""
        return self._family.answers

    def node(self, tree: Any, node: int | None = None) -> Sheet:
        """Return how a node came about: every column's best split, the closest rivals and why they lost.

        Parameters
        ----------
        tree : int
            Number of the tree; negative ones from the end. A model of one tree needs none: ``node(3)`` is
            ``node(0, 3)``.
        node : int
            Number of the node in that tree; 0 is the root.
        """
        return self._family.node(*self._place(tree, node, "node"))

    def leaf(self, tree: Any, leaf: int | None = None) -> Sheet:
        """Return where the answer of a leaf comes from; ``leaf`` is its number among the nodes."""
        return self._family.leaf(*self._place(tree, leaf, "leaf"))

    def _place(self, tree: Any, node: int | None, what: str) -> tuple[Any, Any]:
        """Return a tree and a node; a single number is a node of the only tree."""
        if node is not None:
            return tree, node
        n_trees = len(self._family.trees)
        if n_trees > 1:
            raise ParameterError(
                f"{type(self.model).__name__} has {n_trees} trees: give the number of the tree first, "
                f"{what}(tree, {what})"
            )
        return 0, tree

    def row(self, row: Any) -> Sheet:
        """Return the journey of one row, tree by tree.

        Parameters
        ----------
        row : int, or a row
            The number of a training row, negative ones from the end; or a row of the same columns: a list,
            a dict by column names, or a table of one row.
        """
        return self._family.row(row)

    def cell(self, row: int, column: int | str) -> Sheet:
        """Return how `ProximityImputer` filled a missing cell of the training table."""
        return self._family.cell(row, column)

    def round(self, m: int = 0) -> Sheet:
        """Return a round of boosting or of filling, counted from 0; by default the first."""
        return self._family.round(m)

    def pruning(self) -> Sheet:
        """Return how the tree was pruned, or would be."""
        return self._family.pruning()

    def oob(self) -> Sheet:
        """Return the rows, by trees that have not seen them."""
        return self._family.oob()

    def member(self, which: Any) -> Worksheet:
        """Return the worksheet of a model in a bag, a stack or a vote, by its name or number."""
        return Worksheet(self._family.member(which))

    # ------------------------------------------------------------------ itself
    def sheet(self) -> Sheet:
        """Return the sheet of the model itself: its size, and the methods it answers."""
        return self._family.overview()

    def to_text(self, width: int = 80) -> str:
        """Return the sheet of the model itself as lines to print."""
        return self.sheet().to_text(width)

    def to_html(self) -> str:
        """Return the sheet of the model itself as HTML."""
        return self.sheet().to_html()

    def to_dict(self) -> dict[str, Any]:
        """Return the sheet of the model itself as numbers and words."""
        return self.sheet().to_dict()

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()

    def __rich__(self) -> Any:
        return self.sheet().__rich__()


@takes_pipelines
def worksheet(
    model: Any,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    group: Any = None,
    base_margin: Any = None,
) -> Worksheet:
    """Return the arithmetic behind a fitted model, node by node, row by row, round by round.

    Parameters
    ----------
    model : fitted estimator of arboretum, or a Pipeline that ends with one
    X, y, sample_weight
        What it was trained on. Rows are looked at only when a method is called. `ProximityImputer`
        keeps its training rows and needs neither; loaded from a file, it needs ``y`` if it was fitted
        with one.
    group : array of int, optional
        Sizes of the groups, for rankers.
    base_margin : array, optional
        Margins that boosting began with, if ``fit`` was given some (LightGBM's ``init_score``).

    Returns
    -------
    Worksheet

    Examples
    --------
    >>> from arboretum import CARTClassifier, worksheet
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> root = worksheet(model, X, y).node(0, 0)
    >>> root.value("gain"), root.table("Best split").rows[0][0]
    (0.333..., 'petal length (cm) <= 2.45')
    """
    family = family_of(model)
    if (X is None and family.needs_table) or (y is None and family.needs_target):
        raise DataError(
            "worksheet needs the table and the target that the model was trained on, got None"
        )
    found = Worksheet(family(model, Given(X, y, sample_weight, group, base_margin)))
    _check_lengths(found._family)
    return found


def family_of(model: Any) -> type[Family]:
    """Return the class of a model's worksheet."""
    if isinstance(model, type):
        raise ParameterError(
            f"worksheet needs a fitted model, got the class {model.__name__} itself"
        )
    if not has_anatomy(model):
        raise ParameterError(
            f"worksheet needs a fitted estimator of arboretum, got {type(model).__name__}: there are "
            "worksheets of trees, forests, boosters, rules, stacks, votes and imputers"
        )
    module, name = _FAMILIES[model._anatomy().family].split(":")
    return getattr(import_module(_FAMILIES_AT + module), name)


def _check_lengths(family: Family) -> None:
    """Raise if table, target and weights are not equally long; nothing else is looked at yet."""
    n = family.n_rows
    for name, values in (("y", family.given.y), ("sample_weight", family.given.sample_weight)):
        if values is not None and hasattr(values, "__len__") and len(values) != n:
            raise DataError(
                f"X has {n} rows, {name} {len(values)}: give what the model was trained on"
            )
