"""The tables on which defaults are chosen, and those on which they are judged.

    DEVELOPMENT   tables for choosing: every table that is not in the list below
    HELD_OUT      a third of the tables; nobody looks at their results while choosing

The list was drawn before the first try, by hashes of the names, from the tables that the first prototype did
not use and that need no installation of R; the prototype called some of its tables by other names (spam,
protein, credit, movie ratings, rook endgame). `draw` draws it again.
"""

from __future__ import annotations

from hashlib import sha256

from benchmarks.real_tables import table_names

__all__ = ["DEVELOPMENT", "HELD_OUT", "draw"]

HELD_OUT = (
    "car", "hpc", "personality", "rodents", "titanic", "pet_names", "mushroom", "mlc_churn",
    "ionosphere", "chile", "hitters", "restaurants", "stackoverflow", "flights_2001", "splice",
    "trials", "road_deaths", "tic_tac_toe", "starcraft", "segment", "communities", "birdstrikes",
    "resume", "police_force", "phishing", "movies", "lending_club",
)  # fmt: skip

_USED_BEFORE = (
    "iris", "wine", "digits", "sonar", "magic", "letter", "wine_quality", "concrete", "monica", "german",
    "soybean", "attrition", "ames", "sacramento", "flights_late", "compas", "adult", "fifa", "bikeshare",
    "insurance", "nursery", "spambase", "casp", "credit_data", "movielens", "kings",
)  # fmt: skip
_NEED_R = ("glass", "soybean", "votes", "biopsy", "servo", "household_income")


def draw(names: list[str]) -> tuple[str, ...]:
    """Return a third of the tables, in order of their names' hashes."""
    left = [name for name in names if name not in _USED_BEFORE and name not in _NEED_R]
    left.sort(key=lambda name: sha256(f"held out: {name}".encode()).hexdigest())
    return tuple(left[: len(names) // 3])


DEVELOPMENT = tuple(name for name in table_names() if name not in HELD_OUT)
