"""Settings by the size of the table: what a person would tune.

    rows                  below 2,000    below 8,000    more
    leaves of a tree           16             24          31        smaller tables: smaller trees,
    penalty of leaves           5              3           1        more shrinkage,
    folds used             6 of 6         2 of 6      1 of 6        more held-out rows
    kinds          plain, random cuts,    plain, symmetric
                   symmetric with noise,
                   in turn
    of several     common trees,          plain, symmetric,
    classes        random cuts,           common trees
                   symmetric; 3 folds

The figures come from real tables; docs/notes/best.md has the tries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

__all__ = ["COMMON", "PLAIN", "QUALITIES", "RANDOM_CUTS", "SYMMETRIC", "Settings", "settings_for"]

QUALITIES = ("fast", "default", "best")
PLAIN, RANDOM_CUTS, SYMMETRIC, COMMON = "plain", "random cuts", "symmetric", "common trees"
_SMALL, _MEDIUM, _LARGE = 2_000, 4_000, 8_000
_MANY_CLASSES = 6
_WIDEST = 1_000  # columns; a symmetric tree keeps the histograms of a whole level, 260 kB a column


@dataclass(frozen=True)
class Settings:
    """The settings of a fit.

    Attributes
    ----------
    num_leaves, min_rows : int
        Of a tree: the most leaves, the fewest rows of a leaf.
    l2 : float
        Penalty of leaf values.
    node_share : float
        Share of the columns drawn at a node.
    subsample : float
        Share of the rows drawn for a tree.
    kinds : tuple of str
        Kinds of boosters that are tried.
    n_folds, used_folds : int
        Folds of the table, and how many of them are held out, one after another.
    in_turn : bool
        Kinds take turns over the folds and weigh the same; else each is tried on every fold and they are
        weighed by the held-out rows.
    patience, most_rounds : int
        Rounds without a lower held-out loss after which a trial ends, and the most rounds.
    stretch : float
        Rounds of a member ÷ rounds of the trials, which learn from fewer rows.
    members : int
        0: by the number of rounds.
    noise : float
        On the scores of symmetric trees; 1: as much as they vary by chance.
    common_rate, common_rounds : float, int
        The learning rate and the most rounds of common trees: one tree does the work of several.
    """

    learning_rate: float = 0.1
    num_leaves: int = 31
    min_rows: int = 10
    l2: float = 1.0
    node_share: float = 0.7
    subsample: float = 0.8
    max_bin: int = 255
    kinds: tuple[str, ...] = (PLAIN, SYMMETRIC)
    n_folds: int = 6
    used_folds: int = 1
    in_turn: bool = False
    patience: int = 30
    most_rounds: int = 600
    stretch: float = 1.1
    members: int = 0
    noise: float = 0.0
    common_rate: float = 0.2
    common_rounds: int = 800

    def rate(self, kind: str) -> float:
        """Return the learning rate of a kind of booster."""
        return self.common_rate if kind == COMMON else self.learning_rate

    def rounds(self, kind: str) -> int:
        """Return the most rounds of a trial of a kind of booster."""
        return self.common_rounds if kind == COMMON else self.most_rounds

    def n_members(self, rounds: float, n_outputs: int) -> int:
        """Return the number of members: fewer of many rounds.

        >>> [Settings().n_members(rounds, 1) for rounds in (50, 200, 600)]
        [6, 3, 2]
        """
        if self.members:
            return self.members
        return min(max(round(600 / (rounds * math.sqrt(n_outputs))), 2), 6)


def settings_for(
    n_rows: int, n_outputs: int, quality: str = "default", n_features: int = 1
) -> Settings:
    """Return the settings for a table.

    >>> settings_for(500, 1).num_leaves, settings_for(5_000, 1).num_leaves, settings_for(50_000, 1).num_leaves
    (16, 24, 31)
    """
    if n_rows < _SMALL:
        found = Settings(
            num_leaves=16, min_rows=5, l2=5.0, node_share=0.5, max_bin=127,
            n_folds=6, used_folds=6, in_turn=True, patience=20,
            most_rounds=600, stretch=1.15, members=6, noise=1.0,
        )  # fmt: skip
        if n_outputs > 1:
            found = replace(
                found, n_folds=5, used_folds=3, in_turn=False, most_rounds=300, members=4, noise=0.0
            )
    elif n_rows < _LARGE:
        found = Settings(
            num_leaves=24, min_rows=5, l2=3.0, node_share=0.6,
            used_folds=2 if n_rows < _MEDIUM else 1,
        )  # fmt: skip
    else:
        found = Settings()
    found = replace(found, kinds=_kinds(n_rows, n_outputs, n_features))
    if n_outputs > _MANY_CLASSES:
        found = replace(found, learning_rate=0.3 if n_rows < _LARGE else 0.1)
    if quality == "fast":
        return replace(found, kinds=(PLAIN,), used_folds=1, in_turn=False, members=1)
    if quality == "best":
        return replace(
            found, learning_rate=found.learning_rate / 2, most_rounds=2 * found.most_rounds,
            common_rate=found.common_rate / 2, common_rounds=2 * found.common_rounds,
            patience=2 * found.patience, used_folds=max(found.used_folds, 3), in_turn=False,
            kinds=tuple(dict.fromkeys((PLAIN, RANDOM_CUTS, *found.kinds))), members=8,
        )  # fmt: skip
    return found


def _kinds(n_rows: int, n_outputs: int, n_features: int) -> tuple[str, ...]:
    """Return the kinds of boosters to try."""
    several = n_outputs > 1  # classes
    if n_rows < _SMALL:
        found: tuple[str, ...] = (PLAIN, RANDOM_CUTS, SYMMETRIC)
        if several:
            found = (COMMON, RANDOM_CUTS, SYMMETRIC)
    else:
        found = (PLAIN, SYMMETRIC, COMMON) if several else (PLAIN, SYMMETRIC)
    return tuple(kind for kind in found if kind != SYMMETRIC or n_features <= _WIDEST)
