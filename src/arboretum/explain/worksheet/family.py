"""What the worksheet of every family of models has: the data as numbers, checked places, sheets of rows.

A family (families/cart.py, forest.py, …) answers what makes sense for it; the rest is refused, with what
there is instead (methods.py). The target is learned once more, so that classes, weights and
limits are those of the fit. Models are read through their anatomy (base/anatomy.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.anatomy import has_anatomy
from arboretum.data.schema import encode
from arboretum.data.slices import as_view, take_rows
from arboretum.data.target import weights
from arboretum.errors import DataError, ParameterError
from arboretum.explain.pick_tree import pick_tree
from arboretum.explain.worksheet.journey import journey_table
from arboretum.explain.worksheet.methods import ANSWERS, menu, refusal
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.lazy import cached_property
from arboretum.structure.condition import format_category, format_value

if TYPE_CHECKING:
    from arboretum.base.anatomy import Anatomy, LearnedTarget
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.structure.tree import Tree

__all__ = [
    "Family",
    "Given",
    "as_python",
    "check_rows_of",
    "class_names",
    "index_of",
    "same_classes",
    "table_of_row",
    "trained_rows",
    "truth_of",
]


_OF_MEMBERS = ("bag", "joined", "adaboost")  # families whose members may be of another library


@dataclass(frozen=True, eq=False)
class Given:
    """What a worksheet was given."""

    X: Any
    y: Any
    sample_weight: Any = None
    group: Any = None
    base_margin: Any = None


class Family:
    """The worksheet of one fitted model; a subclass answers for one family of models.

    Attributes
    ----------
    kind : str
        The family's name in the table of what is answered (methods.py).
    model : fitted estimator
    given : Given
    """

    kind = ""
    needs_table = needs_target = True
    tree_of: Any = None  # for trees of CART's kind, returns a `ShownTree` by its number

    def __init__(self, model: Any, given: Given) -> None:
        self.model, self.given = model, given
        self.anatomy: Anatomy = model._anatomy()

    @property
    def answers(self) -> tuple[str, ...]:
        """The methods that there is an answer to."""
        return ANSWERS[self.kind]

    # ------------------------------------------------------------------ the data
    @cached_property
    def matrix(self) -> Matrix:
        """The table as numbers, by the columns of the model."""
        return self.encode(self.given.X)

    def encode(self, X: Any) -> Matrix:
        """Return rows as numbers; learners of other libraries have no rule for unseen categories."""
        parts = self.anatomy.parts
        if self.kind in _OF_MEMBERS and parts and not has_anatomy(parts[0].model):
            return encode(
                self.anatomy.columns.schema, X, unseen="missing", estimator_name=self.name
            )
        return self.anatomy.columns.encode(X)

    @cached_property
    def schema(self) -> Schema:
        """The columns, with the categories counted in the rows that weigh something."""
        w = weights(self.given.sample_weight, self.n_rows)
        return self.anatomy.columns.schema.weighed(self.matrix, w)

    @cached_property
    def learned(self) -> LearnedTarget:
        """The target and the weights of the rows, as the fit took them."""
        given = self.given
        found = self.anatomy.recipe.learn(given.y, given.sample_weight, self.n_rows)
        if self.anatomy.classes is not None:
            same_classes(found.classes, self.anatomy.classes, self.name)
        return found

    @property
    def columns(self) -> Any:
        """The columns whose values `matrix` holds."""
        return self.anatomy.columns.schema.columns

    @property
    def n_rows(self) -> int:
        return self.matrix.n_rows

    @property
    def threads(self) -> int:
        return self.anatomy.recipe.threads()

    @property
    def trees(self) -> list[Tree]:
        """The trees that nodes and leaves are looked up in."""
        return self.anatomy.trees

    @property
    def name(self) -> str:
        return type(self.model).__name__

    @cached_property
    def is_training_table(self) -> bool:
        """Whether the table may be the one of the training: it has as many rows as the model learned from."""
        trained, w = trained_rows(self.anatomy), self.given.sample_weight
        counted = self.n_rows if w is None else int(np.count_nonzero(w))
        return trained in (self.n_rows, counted)

    def add_prediction(self, sheet: Sheet, X: Any) -> None:
        """Write the prediction for a row, and the probabilities of its classes."""
        sheet.facts["answer"] = as_python(self.model.predict(X)[0])
        if self.anatomy.labels is not None and "predict_proba" in self.anatomy.answers:
            sheet.facts["class probabilities"] = as_python(
                np.asarray(self.model.predict_proba(X))[0]
            )

    def truth(self, i: int | None) -> dict[str, Any]:
        """Return the target of a row of the table, named after the table it comes from."""
        if i is None:
            return {}
        name = "in training" if self.is_training_table else "in the table"
        return {name: truth_of(self.given.y, i)}

    # ------------------------------------------------------------------ places
    def place(self, tree: Any, node: Any, what: str) -> tuple[int, int]:
        """Return the number of a tree, and that of a node in it, checked."""
        if what not in self.answers or not self.trees:
            raise self.refuse(what)
        t = self.number_of_tree(tree)
        return t, self.number_of_node(self.trees[t], node, what)

    def number_of_tree(self, tree: Any) -> int:
        """Return the number of a tree; of boosters a pair (round, class) will do."""
        if isinstance(tree, tuple | list):
            picked = pick_tree(self.model, tree, "worksheet").tree
            return next(t for t, one in enumerate(self.trees) if one is picked)
        return index_of(tree, len(self.trees), ("tree", "trees"), self.name)

    def number_of_node(self, tree: Tree, node: Any, what: str) -> int:
        found = index_of(node, len(tree), ("node", "nodes"), "the tree", last=False)
        if what == "leaf" and not tree.is_leaf[found]:
            leaves = tree.leaves
            shown = ", ".join(map(str, leaves[:8])) + (", …" if len(leaves) > 8 else "")
            raise ParameterError(
                f"worksheet: node {found} is not a leaf, it splits on {tree.condition(found, 0).pretty()}: "
                f"use .node for it, or one of the leaves {shown}"
            )
        return found

    def row_of(self, row: Any) -> tuple[Any, str, int | None]:
        """Return a row as a table, what it is called, and its number if it is one of the training rows."""
        if isinstance(row, int | np.integer) and not isinstance(row, bool):
            i = index_of(row, self.n_rows, ("row", "rows"), "the table")
            return None, f"row {i}", i
        return one_row(row, self.anatomy.columns.schema), "the given row", None

    def encoded(self, row: Any) -> tuple[Matrix, str, int | None]:
        """Return a row as numbers, what it is called, and its number."""
        table, title, i = self.row_of(row)
        return (
            (self.matrix.take(np.array([i])) if i is not None else self.encode(table)),
            title,
            i,
        )

    def row_facts(self, matrix: Matrix) -> dict[str, Any]:
        """Return what a row holds, in the words of the table."""
        facts: dict[str, Any] = {}
        for f, column in enumerate(self.columns):
            value = float(matrix.column(f)[0])
            if np.isnan(value):
                facts[column.name] = "missing"
            elif column.categories is not None:
                facts[column.name] = format_category(column.categories[int(value)])
            else:
                facts[column.name] = (
                    format_value(value, column.value_kind) if column.is_date else value
                )
        return facts

    def row_sheet(self, row: Any) -> tuple[Sheet, Matrix, int | None]:
        """Return a sheet with the values of a row, the row as numbers, and its number in the table."""
        matrix, title, i = self.encoded(row)
        sheet = Sheet(f"{title} in {self.name}")
        sheet.add_table("The row", "column | value", list(self.row_facts(matrix).items()), shown=12)
        return sheet, matrix, i

    def row_table(self, row: Any) -> Any:
        """Return a row as a table of one row, in the form its table came in."""
        table, _, i = self.row_of(row)
        return table if i is None else table_of_row(self.given.X, i)

    def add_way(self, sheet: Sheet, matrix: Matrix, t: int, why: str = "") -> None:
        """Write the way of a row down one of the trees."""
        title = f"The way down tree {t}" + (f", {why}" if why else "")
        sheet.tables.append(journey_table(self.trees[t], matrix, title))

    # ------------------------------------------------------------------ answers
    def overview(self) -> Sheet:
        """Return the sheet of the model itself: its size, and the methods it answers."""
        trees = self.trees
        facts: dict[str, Any] = {
            "rows": self.n_rows,
            "columns": self.matrix.n_columns,
            "trees": len(trees),
        }
        facts["leaves"] = int(sum(tree.n_leaves for tree in trees))
        return Sheet(f"worksheet of {self.name}", facts | self.more_facts(), notes=[self.menu()])

    def more_facts(self) -> dict[str, Any]:
        """Return what else is worth knowing at once."""
        return {}

    def menu(self) -> str:
        return menu(self.kind)

    def refuse(self, method: str) -> Exception:
        return refusal(self.kind, method, self.name)

    def node(self, tree: Any, node: Any) -> Sheet:
        return self.node_sheet(*self.place(tree, node, "node"))

    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        return self.leaf_sheet(*self.place(tree, leaf, "leaf"))

    def node_sheet(self, t: int, node: int) -> Sheet:
        """Return how a node came about."""
        raise NotImplementedError

    def leaf_sheet(self, t: int, leaf: int) -> Sheet:
        """Return where the answer of a leaf comes from."""
        raise NotImplementedError

    def row(self, row: Any) -> Sheet:
        raise self.refuse("row")

    def round(self, m: Any) -> Sheet:
        raise self.refuse("round")

    def pruning(self) -> Sheet:
        raise self.refuse("pruning")

    def oob(self) -> Sheet:
        raise self.refuse("oob")

    def cell(self, row: Any, column: Any) -> Sheet:
        raise self.refuse("cell")

    def member(self, which: Any) -> Family:
        raise self.refuse("member")


# ---------------------------------------------------------------------- reading what the user gave
def index_of(
    wanted: Any, count: int, words: tuple[str, str], whose: str, *, last: bool = True
) -> int:
    """Return the number of one of ``count`` things; negative numbers count from the end."""
    good = isinstance(wanted, int | np.integer) and not isinstance(wanted, bool | np.bool_)
    if not good or not (-count if last else 0) <= wanted < count:
        one, many = words
        has = f"only {one} 0" if count == 1 else f"{many} 0 to {count - 1}"
        raise ParameterError(f"worksheet: there is no {one} {wanted!r}, {whose} has {has}")
    return int(wanted) % count


def one_row(row: Any, schema: Any) -> Any:
    """Return a row, whatever it came as, as a table of one row."""
    schema = schema.given
    n = len(schema.columns)
    if isinstance(row, Mapping):
        unknown = [name for name in row if name not in schema.names]
        if unknown:
            raise DataError(f"the row has {unknown[0]!r}, which is not a column of the model")
        return _named([row.get(name) for name in schema.names], schema)
    if hasattr(row, "n_rows") or hasattr(row, "columns") or len(getattr(row, "shape", ())) == 2:
        many = row.n_rows if hasattr(row, "n_rows") else row.shape[0]
        if many != 1:
            raise DataError(f".row takes one row, got a table of {many}")
        return row
    listed = isinstance(row, Sequence | np.ndarray) or hasattr(row, "to_list")
    if isinstance(row, str) or not listed:
        raise ParameterError(
            ".row takes the number of a training row, or a row: a list, a dict or a table of one row; "
            f"got {row!r}"
        )
    values = list(row)
    if len(values) != n:
        raise DataError(
            f"the row has {len(values)} values, the model {n} columns: {', '.join(schema.names)}"
        )
    return _named(values, schema)


def _named(values: list[Any], schema: Any) -> Any:
    """Return one row of values under the names of the columns."""
    if not schema.named:
        return [values]
    import pandas as pd

    columns = {}
    for column, value in zip(schema.columns, values, strict=True):
        missing = value is None or (isinstance(value, float) and np.isnan(value))
        if column.categories is None and not missing:
            columns[column.name] = pd.Series([value])
        else:
            columns[column.name] = pd.Series([None if missing else value], dtype=object)
    return pd.DataFrame(columns)


def truth_of(y: Any, i: int) -> Any:
    """Return the target of a training row."""
    return as_python(y[i] if isinstance(y, list) else np.asarray(y)[i])


def as_python(value: Any) -> Any:
    """Return a number, word or array of NumPy's as Python's own.

    >>> as_python(np.float64(0.5)), as_python(np.arange(2)), as_python("yes")
    (0.5, [0, 1], 'yes')
    """
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def trained_rows(anatomy: Anatomy) -> int:
    """Return how many rows a model was trained on; 0 if it does not keep the number."""
    if anatomy.bags is not None:
        return int(anatomy.bags.n_rows)
    alone = len(anatomy.trees) == 1 and anatomy.leaves == "answers"
    return anatomy.history.n_rows or (int(anatomy.trees[0].count[0]) if alone else 0)


def check_rows_of(n_rows: int, trained: int, name: str) -> None:
    """Raise if the table cannot be the one that the model was trained on."""
    if n_rows != trained:
        raise DataError(
            f"worksheet needs the rows that {name} was trained on: it had {trained}, the table has {n_rows}"
        )


def same_classes(learned: Any, fitted: Any, name: str) -> None:
    """Raise if the labels are not those of the model."""
    mine = [learned] if isinstance(learned, np.ndarray) else list(learned)
    theirs = [fitted] if isinstance(fitted, np.ndarray) else list(fitted)
    for one, other in zip(mine, theirs, strict=False):
        if len(one) != len(other) or not np.array_equal(one, other):
            raise DataError(
                f"y holds the classes {number(list(one))}, {name} was trained on "
                f"{number(list(other))}: give the "
                "training target"
            )
    if len(mine) != len(theirs):
        raise DataError(f"y has {len(mine)} columns, {name} was trained on {len(theirs)}")


def table_of_row(X: Any, i: int) -> Any:
    """Return one row of a table, as a table."""
    return take_rows(as_view(X), np.array([i]))


def class_names(model: Any) -> Any:
    """Return the labels of one target's classes, or None; also of a model of another library."""
    if has_anatomy(model):
        return model._anatomy().labels
    classes = getattr(model, "classes_", None)
    return classes if isinstance(classes, np.ndarray) else None
