"""A round of Friedman's boosting played again: F of the rounds before it, residuals there, the rows it drew.

Its trees are CART's, grown on residuals (grown.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from types import SimpleNamespace
from typing import Any

import numpy as np

from arboretum.base.holdout import set_aside
from arboretum.base.sampling import draw_in_turn
from arboretum.boosting.friedman.fitting import BoostingTask
from arboretum.explain.worksheet.families.cart import draw_of, textbook_rules
from arboretum.explain.worksheet.family import (
    Family,
    check_rows_of,
    class_names,
    same_classes,
)
from arboretum.explain.worksheet.grown import Names, ShownTree
from arboretum.explain.worksheet.rendering import number
from arboretum.grow import settings
from arboretum.lazy import cached_property

__all__ = ["GradientReplay", "Played"]

_BAG, _TREE = 0, 1  # what random numbers of a round are for


@dataclass(frozen=True, eq=False)
class Played:
    """A round up to its trees, on the rows that it may draw from."""

    loss: Any
    F: np.ndarray  # (rows, scores) before the round
    residuals: np.ndarray  # (rows, scores)
    weight: np.ndarray  # of every row in the round's trees; 0: not drawn
    drawn: np.ndarray  # bool


class GradientReplay(Family):
    """A booster whose rounds can be played again."""

    def __init__(self, model: Any, given: Any) -> None:
        super().__init__(model, given)
        self.played = lru_cache(maxsize=3)(self._played)
        self.tree_of = lru_cache(maxsize=4)(self._tree_of)

    # ------------------------------------------------------------------ the fit once more
    @cached_property
    def _learned(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Labels and weights of all rows, as the loss takes them."""
        twin = self.twin
        check_rows_of(self.n_rows, self.model._n_rows, self.name)
        y = twin._learn_labels(self.given.y, self.n_rows)
        if hasattr(self.model, "classes_"):
            same_classes(twin.classes_, self.model.classes_, self.name)
        return y, twin._learn_weights(self.given.sample_weight, self.n_rows)

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows that are learned from: all, but for those held out for early stopping."""
        y, w = self._learned
        model = self.model
        if model.n_iter_no_change is None:
            return np.arange(self.n_rows)
        codes = y if model.loss_.classifies else None
        return set_aside(self.n_rows, model.validation_fraction, model.seed_, codes, w)[0]

    @cached_property
    def y(self) -> np.ndarray:
        return self._learned[0][self.rows]

    @cached_property
    def w(self) -> np.ndarray | None:
        w = self._learned[1]
        return None if w is None else w[self.rows]

    @cached_property
    def table(self) -> Any:
        return self.matrix if len(self.rows) == self.n_rows else self.matrix.take(self.rows)

    @property
    def width(self) -> int:
        return self.model._width

    @property
    def has_trees(self) -> bool:
        return self.model.estimator is None

    @property
    def trees(self) -> list:
        return self.model.trees_

    def _key(self, *purpose: int) -> int:
        return BoostingTask.key(SimpleNamespace(seed=self.model.seed_), *purpose)  # type: ignore[arg-type]

    @cached_property
    def start(self) -> np.ndarray:
        """F before the first round, (rows, scores)."""
        model, X = self.model, self.given.X
        everything = len(self.rows) == self.n_rows
        there = X if everything else model._rows_for_init(X, self.rows)
        return np.ascontiguousarray(model._start(there, len(self.rows)))

    def F(self, m: int) -> np.ndarray:
        """Return F after m rounds, (rows, scores)."""
        model = self.model
        if m == 0:
            return self.start
        if self.has_trees:
            return model.ensemble_.rounds(0, m).answers(self.table, self.threads, self.start)
        X = self.given.X
        there = X if len(self.rows) == self.n_rows else model._rows_for_init(X, self.rows)
        for k, now in enumerate(model._member_sums(there, self.start)):
            if k + 1 == m:
                return now
        raise AssertionError(m)

    def _played(self, m: int) -> Played:
        model, n = self.model, len(self.rows)
        F = self.F(m)
        shaped = F[:, 0] if self.width == 1 else F
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
        how = settings.growth(self.twin, model.schema_, target, len(self.rows))
        how = replace(how, min_weight_leaf=0.0)
        share = float(model.min_weight_fraction_leaf)
        if share > 0 and self.w is not None:
            how = replace(how, min_weight_leaf=share * float(played.weight.sum()))
        elif share > 0:
            how = replace(
                how, min_samples_leaf=max(how.min_samples_leaf, ceil(share * played.drawn.sum()))
            )
        rules = textbook_rules(how, model.criterion, self.schema, target)
        rules = replace(rules, two_classes=getattr(model, "n_classes_", None) == 2)
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
            n_jobs=self.threads,
        )

    def title(self, t: int) -> str:
        m, k = divmod(t, self.width)
        text = f"tree {t}" if self.width == 1 else f"tree {t}, round {m}"
        classes = class_names(self.model)
        return text + (f", class {classes[k]}" if self.width > 1 and classes is not None else "")


def _target_of(y: np.ndarray, w: np.ndarray | None) -> Any:
    from arboretum.grow.grower import make_target

    return make_target(y[:, None].astype(np.float64), None, w)
