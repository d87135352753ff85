"""Curves: how fit time grows with the data.

A point is measured like a case (warm fit, then turns), but the peer only runs in the first round:
what is asked is how our own time grows, and the peer's curve shows how much of that growth is the
machine's (caches that no longer hold the data). Time divided by the reference n·log₂ n (rows) or n
(columns) is flat where the time grows just like it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

from benchmarks.data import Split
from benchmarks.harness import Make, Options, Say, fitting, interleave

__all__ = ["REFERENCES", "Curve", "CurveResult"]

REFERENCES: dict[str, Callable[[int], float]] = {
    "n·log₂ n": lambda n: n * math.log2(n),
    "n": float,
}


@dataclass(frozen=True)
class CurveResult:
    """Fit times over sizes: ``seconds[contender][k]`` is the median at ``sizes[k]``."""

    name: str
    title: str
    axis: str
    reference: str
    sizes: tuple[int, ...]
    seconds: dict[str, tuple[float, ...]]

    def cost(self, contender: str) -> list[float]:
        """Return time over the reference at every size, in nanoseconds.

        Examples
        --------
        >>> CurveResult("c", "t", "columns", "n", (7, 14), {"ours": (0.7, 1.4)}).cost("ours")
        [100000000.0, 100000000.0]
        """
        reference = REFERENCES[self.reference]
        return [1e9 * s / reference(n) for n, s in zip(self.sizes, self.seconds[contender])]

    def exponent(self, contender: str) -> float:
        """Return b of the least-squares fit time ∝ nᵇ: 1 is linear; n·log n is a little above."""
        x = [math.log(n) for n in self.sizes]
        y = [math.log(s) for s in self.seconds[contender]]
        x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
        covariance = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y))
        return covariance / sum((a - x_mean) ** 2 for a in x)


@dataclass(frozen=True)
class Curve:
    """Fits of the same estimators on growing data; the first contender is ours."""

    name: str
    title: str
    axis: str  # "rows" or "columns"
    reference: str  # a key of REFERENCES
    data: Callable[[int], Split]
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]
    contenders: Mapping[str, Make]

    def measure(self, options: Options, say: Say) -> CurveResult:
        """Time every size."""
        sizes = self.quick_sizes if options.quick else self.sizes
        seconds: dict[str, list[float]] = {name: [] for name in self.contenders}
        for n in sizes:
            say(f"{n:,} {self.axis}")
            split = self.data(n)
            for make in self.contenders.values():
                fitting(make, split.head(2_000)).run()  # loads libraries and compiled code
            jobs = {name: fitting(make, split) for name, make in self.contenders.items()}
            ours = next(iter(jobs))
            jobs[ours].run()
            times = interleave(jobs, 1)
            times[ours] += interleave({ours: jobs[ours]}, options.repeat - 1)[ours]
            for name, measured in times.items():
                seconds[name].append(median(measured))
        return CurveResult(
            name=self.name,
            title=self.title,
            axis=self.axis,
            reference=self.reference,
            sizes=sizes,
            seconds={name: tuple(values) for name, values in seconds.items()},
        )
