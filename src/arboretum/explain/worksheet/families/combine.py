"""Worksheets of models made of other models: bags of any estimator, stacks, votes.

    bag        as a forest where its members are CART trees; else every member has a worksheet of its own
    stack      what the final model makes of the members' answers, then the members
    vote       what each member counts, then the members

A tree of a member is named by a pair, ``.node(("forest", 3), 0)``; ``.member("forest")`` is its worksheet.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from arboretum.base.anatomy import has_anatomy
from arboretum.data.slices import as_view, take_columns
from arboretum.data.target import weights
from arboretum.errors import ParameterError
from arboretum.explain.worksheet.families.cart import CartFamily
from arboretum.explain.worksheet.families.final import FinalFamily
from arboretum.explain.worksheet.families.forest import (
    Answers,
    add_bag,
    bagged_tree,
    counts_of,
    oob_sheet,
    row_of_trees,
)
from arboretum.explain.worksheet.family import (
    Family,
    Given,
    as_python,
    check_rows_of,
    class_names,
    index_of,
    same_classes,
    table_of_row,
)
from arboretum.explain.worksheet.grown import Names, ShownTree
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Sheet, SheetTable
from arboretum.lazy import cached_property
from arboretum.structure.tree import Tree

__all__ = ["BagFamily", "TogetherFamily"]


class BagFamily(Family):
    """Bagging: of CART trees it is a forest."""

    kind = "bag"

    def __init__(self, model: Any, given: Any) -> None:
        super().__init__(model, given)
        self.tree_of = lru_cache(maxsize=4)(self._tree_of)

    @property
    def has_trees(self) -> bool:
        members = [part.model for part in self.anatomy.parts]
        return all(has_anatomy(one) and one._anatomy().family == "tree" for one in members)

    @property
    def trees(self) -> list[Tree]:
        return self.anatomy.trees if self.has_trees else []

    @property
    def bags(self) -> Any:
        """Which rows the estimators were given."""
        bags = self.anatomy.bags
        assert bags is not None
        check_rows_of(self.n_rows, bags.n_rows, self.name)
        return bags

    @property
    def is_ensemble(self) -> bool:
        """Whether the estimators are trees whose answers are averaged."""
        return self.anatomy.ensemble is not None

    @cached_property
    def plan(self) -> Any:
        """How the trees were grown, where they share a table."""
        check_rows_of(self.n_rows, self.bags.n_rows, self.name)
        w = weights(self.given.sample_weight, self.n_rows)
        return self.anatomy.recipe.steps["plan"](self.matrix, self.learned.labels, w)

    @property
    def criterion(self) -> str:
        return self.anatomy.recipe.criterion

    def member(self, which: Any) -> Family:
        """Return the worksheet of one of the estimators, on its own rows and columns."""
        from arboretum.explain.worksheet.worksheet import family_of

        model = self.model
        t = index_of(which, len(model.estimators_), ("estimator", "estimators"), self.name)
        one = model.estimators_[t]
        X = as_view(self.given.X)
        bags = self.bags
        X = X if bags.all_columns else take_columns(X, bags.features(t))
        named = with_classes(one, class_names(model))
        y = self.learned.labels if named is one else self.given.y
        return family_of(one)(named, Given(X, y, bags.weights(t)))

    def _tree_of(self, t: int) -> ShownTree:
        model = self.model
        if self.anatomy.recipe.bagged_together:
            return bagged_tree(self, self.plan, t)
        family = self.member(t)
        assert isinstance(family, CartFamily)
        names = Names(f"tree {t}", classes=class_names(model.estimators_[t]))
        return replace(family.grown, names=names)

    def node_sheet(self, t: int, node: int) -> Sheet:
        return self._with_bag(self.tree_of(t).node(node), t)

    def leaf_sheet(self, t: int, leaf: int) -> Sheet:
        return self._with_bag(self.tree_of(t).leaf(leaf), t)

    def _with_bag(self, sheet: Sheet, t: int) -> Sheet:
        bags = self.bags
        add_bag(sheet, bags, t)
        if not bags.all_columns:
            names = ", ".join(self.model.schema_.names[f] for f in bags.features(t))
            sheet.notes.append(f"The tree was given the columns {names}.")
        return sheet

    def row(self, row: Any) -> Sheet:
        model = self.model
        if self.is_ensemble:
            return row_of_trees(self, row)
        table, _, i = self.row_of(row)
        steps = self.anatomy.recipe.steps
        X = steps["in_order"](table if i is None else table_of_row(self.given.X, i))
        sheet, _, _ = self.row_sheet(row)
        n = len(model.estimators_)
        values = np.array([steps["answer"](t, X).ravel() for t in range(n)])
        counts = None if i is None else counts_of(self.bags, len(values), i)
        answers = Answers(self, values, counts)
        answers.add_mean(sheet, values.mean(axis=0))
        sheet.facts |= self.truth(i)
        ends = [(t,) for t in range(len(values))]
        answers.add_lines(sheet, "Estimator by estimator", "estimator", ends)
        answers.add_votes(sheet)
        return sheet

    def oob(self) -> Sheet:
        if not self.is_ensemble:
            raise self.refuse("oob")
        return oob_sheet(self, self.plan)

    def overview(self) -> Sheet:
        model = self.model
        facts = {
            "rows": self.n_rows,
            "columns": self.matrix.n_columns,
            "estimators": len(model.estimators_),
            "of the kind": type(model.estimators_[0]).__name__,
            "columns of each": self.bags.columns,
        }
        return Sheet(f"worksheet of {self.name}", facts, notes=[self.menu()])


def with_classes(one: Any, classes: Any) -> Any:
    """Return a member fitted on the numbers of classes with their names instead; others as they are."""
    known = class_names(one)
    if classes is None or known is None or not np.array_equal(known, np.arange(len(classes))):
        return one
    named = copy.copy(one)
    named.classes_ = classes
    return named


class TogetherFamily(Family):
    """Stacking and voting."""

    kind = "joined"

    # ------------------------------------------------------------------ members
    @property
    def names(self) -> list[str]:
        return list(self.model.named_estimators_)[: len(self.model.estimators_)]

    @cached_property
    def pairs(self) -> list[tuple[str, Any]]:
        parts = self.anatomy.parts[:-1] if self.is_stack else self.anatomy.parts
        return [(part.name, part.model) for part in parts]

    @property
    def is_stack(self) -> bool:
        return self.anatomy.family == "stack"

    @cached_property
    def y(self) -> np.ndarray:
        """The target as the members were given it: classes as their codes."""
        y = np.asarray(self.given.y)
        classes = class_names(self.model)
        if classes is None:
            return y
        strange = np.setdiff1d(np.unique(y), classes)
        if len(strange):
            same_classes(np.unique(y), classes, self.name)
        return np.searchsorted(classes, y)

    def member(self, which: Any) -> Family:
        """Return the worksheet of one of the models."""
        from arboretum.explain.worksheet.worksheet import family_of

        if which == "final" and self.is_stack and "final" not in dict(self.pairs):
            return FinalFamily(self)
        k = self._place(which)
        one = self.pairs[k][1]
        named = with_classes(one, class_names(self.model))
        y = self.y if named is one else self.given.y
        return family_of(one)(named, Given(self.given.X, y, self.given.sample_weight))

    def _place(self, which: Any) -> int:
        names = [name for name, _ in self.pairs]
        if isinstance(which, str):
            if which not in names:
                raise ParameterError(
                    f"worksheet: there is no model {which!r}, {self.name} joins {', '.join(names)}"
                )
            return names.index(which)
        return index_of(which, len(names), ("model", "models"), self.name)

    def node(self, tree: Any, node: Any) -> Sheet:
        family, t = self._member_and_tree(tree)
        return family.node(t, node)

    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        family, t = self._member_and_tree(tree)
        return family.leaf(t, leaf)

    def _member_and_tree(self, tree: Any) -> tuple[Family, Any]:
        """Return a member and the number of its tree; a member of one tree needs no number."""
        if isinstance(tree, tuple | list) and len(tree) == 2:
            return self.member(tree[0]), tree[1]
        family = self.member(tree) if isinstance(tree, str) else None
        if family is not None and len(family.trees) == 1:
            return family, 0
        raise ParameterError(
            f"worksheet: {self.name} joins models, so a tree is a pair (model, tree), for example "
            f"({self.pairs[0][0]!r}, 0); got {tree!r}"
        )

    # ------------------------------------------------------------------ itself
    @property
    def trees(self) -> list[Tree]:
        return []

    def overview(self) -> Sheet:
        model = self.model
        facts: dict[str, Any] = {"rows": self.n_rows, "models": len(self.pairs)}
        tables = []
        if self.is_stack:
            facts["final model"] = type(model.final_estimator_).__name__
            tables.append(self.final_table())
        else:
            weights = [part.weight for part in self.anatomy.parts]
            lines = [
                (name, type(one).__name__, float(w))
                for (name, one), w in zip(self.pairs, weights, strict=True)
            ]
            tables.append(SheetTable("What the models count", ("model", "kind", "weight"), lines))
            if class_names(model) is not None:
                facts["voting"] = model.voting
        name = self.pairs[0][0]
        note = f'It has .row(i), .member("{name}"), .node(("{name}", tree), node), .leaf(…).'
        return Sheet(f"worksheet of {self.name}", facts, tables=tables, notes=[note])

    @cached_property
    def inputs(self) -> list[str]:
        """What the columns that the final model sees are called."""
        model, found = self.model, []
        classes = class_names(model)
        width = 1
        if classes is not None:
            width = len(classes)
        for (name, _), method in zip(self.pairs, model.stack_method_, strict=True):
            if method == "predict_proba" and classes is not None:
                labels = classes[1:] if width == 2 else classes
                found += [f"{name}: {label}" for label in labels]
            elif method == "decision_function" and width > 2:
                found += [f"{name}: {label}" for label in classes]
            else:
                found.append(name)
        if model.passthrough:
            found += list(model.schema_.names)
        return found

    def final_table(self) -> SheetTable:
        """Return what the final model makes of its columns: coefficients, or importances."""
        final = self.model.final_estimator_
        coefficients = getattr(final, "coef_", None)
        if coefficients is not None:
            rows = np.atleast_2d(coefficients)
            width = rows.shape[1]
            names = self.input_names(width)
            classes = class_names(self.model)
            each = range(len(rows)) if classes is None else classes
            heads = ["weight"] if len(rows) == 1 else [str(c) for c in each]
            lines = [
                (name, *map(float, column)) for name, column in zip(names, rows.T, strict=True)
            ]
            lines.append(("(start)", *map(float, np.atleast_1d(final.intercept_))))
            return SheetTable("Weights of the final model", ("column", *heads), lines)
        importances = getattr(final, "feature_importances_", None)
        if importances is not None:
            names = self.input_names(len(importances))
            order = np.argsort(-np.asarray(importances), kind="stable").tolist()
            lines = [(names[k], float(importances[k])) for k in order]
            return SheetTable("Importances in the final model", ("column", "importance"), lines)
        return SheetTable(
            "The final model has no weights to show", ("column",), [(name,) for name in self.inputs]
        )

    def input_names(self, width: int | None = None) -> list[str]:
        """Return the names of the columns that the final model sees, by number if they are not known."""
        width = int(self.model.final_estimator_.n_features_in_) if width is None else width
        return self.inputs if len(self.inputs) == width else [f"column {k}" for k in range(width)]

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        sheet, _, i = self.row_sheet(row)
        model = self.model
        X = self.row_of(row)[0] if i is None else _plain_rows(self.given.X, i)
        sheet.facts["answer"] = as_python(model.predict(X)[0])
        if class_names(model) is not None and (self.is_stack or model.voting == "soft"):
            sheet.facts["class probabilities"] = np.asarray(model.predict_proba(X))[0].tolist()
        sheet.facts |= self.truth(i)
        if self.is_stack:
            self._add_inputs(sheet, X)
        else:
            self._add_votes(sheet, X)
        return sheet

    def _add_inputs(self, sheet: Sheet, X: Any) -> None:
        """Write what the final model of a stack reads, and its sum."""
        final = self.model.final_estimator_
        seen = np.asarray(self.model.transform(X), dtype=object)[0]
        names, coefficients = self.input_names(len(seen)), getattr(final, "coef_", None)
        title = f"What the final model ({type(final).__name__}) reads"
        if coefficients is None or np.atleast_2d(coefficients).shape != (1, len(seen)):
            lines = [(n, _plain(v)) for n, v in zip(names, seen, strict=True)]
            sheet.add_table(title, "column | answer", lines)
            return
        weights, values = np.atleast_2d(coefficients)[0].astype(np.float64), seen.astype(np.float64)
        start, total = float(np.atleast_1d(final.intercept_)[0]), float(values @ weights)
        adds = zip(names, values.tolist(), weights.tolist(), strict=True)
        sheet.add_table(
            title, "column | answer | weight | adds", [(n, v, w, v * w) for n, v, w in adds]
        )
        numbers = f"{number(start)} + {signed(total)}"
        sheet.add_formula(
            "sum of the final model", "start + Σ weight · answer", numbers, start + total
        )

    def _add_votes(self, sheet: Sheet, X: Any) -> None:
        """Write the predictions of the models, and what they come to."""
        model, classes, title = self.model, class_names(self.model), "What the models predict"
        weights = np.array([part.weight for part in self.anatomy.parts], dtype=np.float64)
        all_ = float(weights.sum())
        named = [
            (name, one, w) for (name, one), w in zip(self.pairs, weights.tolist(), strict=True)
        ]
        if classes is None:
            values = np.array([float(one.predict(X)[0]) for _, one in self.pairs])
            lines = [(n, type(o).__name__, w, v) for (n, o, w), v in zip(named, values.tolist())]
            total = float(weights @ values)
            numbers = f"{number(total)} / {number(all_)}"
            sheet.add_formula("answer", "Σ weight · answer / Σ weight", numbers, total / all_)
            sheet.add_table(title, "model | kind | weight | answer", lines)
        elif model.voting == "soft":
            found = np.array([np.asarray(one.predict_proba(X))[0] for _, one in self.pairs])
            k = int((weights @ found).argmax())
            total = float(weights @ found[:, k])
            rule, numbers = "Σ weight · probability / Σ weight", f"{number(total)} / {number(all_)}"
            sheet.add_formula(f"probability of {classes[k]}", rule, numbers, total / all_)
            lines = [(n, w, *p) for (n, _, w), p in zip(named, found.tolist())]
            sheet.tables.append(SheetTable(title, ("model", "weight", *map(str, classes)), lines))
        else:
            votes = np.array([int(one.predict(X)[0]) for _, one in self.pairs])
            tally = np.bincount(votes, weights, len(classes))
            k = int(tally.argmax())
            rule = "Σ weight of the models that predict it"
            sheet.add_formula(f"votes for {classes[k]}", rule, "", float(tally[k]))
            labels = [str(classes[v]) for v in votes]
            pairs = zip(named, labels, strict=True)
            sheet.add_table(title, "model | weight | vote", [(n, w, v) for (n, _, w), v in pairs])


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, int | float | np.number) else value


def _plain_rows(X: Any, i: int) -> Any:
    """Return one row of a table in the form it came in, for estimators of any library."""
    from sklearn.utils import _safe_indexing

    indexed = hasattr(X, "shape") or isinstance(X, list)
    return _safe_indexing(X, [i]) if indexed else table_of_row(X, i)
