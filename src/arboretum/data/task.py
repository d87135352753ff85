"""Whether a target holds classes or quantities, by its values."""

from __future__ import annotations

import numpy as np

from arboretum.data.values import Raw, Words

__all__ = ["TASKS", "task_of"]

TASKS = ("classification", "regression")
_FEW = 20  # at most this many different whole numbers are classes


def task_of(target: Raw) -> tuple[str, str]:
    """Return the task of a target column, classification or regression, and the reason.

    Words are classes. Whole numbers are classes if there are few different ones (at most 20, and
    on average three rows for each); all other numbers are quantities.

    Examples
    --------
    >>> from arboretum.data.values import RawNumbers
    >>> task_of(Words(np.array([0, 1]), ["no", "yes"], "str"))
    ('classification', 'its values are words')
    >>> task_of(RawNumbers(np.array([1.5, 2.0, 7.25]), "float64"))
    ('regression', 'its values are numbers with decimals')
    """
    if isinstance(target, Words):
        what = {"bool": "truth values", "category": "categories", "enum": "categories"}
        return "classification", f"its values are {what.get(target.dtype, 'words')}"
    if target.dtype == "bool":
        return "classification", "its values are truth values"
    if not target.dtype.startswith(("int", "uint")):
        return "regression", "its values are numbers with decimals"
    known = target.values[target.values == target.values]  # without gaps
    n_distinct = len(np.unique(known))
    if n_distinct <= 2 or n_distinct <= min(_FEW, len(known) / 3):
        return "classification", f"it holds only {n_distinct} different whole numbers"
    return "regression", f"it holds {n_distinct:,} different whole numbers"
