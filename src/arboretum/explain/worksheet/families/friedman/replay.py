"""A round of Friedman's boosting played again: F of the rounds before it, residuals there, the rows it drew.

Its trees are CART's, grown on residuals (grown.py).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.sampling import draw_in_turn
from arboretum.boosting.friedman.fitting import BoostingTask
from arboretum.explain.worksheet.families.cart import draw_of, textbook_rules
from arboretum.explain.worksheet.family import check_rows_of, class_names
from arboretum.explain.worksheet.grown import Names, ShownTree
from arboretum.explain.worksheet.rendering import number
from arboretum.grow import settings
from arboretum.lazy import cached_property

if TYPE_CHECKING:
    from arboretum.explain.worksheet.family import Family

__all__ = ["FriedmanReplay", "Played"]

_BAG, _TREE = 0, 1  # what random numbers of a round are for


@dataclass(frozen=True, eq=False)
class Played:
    """A round up to its trees, on the rows that it may draw from."""

    loss: Any
    F: np.ndarray  # (rows, scores) before the round
    residuals: np.ndarray  # (rows, scores)
    weight: np.ndarray  # of every row in the round's trees; 0: not drawn
    drawn: np.ndarray  # bool


class FriedmanReplay:
    """The rounds of a booster, played again.

    Parameters
    ----------
    family : Family
        The model with its table.
    """

    def __init__(self, family: Family) -> None:
        self.family, self.model, self.given, self.trees = (
            family,
            family.model,
            family.given,
            family.trees,
        )
        self.steps, self.recipe = family.anatomy.recipe.steps, family.anatomy.recipe
        self.width = int(self.model.n_trees_per_iteration_)
        self.has_trees = self.model.estimator is None
        self.played = lru_cache(maxsize=3)(self._played)
        self.tree_of = lru_cache(maxsize=4)(self._tree_of)

    # ------------------------------------------------------------------ the fit once more
    @cached_property
    def learned(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Labels and weights of all rows, as the loss takes them."""
        family = self.family
        check_rows_of(family.n_rows, family.anatomy.history.n_rows, family.name)
        return family.learned.target, family.learned.weight

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows that are learned from: all, but for those held out for early stopping."""
        if self.recipe.held_out is None:
            return np.arange(self.family.n_rows)
        return self.recipe.held_out(*self.learned)[0]

    @cached_property
    def y(self) -> np.ndarray:
        return self.learned[0][self.rows]

    @cached_property
    def w(self) -> np.ndarray | None:
        w = self.learned[1]
        return None if w is None else w[self.rows]

    @cached_property
    def table(self) -> Any:
        return (
            self.family.matrix
            if len(self.rows) == self.family.n_rows
            else self.family.matrix.take(self.rows)
        )

    def _key(self, *purpose: int) -> int:
        return BoostingTask.key(SimpleNamespace(seed=self.model.seed_), *purpose)  # type: ignore[arg-type]

    @property
    def _rows_of_table(self) -> Any:
        """The rows that are learned from, as estimators take them."""
        X = self.given.X
        return X if len(self.rows) == self.family.n_rows else self.steps["rows"](X, self.rows)

    @cached_property
    def start(self) -> np.ndarray:
        """F before the first round, (rows, scores)."""
        return np.ascontiguousarray(self.steps["start"](self._rows_of_table, len(self.rows)))

    def F(self, m: int) -> np.ndarray:
        """Return F after m rounds, (rows, scores)."""
        if m == 0:
            return self.start
        if self.has_trees:
            first = self.model.ensemble_.rounds(0, m)
            return first.answers(self.table, self.family.threads, self.start)
        sums = self.steps["sums"](self._rows_of_table, self.start)
        return next(itertools.islice(sums, m - 1, None))

    def shaped(self, F: np.ndarray) -> np.ndarray:
        """Return F as losses take it: one column is a plain array."""
        return F[:, 0] if self.width == 1 else F

    def losses(self, loss: Any, y: np.ndarray, F: np.ndarray) -> np.ndarray | None:
        """Return the loss of every row; None for one of the user's own without a value."""
        return loss.value(y, self.shaped(F)) if getattr(loss, "has_value", True) else None

    def bag_notes(self, m: int) -> list[str]:
        """Return which rows a round drew, and which were held out."""
        drawn, notes = self.played(m).drawn, []
        if not drawn.all():
            count = int(drawn.sum())
            notes.append(
                f"The round drew {count} of {len(drawn)} rows; its steps move the others, too."
            )
        held_out = self.family.n_rows - len(self.rows)
        if held_out:
            notes.append(f"{held_out} rows were held out for early stopping.")
        return notes

    def _played(self, m: int) -> Played:
        model, n = self.model, len(self.rows)
        F = self.F(m)
        shaped = self.shaped(F)
        loss = model.loss_.for_round(self.y, shaped, self.w)
        residuals = loss.residuals(self.y, shaped).reshape(n, -1)
        drawn = np.ones(n, bool)
        if model.subsample < 1:
            inside = max(1, int(model.subsample * n))
            drawn = draw_in_turn(self._key(_BAG, m), n, inside, self.w).astype(bool)
        weight = drawn * (1.0 if self.w is None else self.w)
        return Played(loss, F, residuals, weight, drawn)

    def _tree_of(self, t: int) -> ShownTree:
        model, (m, k) = self.model, divmod(t, self.width)
        played = self.played(m)
        target = _target_of(self.y, self.w)
        how = settings.growth(model, model.schema_, target, len(self.rows))
        how = replace(how, min_weight_leaf=0.0)
        share = float(model.min_weight_fraction_leaf)
        if share > 0 and self.w is not None:
            how = replace(how, min_weight_leaf=share * float(played.weight.sum()))
        elif share > 0:
            how = replace(
                how, min_samples_leaf=max(how.min_samples_leaf, ceil(share * played.drawn.sum()))
            )
        rules = textbook_rules(how, model.criterion, self.family.schema, target)
        labels = self.family.anatomy.labels
        rules = replace(rules, two_classes=labels is not None and len(labels) == 2)
        alpha = float(model.ccp_alpha)
        return ShownTree(
            self.trees[t],
            self.table,
            played.residuals[:, [k]],
            played.weight,
            rules,
            Names(self.title(t), "the residuals"),
            draw_of(how, model.n_features_in_, self._key(_TREE, m, k)),
            pruned=f"what was below it was pruned (α = {number(alpha)})" if alpha else "",
            n_jobs=self.family.threads,
        )

    def title(self, t: int) -> str:
        m, k = divmod(t, self.width)
        text = f"tree {t}" if self.width == 1 else f"tree {t}, round {m}"
        return text + (f", class {self.output_name(k)}" if self.width > 1 else "")

    def output_name(self, k: int) -> str:
        """Return the class that a score is for."""
        classes = class_names(self.model)
        return "residual" if self.width == 1 or classes is None else str(classes[k])


def _target_of(y: np.ndarray, w: np.ndarray | None) -> Any:
    from arboretum.grow.grower import make_target

    return make_target(y[:, None].astype(np.float64), None, w)
