"""Worksheets of single trees: CART with all its criteria, surrogates and pruning; extremely random trees."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.worksheet.family import Family, check_rows_of, class_names
from arboretum.explain.worksheet.grown import Draw, Names, ShownTree, answer_of
from arboretum.explain.worksheet.journey import journey_table, nodes_of
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet, SheetTable
from arboretum.grow import settings
from arboretum.lazy import cached_property
from arboretum.structure.pruning import cut_alphas, pruning_path
from arboretum.textbook.cart import TextbookNode
from arboretum.textbook.pruning import Link, links, tree_score
from arboretum.textbook.pruning import pruning_path as textbook_path
from arboretum.textbook.splits import UNBOUNDED, Rules

if TYPE_CHECKING:
    from arboretum.data.schema import Schema
    from arboretum.grow.grower import GrowTarget
    from arboretum.grow.settings import Growth
    from arboretum.structure.tree import Tree

__all__ = ["CartFamily", "draw_of", "textbook_rules"]

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


class CartFamily(Family):
    """A single tree."""

    kind = "tree"

    @cached_property
    def grown(self) -> ShownTree:
        """The tree with the rows it was grown on."""
        model = self.model
        target, w = self.learned.target, self.learned.weight
        weight = np.ones(self.n_rows) if w is None else w
        check_rows_of(int(np.count_nonzero(weight)), int(model.tree_.count[0]), self.name)
        here = target if w is None or w.all() else target.take(np.flatnonzero(w))
        how = settings.growth(model, model.schema_, here, self.n_rows)
        known = isinstance(model.random_state, Integral)
        rules = textbook_rules(how, model.criterion, self.schema, target)
        pruned = ""
        curve = self.anatomy.history.pruning
        if model.ccp_alpha > 0 or curve is not None:
            alpha = model.ccp_alpha if curve is None else curve.alpha[curve.best]
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

    def node_sheet(self, t: int, node: int) -> Sheet:
        sheet = self.grown.node(node)
        add_link(sheet, self.model.tree_, node)
        return sheet

    def leaf_sheet(self, t: int, leaf: int) -> Sheet:
        return self.grown.leaf(leaf)

    def row(self, row: Any) -> Sheet:
        sheet, matrix, i = self.row_sheet(row)
        tree, here = self.model.tree_, self.is_training_table
        leaf = nodes_of(tree, matrix)[-1]
        answer = answer_of(tree, leaf, self.model.criterion, Names(classes=class_names(self.model)))
        for name in ("value", "values"):  # of a row it is the answer
            if name in answer:
                answer["answer"] = answer.pop(name)
        sheet.facts = {"leaf": leaf, **answer, **self.truth(i)}
        if i is not None and here and not self.grown.weight[i] > 0:
            sheet.facts["weight"] = 0.0
        sheet.tables.append(journey_table(tree, matrix))
        sheet.parts = [self.grown.leaf(leaf)] if here else []
        return sheet

    def pruning(self) -> Sheet:
        model, given = self.model, self.given
        curve = self.anatomy.history.pruning
        alpha = float(model.ccp_alpha) if curve is None else float(curve.alpha[curve.best])
        if not alpha:
            return pruning_sheet(model.tree_, alpha, curve)
        from sklearn.base import clone

        full = clone(model).set_params(ccp_alpha=0.0).fit(given.X, given.y, given.sample_weight)
        sheet = pruning_sheet(full.tree_, alpha, curve)
        sheet.notes.append("The full tree was grown again from the table given.")
        return sheet


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


def add_link(sheet: Sheet, tree: Tree, node: int) -> None:
    """Write g(t) and the α at which a node's branch would be cut; nothing at a leaf."""
    if tree.is_leaf[node] or np.any(tree.n_children > 2):
        return
    branch = links(as_textbook(tree, node))[0]
    share = float(tree.weight[node] / tree.weight[0])  # a branch by itself has all the weight
    _add_g(sheet, "g(t)", branch, share)
    sheet.add_formula("this branch is pruned when α exceeds", "", "", float(cut_alphas(tree)[node]))


def _add_g(sheet: Sheet, name: str, link: Link, share: float = 1.0) -> None:
    """Write what the branch of a node saves per leaf."""
    own, below, n = number(link.as_leaf * share), number(link.as_branch * share), link.n_leaves
    numbers = f"({own} - {below}) / ({n} - 1)"
    sheet.add_formula(name, "(R(t) - R(T_t)) / (|T_t| - 1)", numbers, link.g * share)


def pruning_sheet(tree: Tree, alpha: float, curve: Any = None) -> Sheet:
    """Return the path of a full tree: R(T), |T| and α of every step, weakest link first."""
    header = ["α", "R(T)", "|T|", "R(T) + α|T|"]
    lines: list[tuple[Any, ...]] = []
    sheet = Sheet("cost-complexity pruning")
    if tree.n_leaves <= _TEXTBOOK_LEAVES:
        numbers = _by_path(tree)
        header += ["cut at node", "leaves gone"]
        for step in textbook_path(as_textbook(tree)):
            cut = None if step.cut is None else numbers[step.cut]
            score = tree_score(step.risk, step.alpha, step.n_leaves)
            lines.append((step.alpha, step.risk, step.n_leaves, score, cut, step.leaves_removed))
            if step.cut is not None and len(sheet.formulas) < _FORMULAS:
                _add_g(sheet, f"g({cut})", next(one for one in step.links if one.path == step.cut))
    else:
        path = pruning_path(tree)
        alphas, risks = path.ccp_alphas.tolist(), path.impurities.tolist()
        for a, risk, n in zip(alphas, risks, path.n_leaves.tolist(), strict=True):
            lines.append((a, risk, n, tree_score(risk, a, n)))
    taken = [i for i, line in enumerate(lines) if line[0] <= alpha]
    marked = frozenset(taken[-1:] if alpha > 0 else [0])
    sheet.tables.append(SheetTable("The path, weakest link first", header, lines, marked, shown=40))
    leaves = tree.n_leaves
    sheet.facts = {"leaves of the full tree": leaves, "R(T)": lines[0][1], "α of the model": alpha}
    if curve is not None:
        figures = zip(curve.alpha, curve.n_leaves, curve.mean_score, curve.std_error, strict=True)
        rows = [(float(a), int(n), float(m), float(s)) for a, n, m, s in figures]
        names = "α | leaves | mean error | standard error"
        sheet.add_table("Cross-validation", names, rows, [int(curve.best)], shown=40)
        sheet.facts["rule"] = curve.rule
    sheet.notes.append(
        "A tree is the best one from its α on, up to that of the next line; the model's own is marked."
    )
    return sheet


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
