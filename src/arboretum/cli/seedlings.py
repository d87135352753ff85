"""Six hundred seedlings and their fate: a made-up table that looks like a real one.

Numbers, categories, yes/no answers, a date and missing values, with a rule that a tree can find:

    thirsty     sand or chalk, never watered, more than 4 hours of sun       dies
    frozen      a tender species, below 30 cm, planted after 1 February     dies
    at home     loam, clay or peat, above 35 cm                             thrives
    otherwise                                                               survives

One seedling in twelve breaks the rule. Soil, sun and pH are missing here and there; pH has no
information beyond that of the soil. ``python -m arboretum.cli.seedlings`` writes the
table again, byte for byte (it uses only `random.random`, which is the same on every machine).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from random import Random

__all__ = ["COLUMNS", "PATH", "TARGET", "recipe"]

PATH = Path(__file__).with_name("seedlings.csv")
TARGET = "fate"
COLUMNS = (
    *("species", "soil", "ph", "sun_hours", "height_cm", "watered", "planted"),
    TARGET,
)

_SPECIES = ("oak", "beech", "birch", "pine", "maple", "walnut", "fig")
_TENDER = ("maple", "walnut", "fig")
_PH = {"chalk": 8.0, "clay": 7.0, "loam": 6.5, "sand": 5.8, "peat": 4.4}
_FIRST_DAY = date(2023, 10, 1)
_LATE = date(2024, 2, 1)


def recipe(n_rows: int = 600, seed: int = 1984) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table, as text.

    Examples
    --------
    >>> dict(zip(COLUMNS, next(recipe())))["species"] in _SPECIES
    True
    """
    draw = Random(seed).random

    def between(low: float, high: float) -> float:
        return low + (high - low) * draw()

    def one_of(options: tuple[str, ...]) -> str:
        return options[int(draw() * len(options))]

    for _ in range(n_rows):
        species, soil = one_of(_SPECIES), one_of(tuple(_PH))
        ph = _PH[soil] + between(-0.6, 0.6) + between(-0.6, 0.6)
        sun, height = between(1, 11), between(8, 60)
        watered = draw() < 0.5
        planted = _FIRST_DAY + timedelta(days=int(between(0, 210)))
        thirsty = soil in ("sand", "chalk") and not watered and sun > 4
        frozen = species in _TENDER and height < 30 and planted > _LATE
        if thirsty or frozen:
            fate = "dies"
        elif soil in ("loam", "clay", "peat") and height > 35:
            fate = "thrives"
        else:
            fate = "survives"
        if draw() < 1 / 12:
            fate = one_of(("dies", "survives", "thrives"))
        yield (
            species,
            "" if draw() < 0.03 else soil,
            "" if draw() < 0.12 else f"{ph:.1f}",
            "" if draw() < 0.05 else f"{sun:.1f}",
            f"{height:.1f}",
            "yes" if watered else "no",
            planted.isoformat(),
            fate,
        )


if __name__ == "__main__":
    sys.stdout.write("".join(",".join(row) + "\n" for row in (COLUMNS, *recipe())))
