"""Worksheets of models made of other models: bags of any estimator, stacks, votes.

    bag        as a forest where its members are CART trees; else every member has a worksheet of its own
    stack      what the final model makes of the members' answers, then the members
    vote       what each member counts, then the members

A member is asked by a pair, ``.node(("forest", 3), 0)``, or as a whole: ``.member("forest")``.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from arboretum.base import members as bag_members
from arboretum.data.slices import as_view, take_columns, take_rows
from arboretum.errors import ParameterError
from arboretum.explain.worksheet.families.cart import CartFamily
from arboretum.explain.worksheet.families.final import FinalFamily
from arboretum.explain.worksheet.families.forest import ForestFamily
from arboretum.explain.worksheet.family import (
    Family,
    Given,
    check_rows_of,
    class_names,
    index_of,
    same_classes,
)
from arboretum.explain.worksheet.grown import Names, ShownTree
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.grow import settings
from arboretum.lazy import cached_property

__all__ = ["BagFamily", "TogetherFamily"]


class BagFamily(ForestFamily):
    """Bagging: of CART trees it is a forest."""

    without: ClassVar = {
        **ForestFamily.without,
        "node": "the estimators are not CART trees: ask .member(number), if they are of arboretum",
        "leaf": "the estimators are not CART trees: ask .member(number), if they are of arboretum",
        "oob": "every estimator saw every row, none is out of bag; or they are no trees",
    }

    @property
    def has_trees(self) -> bool:
        from arboretum.cart.estimator import TreeEstimator

        return all(isinstance(one, TreeEstimator) for one in self.model.estimators_)

    @property
    def trees(self) -> list:
        return [one.tree_ for one in self.model.estimators_] if self.has_trees else []

    def number_of_tree(self, tree: Any) -> int:
        if not self.has_trees:
            raise self.refuse("node")
        return super().number_of_tree(tree)

    @cached_property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        """Codes or numbers, and the target as the estimators are given it."""
        check_rows_of(self.n_rows, self.model._bags.n_rows, self.name)
        codes, labels = self.twin._learn_labels(self.given.y, self.n_rows)
        if hasattr(self.model, "classes_"):
            same_classes(self.twin.classes_, self.model.classes_, self.name)
        return codes, labels

    def _make_plan(self) -> Any:
        from arboretum.data.target import weights
        from arboretum.forest.growing import Plan

        model, (_, labels) = self.model, self.labels
        base, bags = model.estimator_, model._bags
        one = bag_members.make_member(base, bags, 0, model.schema_.names)
        one._take_schema(model.schema_)
        w = weights(self.given.sample_weight, self.n_rows)
        target, _ = one._learn_target(labels, w, self.n_rows)
        how = settings.growth(one, model.schema_, target, self.n_rows)
        return Plan(self.matrix, model.schema_, target, how, bags)

    @property
    def criterion(self) -> str:
        return self.model.estimators_[0].criterion

    def member(self, which: Any) -> Family:
        """Return the worksheet of one of the estimators, on its own rows and columns."""
        from arboretum.explain.worksheet.worksheet import family_of

        model = self.model
        t = index_of(which, len(model.estimators_), ("estimator", "estimators"), self.name)
        one = model.estimators_[t]
        X = as_view(self.given.X)
        X = X if model._bags.all_columns else take_columns(X, model._bags.features(t))
        named = with_classes(one, class_names(model))
        y = self.labels[1] if named is one else self.given.y
        return family_of(one)(named, Given(X, y, model._bags.weights(t)))

    def _tree_of(self, t: int) -> ShownTree:
        model = self.model
        if model._has_trees and model._can_share(model.estimator_):
            return super()._tree_of(t)
        from dataclasses import replace

        family = self.member(t)
        assert isinstance(family, CartFamily)
        return replace(
            family.grown, names=Names(f"tree {t}", classes=class_names(model.estimators_[t]))
        )

    def _with_bag(self, sheet: Sheet, t: int) -> Sheet:
        from dataclasses import replace

        bags = self.model._bags
        sheet = super()._with_bag(sheet, t)
        if bags.all_columns:
            return sheet
        names = ", ".join(self.model.schema_.names[f] for f in bags.features(t))
        return replace(sheet, notes=[*sheet.notes, f"The tree was given the columns {names}."])

    @property
    def plan(self) -> Any:
        if self.has_trees and self.model._has_trees:
            return super().plan
        check_rows_of(self.n_rows, self.model._bags.n_rows, self.name)
        return _BagsOnly(self.model._bags, self.matrix)

    def row(self, row: Any) -> Sheet:
        if self.model._has_trees:
            return super().row(row)
        table, title, i = self.row_of(row)
        model = self.model
        X = table if i is None else take_rows(as_view(self.given.X), np.array([i]))
        X = model._in_order(X)
        matrix = self.matrix.take(np.array([i])) if i is not None else self.encode(table)
        said = np.array([model._answer(t, X).ravel() for t in range(len(model.estimators_))])
        counts = self._counts(i)
        header, shown = self._value_header(said.shape[1])
        lines = []
        for t, one in enumerate(said):
            bag = () if counts is None else (int(counts[t]),)
            lines.append((t, *bag, *shown(one), *shown(said[: t + 1].mean(axis=0))))
        names = (
            "estimator",
            *(() if counts is None else ("times in bag",)),
            *header,
            *(f"mean {h}" for h in header),
        )
        facts = self._final_facts(said.mean(axis=0))
        facts |= self.truth(i)
        tables = [
            self.values_table(matrix),
            SheetTable("Estimator by estimator", names, lines, shown=40),
        ]
        tables += self._votes_table(said, counts)
        return Sheet(
            f"{title} in {self.name}",
            facts,
            [self._mean_formula(said, said.mean(axis=0))],
            tables,
        )

    def oob(self) -> Sheet:
        if not self.model._has_trees:
            raise self.refuse("oob")
        return super().oob()

    def overview(self) -> Sheet:
        model = self.model
        facts = {
            "rows": self.n_rows,
            "columns": self.matrix.n_columns,
            "estimators": len(model.estimators_),
            "of the kind": type(model.estimators_[0]).__name__,
            "columns of each": model._bags.columns,
        }
        return Sheet(f"worksheet of {self.name}", facts, notes=[self.menu()])


def with_classes(one: Any, classes: Any) -> Any:
    """Return a member that was told the numbers of classes with their names instead; itself if it was not."""
    known = class_names(one)
    if classes is None or known is None or not np.array_equal(known, np.arange(len(classes))):
        return one
    named = copy.copy(one)
    named.classes_ = classes
    return named


class _BagsOnly:
    """Stands in for a plan where trees have columns of their own."""

    def __init__(self, bags: Any, matrix: Any) -> None:
        self.bags, self.matrix = bags, matrix


class TogetherFamily(Family):
    """Stacking and voting."""

    answers: ClassVar = ("node", "leaf", "row")
    without: ClassVar = {
        "round": "models of different kinds are joined, there are no rounds: ask .member(name)",
        "pruning": "models of different kinds are joined: ask .member(name)",
        "oob": "models of different kinds are joined: ask .member(name)",
    }

    # ------------------------------------------------------------------ members
    @property
    def names(self) -> list[str]:
        return list(self.model.named_estimators_)[: len(self.model.estimators_)]

    @cached_property
    def pairs(self) -> list[tuple[str, Any]]:
        kept = [name for name, _ in self.model._pairs()]
        return list(zip(kept, self.model.estimators_, strict=True))

    @property
    def is_stack(self) -> bool:
        return hasattr(self.model, "final_estimator_")

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

    def _asked(self, tree: Any) -> tuple[Family, Any]:
        if not isinstance(tree, tuple | list) or len(tree) != 2:
            name = self.pairs[0][0]
            raise ParameterError(
                f"worksheet: {self.name} joins models, so a tree is a pair (model, tree), for example "
                f"({name!r}, 0); got "
                f"{tree!r}"
            )
        return self.member(tree[0]), tree[1]

    def node(self, tree: Any, node: Any) -> Sheet:
        family, number_ = self._asked(tree)
        return family.node(number_, node)

    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        family, number_ = self._asked(tree)
        return family.leaf(number_, leaf)

    # ------------------------------------------------------------------ itself
    @property
    def trees(self) -> list:
        return []

    def overview(self) -> Sheet:
        model = self.model
        facts: dict[str, Any] = {"rows": self.n_rows, "models": len(self.pairs)}
        tables = []
        if self.is_stack:
            facts["final model"] = type(model.final_estimator_).__name__
            tables.append(self.final_table())
        else:
            weights = model._weights_not_none or [1.0] * len(self.pairs)
            lines = [
                (name, type(one).__name__, float(w))
                for (name, one), w in zip(self.pairs, weights, strict=True)
            ]
            tables.append(SheetTable("What the models count", ("model", "kind", "weight"), lines))
            if hasattr(model, "voting"):
                facts["voting"] = model.voting
        note = (
            'Ask .row(i), .member("'
            + self.pairs[0][0]
            + f'"), .node(("{self.pairs[0][0]}", tree), node), .leaf(…).'
        )
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
            heads = (
                ["weight"]
                if len(rows) == 1
                else [str(c) for c in (classes if classes is not None else range(len(rows)))]
            )
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
            "The final model tells no weights", ("column",), [(name,) for name in self.inputs]
        )

    def input_names(self, width: int | None = None) -> list[str]:
        """Return the names of the columns that the final model sees, by number if they are not known."""
        width = int(self.model.final_estimator_.n_features_in_) if width is None else width
        return self.inputs if len(self.inputs) == width else [f"column {k}" for k in range(width)]

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        table, title, i = self.row_of(row)
        model = self.model
        X = table if i is None else _plain_rows(self.given.X, i)
        matrix = self.matrix.take(np.array([i])) if i is not None else self.encode(table)
        answer = model.predict(X)[0]
        facts: dict[str, Any] = {"answer": answer.item() if hasattr(answer, "item") else answer}
        if hasattr(model, "predict_proba") and getattr(model, "voting", "soft") == "soft":
            facts["class shares"] = np.asarray(model.predict_proba(X))[0].tolist()
        facts |= self.truth(i)
        formulas: list[Formula] = []
        tables = [self.values_table(matrix)]
        if self.is_stack:
            tables.append(self._stacked_table(X, formulas))
        else:
            tables.append(self._votes(X, formulas))
        return Sheet(f"{title} in {self.name}", facts, formulas, tables)

    def _stacked_table(self, X: Any, formulas: list[Formula]) -> SheetTable:
        model = self.model
        seen = np.asarray(model.transform(X), dtype=object)[0]
        final = model.final_estimator_
        names = self.input_names(len(seen))
        coefficients = getattr(final, "coef_", None)
        header: tuple[str, ...] = ("column", "answer")
        rows: list[tuple[Any, ...]] = [(n, _plain(v)) for n, v in zip(names, seen, strict=True)]
        if coefficients is not None and np.atleast_2d(coefficients).shape == (1, len(seen)):
            weights = np.atleast_2d(coefficients)[0].astype(np.float64)
            values = seen.astype(np.float64)
            start = float(np.atleast_1d(final.intercept_)[0])
            header = ("column", "answer", "weight", "adds")
            rows = [
                (n, float(v), float(w), float(v * w))
                for n, v, w in zip(names, values, weights, strict=True)
            ]
            total = float(values @ weights)
            formulas.append(
                Formula(
                    "sum of the final model",
                    "start + Σ weight · answer",
                    f"{number(start)} + {signed(total)}",
                    start + total,
                )
            )
        return SheetTable(f"What the final model ({type(final).__name__}) sees", header, rows)

    def _votes(self, X: Any, formulas: list[Formula]) -> SheetTable:
        model = self.model
        weights = np.array(model._weights_not_none or [1.0] * len(self.pairs), dtype=np.float64)
        classes = class_names(model)
        lines: list[tuple[Any, ...]]
        if classes is None:
            said = np.array([float(one.predict(X)[0]) for _, one in self.pairs])
            lines = [
                (n, type(o).__name__, float(w), float(v))
                for (n, o), w, v in zip(self.pairs, weights, said, strict=True)
            ]
            total = float(weights @ said)
            formulas.append(
                Formula(
                    "answer",
                    "Σ weight · answer / Σ weight",
                    f"{number(total)} / {number(float(weights.sum()))}",
                    total / float(weights.sum()),
                )
            )
            return SheetTable("What the models say", ("model", "kind", "weight", "answer"), lines)
        if model.voting == "soft":
            shares = np.array([np.asarray(one.predict_proba(X))[0] for _, one in self.pairs])
            k = int((weights @ shares).argmax())
            lines = [
                (n, float(w), *map(float, s))
                for (n, _), w, s in zip(self.pairs, weights, shares, strict=True)
            ]
            total = float(weights @ shares[:, k])
            formulas.append(
                Formula(
                    f"share of {classes[k]}",
                    "Σ weight · share / Σ weight",
                    f"{number(total)} / {number(float(weights.sum()))}",
                    total / float(weights.sum()),
                )
            )
            return SheetTable("What the models say", ("model", "weight", *map(str, classes)), lines)
        votes = np.array([int(one.predict(X)[0]) for _, one in self.pairs])
        tally = np.bincount(votes, weights, len(classes))
        k = int(tally.argmax())
        formulas.append(
            Formula(f"votes for {classes[k]}", "Σ weight of those that say so", "", float(tally[k]))
        )
        lines = [
            (n, float(w), str(classes[v]))
            for (n, _), w, v in zip(self.pairs, weights, votes, strict=True)
        ]
        return SheetTable("What the models say", ("model", "weight", "vote"), lines)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, int | float | np.number) else value


def _plain_rows(X: Any, i: int) -> Any:
    """Return one row of a table in the form it came in, for estimators of any library."""
    from sklearn.utils import _safe_indexing

    return (
        _safe_indexing(X, [i])
        if hasattr(X, "shape") or isinstance(X, list)
        else take_rows(as_view(X), np.array([i]))
    )
