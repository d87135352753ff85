"""The same trees with values that follow other rows: LightGBM's `Booster.refit`.

    tree 0 ──► leaf of every row ──► Σ g, Σ h of every node ──► step -G / (H + λ)
                   old value × decay + η × step × (1 - decay) ──► margins ──► tree 1 ──► …

The score before all trees changes in the same way (LightGBM has it in the first tree, whose leaves take whole
steps). Leaves without a row shrink. A loss whose leaves are renewed from residuals renews them here, too.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.lightgbm.recipe import make_plan
from arboretum.boosting.lightgbm.tables import by_output
from arboretum.boosting.second_order.fit import GivenTable, margins_of
from arboretum.boosting.second_order.recipe import LabelledTable
from arboretum.errors import ParameterError

if TYPE_CHECKING:
    from arboretum.engine.second_order.score import SplitRules
    from arboretum.structure.tree import Tree

__all__ = ["refitted"]


def refitted(
    model: Any, X: Any, y: Any, decay: float, weight: Any, group: Any, init_score: Any
) -> Any:
    """Return a copy of a fitted model whose trees have other values; see `LGBMBooster.refit`."""
    if isinstance(decay, bool) or not isinstance(decay, int | float) or not 0 <= decay <= 1:
        raise ParameterError(f"decay_rate must be a number between 0 and 1, got {decay!r}")
    matrix, old, objective = model._encode(X), model.ensemble_, model._objective
    groups = None if group is None else np.asarray(group)
    given = GivenTable(X, y, weight, by_output(init_score, y), groups)
    rows = LabelledTable(*model._rows(given, matrix, model._labels(y, matrix.n_rows)))
    objective.check(rows.y, rows.weight, rows.groups)
    base = old.base
    if model.boost_from_average and rows.base_margin is None:
        base = decay * base + (1.0 - decay) * objective.start(rows.y, rows.weight)
    margin = margins_of(rows.base_margin, len(rows.y), base)
    plan = make_plan(model, model.schema_, model.seed_, model._threads())
    step = 1.0 if old.averaged else plan.learning_rate
    g, h = np.empty((2, old.n_outputs, len(rows.y)), np.float32)
    leaves, trees = old.leaves(matrix, plan.n_jobs), []
    for t, tree in enumerate(old.trees):
        if t % old.per_round == 0 and (t == 0 or not old.averaged):
            objective.derivatives(
                rows.y, margin, rows.weight, g, h, plan.n_jobs, iteration=t // old.per_round,
                groups=rows.groups,
            )  # fmt: skip
        output, leaf = old.output_of(t), leaves[:, t]
        new = _steps(tree, leaf, g[output], h[output], plan.rules)
        if objective.renew_leaf is not None:
            for node in np.unique(leaf):
                here = np.flatnonzero(leaf == node)
                new[node] = objective.renew_leaf(rows.y, margin, rows.weight, here, output)
        value = decay * tree.value + (1.0 - decay) * step * new[:, None, None]
        trees.append(replace(tree, value=value))
        if not old.averaged:
            margin[:, output] += old.weights[t] * value[leaf, 0, 0]
    found = copy.copy(model)
    found.ensemble_ = replace(old, trees=trees, base=base)
    return found


def _steps(
    tree: Tree, leaf: np.ndarray, g: np.ndarray, h: np.ndarray, rules: SplitRules
) -> np.ndarray:
    """Return the step of every node for the rows that reach it."""
    n = len(tree.first_child)
    sums = np.array([np.bincount(leaf, each, minlength=n) for each in (g, h, np.ones(len(leaf)))])
    inner = np.flatnonzero(tree.first_child >= 0)
    for node in inner[np.argsort(-tree.first_child[inner])]:  # children come after their parent
        left = tree.first_child[node]
        sums[:, node] = sums[:, left] + sums[:, left + 1]
    G, H, rows = sums
    curve = H + rules.l2
    pull = np.sign(G) * np.maximum(np.abs(G) - rules.l1, 0.0)
    step = np.divide(-pull, curve, out=np.zeros(n), where=curve > 0)
    if rules.max_delta_step > 0:
        step = np.clip(step, -rules.max_delta_step, rules.max_delta_step)
    if rules.path_smooth > 0:
        share = rows / (rows + rules.path_smooth)
        for node in inner[np.argsort(tree.first_child[inner])]:
            for child in (tree.first_child[node], tree.first_child[node] + 1):
                step[child] = share[child] * step[child] + (1.0 - share[child]) * step[node]
    return step
