"""Further reading: words of many levels as numbers, by the targets of the rows before (CatBoost).

A column of 3,000 words can be replaced by the mean target of each word. Taken over all rows it leaks: a row's
own target is part of its number, so a word that occurs once *is* its target, and a tree that splits on it
learns nothing that holds for new rows.

Ordered statistics (Prokhorenkova et al. 2018) close the leak. The rows are put in a random order, and a row
sees only those before it, as if they came one after another. A prior p counts as `weight` rows:

    order   city   target   before    (sum + 1 · 0.5) / (rows + 1)
      0     Bern     1       –         0.5
      1     Bern     0       1         0.75
      2     Oslo     0       –         0.5
      3     Bern     1       1 0       0.5
     new    Bern             1 0 1     0.625

>>> city, target = ["Bern", "Bern", "Oslo", "Bern"], [1, 0, 0, 1]
>>> ordered_statistics(city, target, prior=0.5).tolist()
[0.5, 0.75, 0.5, 0.5]
>>> level_statistics(city, target, prior=0.5)
{'Bern': 0.625, 'Oslo': 0.25}

The leak, and that it is closed. 400 rows of 200 words, and a target that has nothing to do with them:

>>> rng = np.random.default_rng(0)
>>> words, y = rng.integers(0, 200, 400), rng.integers(0, 2, 400)
>>> by_level = level_statistics(words, y)
>>> leaky = [by_level[word] for word in words]
>>> ordered = ordered_statistics(words, y, order=rng.permutation(400))
>>> bool(np.corrcoef(leaky, y)[0, 1] > 0.6), bool(abs(np.corrcoef(ordered, y)[0, 1]) < 0.1)
(True, True)

Leaving out only the row itself leaks as well: among the rows of a word the number is then the lower, the
higher the target. Early rows have seen little, so their numbers are rough: several random orders, one for
each of some models that are averaged, make up for it. With several classes there is a column for each.

For a new row the number depends on its word alone. A split "number <= t" is therefore a set of words, and a
tree grown on statistics can be written down as one that splits on words:

>>> sorted(levels_up_to(level_statistics(city, target, prior=0.5), 0.5))
['Oslo']
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

__all__ = ["class_statistics", "level_statistics", "levels_up_to", "ordered_statistics"]


def ordered_statistics(
    levels: Sequence[Hashable],
    target: Sequence[float] | np.ndarray,
    order: Sequence[int] | np.ndarray | None = None,
    prior: float | None = None,
    weight: float = 1.0,
) -> np.ndarray:
    """Return the number of every row: the mean target of the rows of its level that come before it.

    Parameters
    ----------
    levels : sequence
    target : array of the same length
    order : array or None
        The rows in the order in which they come; None: as they are.
    prior : float or None
        What is predicted before any row has come; None: the mean target.
    weight : float
        How many rows the prior counts as.

    Examples
    --------
    >>> ordered_statistics(["a", "a", "a"], [1, 1, 0], order=[2, 0, 1], prior=0.5).tolist()
    [0.25, 0.5, 0.5]
    """
    target = np.asarray(target, np.float64)
    prior = float(target.mean()) if prior is None else prior
    found = np.empty(len(target))
    seen: dict[Hashable, tuple[float, int]] = {}
    for row in range(len(target)) if order is None else order:
        total, rows = seen.get(levels[row], (0.0, 0))
        found[row] = (total + weight * prior) / (rows + weight)
        seen[levels[row]] = total + target[row], rows + 1
    return found


def level_statistics(
    levels: Sequence[Hashable],
    target: Sequence[float] | np.ndarray,
    prior: float | None = None,
    weight: float = 1.0,
) -> dict[Hashable, float]:
    """Return the number of every level for new rows, which see all rows; an unseen level has the prior."""
    target = np.asarray(target, np.float64)
    prior = float(target.mean()) if prior is None else prior
    found = {}
    for level in dict.fromkeys(levels):
        its = target[[one == level for one in levels]]
        found[level] = float((its.sum() + weight * prior) / (len(its) + weight))
    return found


def class_statistics(
    levels: Sequence[Hashable],
    classes: Sequence[Hashable],
    order: Sequence[int] | np.ndarray | None = None,
    most: int = 10,
) -> dict[Hashable, np.ndarray]:
    """Return a column of ordered statistics for each of the largest classes: the share of the class.

    >>> both = class_statistics(["a", "a", "b", "a"], ["x", "y", "x", "x"])
    >>> {name: column.round(2).tolist() for name, column in both.items()}
    {'x': [0.75, 0.88, 0.75, 0.58], 'y': [0.25, 0.12, 0.25, 0.42]}
    """
    names, counts = np.unique(np.asarray(classes, object), return_counts=True)
    largest = names[np.argsort(-counts, kind="stable")[:most]]
    return {
        name: ordered_statistics(levels, [float(one == name) for one in classes], order)
        for name in largest
    }


def levels_up_to(statistics: Mapping[Hashable, float], cut: float) -> set[Hashable]:
    """Return the levels that go left at a split ``statistic <= cut``."""
    return {level for level, number in statistics.items() if number <= cut}
