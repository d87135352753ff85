"""Worksheets of single trees: CART with all its criteria, surrogates and pruning; extremely random trees."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.explain.worksheet.family import Family, check_rows_of, class_names, same_classes
from arboretum.explain.worksheet.grown import Draw, Names, ShownTree, answer_of
from arboretum.explain.worksheet.journey import nodes_of
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.grow import settings
from arboretum.lazy import cached_property
from arboretum.structure.pruning import cut_alphas, pruning_path
from arboretum.textbook.cart import TextbookNode
from arboretum.textbook.pruning import links, tree_score
from arboretum.textbook.pruning import pruning_path as textbook_path
from arboretum.textbook.splits import UNBOUNDED, Rules

if TYPE_CHECKING:
    from arboretum.data.schema import Schema
    from arboretum.grow.grower import GrowTarget
    from arboretum.grow.settings import Growth
    from arboretum.structure.tree import Tree

__all__ = ["CartFamily", "draw_of", "learn_target", "link_formula", "textbook_rules"]

_TEXTBOOK_LEAVES = 200  # the textbook works all links out anew at every step
_FORMULAS = 8


def textbook_rules(how: Growth, criterion: str, schema: Schema, target: GrowTarget) -> Rules:
    """Return how a tree grew, in the words of the textbook."""
    classes = None if target.classes is None else tuple(int(k) for k in target.classes)
    signs = None if how.monotone is None else tuple(int(s) for s in how.monotone)
    return Rules(
        criterion,
        n_classes=classes,
        kinds=tuple(column.kind for column in schema.columns),
        max_depth=how.max_depth,
        max_leaf_nodes=how.max_leaf_nodes,
        min_samples_split=how.min_samples_split,
        min_samples_leaf=how.min_samples_leaf,
        min_weight_leaf=how.min_weight_leaf,
        min_impurity_decrease=how.min_impurity_decrease,
        monotonic_cst=signs,
        exhaustive=False,
        category_penalty=0.0 if how.random_splits else how.category_penalty,
        charged=tuple(schema.charged.tolist()),
        surrogates=how.surrogates,
    )


def draw_of(how: Growth, n_features: int, key: int | None) -> Draw | None:
    """Return what nodes draw; None if they draw nothing."""
    if not how.random_splits and how.max_features is None:
        return None
    return Draw(key, how.max_features or n_features, how.random_splits)


def learn_target(family: Family) -> tuple[GrowTarget, np.ndarray | None]:
    """Return the target and the weights of the rows as the fit took them."""
    model, given, twin = family.model, family.given, family.twin
    target, w = twin._learn_target(given.y, given.sample_weight, family.n_rows)
    if hasattr(model, "classes_"):
        same_classes(twin.classes_, model.classes_, family.name)
    return target, w


class CartFamily(Family):
    """A single tree."""

    answers: ClassVar = ("node", "leaf", "row", "pruning")
    without: ClassVar = {
        "round": "a single tree is not made in rounds",
        "oob": "a single tree sees every row, none is out of bag",
    }

    @cached_property
    def grown(self) -> ShownTree:
        """The tree with the rows it was grown on."""
        model = self.model
        target, w = learn_target(self)
        weight = np.ones(self.n_rows) if w is None else w
        check_rows_of(int(np.count_nonzero(weight)), int(model.tree_.count[0]), self.name)
        here = target if w is None or w.all() else target.take(np.flatnonzero(w))
        how = settings.growth(self.twin, model.schema_, here, self.n_rows)
        known = isinstance(model.random_state, Integral)
        rules = textbook_rules(how, model.criterion, self.schema, target)
        pruned = ""
        if model.ccp_alpha > 0 or hasattr(model, "pruning_curve_"):
            alpha = model.ccp_alpha
            if hasattr(model, "pruning_curve_"):
                alpha = model.pruning_curve_.alpha[model.pruning_curve_.best]
            pruned = f"what was below it was pruned (α = {number(float(alpha))})"
        return ShownTree(
            model.tree_,
            self.matrix,
            target.y,
            weight,
            rules,
            Names("the tree", classes=class_names(model)),
            draw_of(how, model.n_features_in_, how.seed if known else None),
            pruned=pruned,
            binned=model.max_bins,
            n_jobs=self.threads,
        )

    def tree_of(self, t: int) -> ShownTree:
        return self.grown

    def more_facts(self) -> dict[str, Any]:
        return {"criterion": self.model.criterion, "depth": self.model.tree_.max_depth}

    def node(self, tree: Any, node: Any) -> Sheet:
        self.number_of_tree(tree)
        return self._with_link(
            self.grown.node(self.number_of_node(self.model.tree_, node)), int(node)
        )

    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        self.number_of_tree(tree)
        return self.grown.leaf(self.number_of_node(self.model.tree_, leaf, what="leaf"))

    def _with_link(self, sheet: Sheet, node: int) -> Sheet:
        return replace(sheet, formulas=[*sheet.formulas, *link_formula(self.model.tree_, node)])

    def row(self, row: Any) -> Sheet:
        matrix, title, i = self.encoded(row)
        tree = self.model.tree_
        leaf = nodes_of(tree, matrix)[-1]
        criterion, names = self.model.criterion, Names(classes=class_names(self.model))
        facts = {"leaf": leaf, **answer_of(tree, leaf, criterion, names)}
        for name in ("value", "values"):  # of a row it is the answer
            if name in facts:
                facts["answer"] = facts.pop(name)
        facts |= self.truth(i)
        here = self.is_training_table
        if i is not None and here and not self.grown.weight[i] > 0:
            facts["weight"] = 0.0
        return Sheet(
            f"{title} in {self.name}",
            facts,
            tables=[self.values_table(matrix), self.journey(tree, matrix)],
            parts=[self.grown.leaf(leaf)] if here else [],
        )

    def pruning(self) -> Sheet:
        model, given = self.model, self.given
        curve = getattr(model, "pruning_curve_", None)
        alpha = float(model.ccp_alpha) if curve is None else float(curve.alpha[curve.best])
        if not alpha:
            return pruning_sheet(model.tree_, alpha, curve)
        from sklearn.base import clone

        full = clone(model).set_params(ccp_alpha=0.0).fit(given.X, given.y, given.sample_weight)
        sheet = pruning_sheet(full.tree_, alpha, curve)
        return replace(
            sheet, notes=[*sheet.notes, "The full tree was grown again from the table given."]
        )


# ---------------------------------------------------------------------- cost-complexity pruning
def as_textbook(tree: Tree, node: int = 0, path: str = "") -> TextbookNode:
    """Return a tree, or a branch of it, as the textbook has trees: shares of weight and impurities."""
    made = TextbookNode(
        path,
        np.empty(0, int),
        float(tree.weight[node]),
        tree.value[node],
        float(tree.impurity[node]),
        UNBOUNDED,
        "",
    )
    if not tree.is_leaf[node]:
        first = int(tree.first_child[node])
        made.left, made.right = (
            as_textbook(tree, first, path + "L"),
            as_textbook(tree, first + 1, path + "R"),
        )
    return made


def link_formula(tree: Tree, node: int) -> list[Formula]:
    """Return g(t) and the α at which a node's branch would be cut; nothing at a leaf."""
    if tree.is_leaf[node] or np.any(tree.n_children > 2):
        return []
    branch = links(as_textbook(tree, node))[0]
    share = float(tree.weight[node] / tree.weight[0])  # a branch by itself has all the weight
    own, below, n = branch.as_leaf * share, branch.as_branch * share, branch.n_leaves
    numbers = f"({number(own)} - {number(below)}) / ({n} - 1)"
    return [
        Formula("g(t)", "(R(t) - R(T_t)) / (|T_t| - 1)", numbers, branch.g * share),
        Formula("this branch is pruned when α exceeds", "", "", float(cut_alphas(tree)[node])),
    ]


def pruning_sheet(tree: Tree, alpha: float, curve: Any = None) -> Sheet:
    """Return the path of a full tree: R(T), |T| and α of every step, weakest link first."""
    header: tuple[str, ...] = ("α", "R(T)", "|T|", "R(T) + α|T|")
    lines: list[tuple[Any, ...]] = []
    formulas = []
    if tree.n_leaves <= _TEXTBOOK_LEAVES:
        numbers = _by_path(tree)
        header = (*header, "cut at node", "leaves gone")
        for step in textbook_path(as_textbook(tree)):
            cut = None if step.cut is None else numbers[step.cut]
            score = tree_score(step.risk, step.alpha, step.n_leaves)
            lines.append((step.alpha, step.risk, step.n_leaves, score, cut, step.leaves_removed))
            if step.cut is not None:
                link = next(one for one in step.links if one.path == step.cut)
                shown = (
                    f"({number(link.as_leaf)} - {number(link.as_branch)}) / ({link.n_leaves} - 1)"
                )
                formulas.append(
                    Formula(f"g({cut})", "(R(t) - R(T_t)) / (|T_t| - 1)", shown, link.g)
                )
    else:
        path = pruning_path(tree)
        for a, risk, n in zip(path.ccp_alphas, path.impurities, path.n_leaves, strict=True):
            lines.append((float(a), float(risk), int(n), tree_score(float(risk), float(a), int(n))))
    taken = [i for i, line in enumerate(lines) if line[0] <= alpha]
    marked = frozenset(taken[-1:]) if alpha > 0 else frozenset([0])
    tables = [SheetTable("The path, weakest link first", header, lines, marked, shown=40)]
    facts: dict[str, Any] = {
        "leaves of the full tree": tree.n_leaves,
        "R(T)": lines[0][1],
        "α of the model": alpha,
    }
    if curve is not None:
        figures = zip(curve.alpha, curve.n_leaves, curve.mean_score, curve.std_error, strict=True)
        rows = [(float(a), int(n), float(m), float(s)) for a, n, m, s in figures]
        names = ("α", "leaves", "mean error", "standard error")
        tables.append(
            SheetTable("Cross-validation", names, rows, frozenset([int(curve.best)]), shown=40)
        )
        facts["rule"] = curve.rule
    notes = [
        "A tree is the best one from its α on, up to that of the next line; the model's own is marked."
    ]
    return Sheet("cost-complexity pruning", facts, formulas[:_FORMULAS], tables, notes)


def _by_path(tree: Tree) -> dict[str, int]:
    """Return the numbers of the nodes by their way from the root."""
    found, waiting = {}, [(0, "")]
    while waiting:
        node, path = waiting.pop()
        found[path] = node
        if not tree.is_leaf[node]:
            first = int(tree.first_child[node])
            waiting += [(first, path + "L"), (first + 1, path + "R")]
    return found
