"""Tables of words: every word becomes a code, the tree is grown on codes, tables print words again.

    X               codes           Words
    sunny  85       2  85           names        outlook, temperature
    rain   70       1  70           categories   (overcast, rain, sunny), ()      () for numbers
    sunny  72       2  72           classes      (no, yes)                        of y

A column holds words if one of its entries is a string or a bool; None and NaN are missing. Words are
numbered in alphabetical order, or in the order of ``categories``. `Words` is kept with the tree, so
that new rows can be coded in the same way. A word that the training rows do not have gets a code of
its own that no branch has: the tree answers as for an unseen category.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["NO_WORDS", "Words", "read_words"]

Categories = Mapping[Any, Sequence[Any]] | Sequence[Sequence[Any] | None]


@dataclass(frozen=True)
class Words:
    """What stands for the columns, codes and classes of a table; x0 and the code itself by default."""

    names: tuple[str, ...] = ()
    categories: tuple[tuple[Any, ...], ...] = ()  # per column, by code; () for a column of numbers
    classes: tuple[Any, ...] = ()  # of y, by index

    def name(self, column: int) -> str:
        """Return the name of a column.

        >>> Words(("outlook",)).name(0), Words().name(0)
        ('outlook', 'x0')
        """
        return self.names[column] if self.names else f"x{column}"

    def word(self, column: int, code: int) -> str:
        """Return the word of a category's code; one beyond the last is "missing", as in ID3.

        >>> words = Words(categories=(("rain", "sunny"),))
        >>> words.word(0, 1), words.word(0, 2), Words().word(0, 1)
        ('sunny', 'missing', '1')
        """
        known = self.categories[column] if self.categories else ()
        if not known:
            return str(code)
        return str(known[code]) if code < len(known) else "missing"

    def label(self, index: int) -> str:
        """Return the word of a class index."""
        return str(self.classes[index]) if self.classes else str(index)

    def codes(self, X: ArrayLike) -> np.ndarray:
        """Return rows as numbers; words that the training rows lack get a code beyond all others.

        >>> words = Words(("outlook", "wind"), (("rain", "sunny"), ()))
        >>> words.codes([["sunny", 3], ["fog", None]]).tolist()
        [[1.0, 3.0], [3.0, nan]]
        """
        table = _as_table(X)
        if table.dtype == object:
            known = self.categories or ((),) * table.shape[1]
            columns = [_code(column, words) for column, words in zip(table.T, known)]
            return np.column_stack(columns)
        return table

    def answers(self, indices: np.ndarray) -> np.ndarray:
        """Return class indices, as words if the training labels were words.

        >>> Words(classes=("no", "yes")).answers(np.array([1, 0])).tolist()
        ['yes', 'no']
        """
        return np.array(self.classes, dtype=object)[indices] if self.classes else indices


NO_WORDS = Words()


def read_words(
    X: ArrayLike,
    y: ArrayLike,
    names: Iterable[str] | None = None,
    categories: Categories | None = None,
) -> tuple[np.ndarray, np.ndarray, Words]:
    """Return the codes of the table and of its labels, and the words they stand for.

    Parameters
    ----------
    X : rows of words and numbers, or a dataframe
    y : words or numbers
    names : of the columns; a dataframe has its own
    categories : the words of every column in the order of their codes, as a list (None for a column
        whose words are found in X) or by the names of columns; a column of numbers whose categories are
        words holds codes

    Examples
    --------
    >>> X, y, words = read_words([["sunny", 85], ["rain", 70]], ["no", "yes"], ["outlook", "heat"])
    >>> X.tolist(), y.tolist(), words.categories
    ([[1.0, 85.0], [0.0, 70.0]], [0, 1], (('rain', 'sunny'), ()))
    >>> read_words([[0], [1]], [0, 1], categories=[["low", "high"]])[2].categories
    (('low', 'high'),)
    """
    table, own_names = _as_table(X), getattr(X, "columns", None)
    if table.ndim != 2:
        raise ValueError(f"X must be a table of rows and columns, got shape {table.shape}")
    if names is None and own_names is not None:
        names = own_names
    titles = () if names is None else tuple(str(name) for name in names)
    if titles and len(titles) != table.shape[1]:
        raise ValueError(f"names has {len(titles)} entries, X has {table.shape[1]} columns")
    wanted = _wanted(categories, titles, table.shape[1])
    known = tuple(_words_of(column, words) for column, words in zip(table.T, wanted))
    found = Words(titles, known if any(known) else ())
    codes = found.codes(table)
    for column, size in enumerate(map(len, known)):
        if size and np.any(codes[:, column] >= size):
            raise ValueError(f"{found.name(column)} has a value that is not among its categories")
    labels = np.asarray(y)
    if labels.dtype.kind not in "OUS" or labels.ndim != 1 or not _has_words(labels):
        return codes, labels, found
    classes = sorted(set(labels.tolist()), key=str)
    indices = np.array([classes.index(label) for label in labels.tolist()])
    return codes, indices, Words(titles, found.categories, tuple(classes))


def _as_table(X: ArrayLike) -> np.ndarray:
    """Return an array of floats, or of objects if some entries are no numbers."""
    table = np.asarray(X)
    if table.dtype.kind in "fiub":
        return np.asarray(table, dtype=np.float64)
    return np.asarray(X, dtype=object)


def _wanted(
    categories: Categories | None, names: tuple[str, ...], n: int
) -> list[Sequence[Any] | None]:
    if categories is None:
        return [None] * n
    if isinstance(categories, Mapping):
        if unknown := set(categories) - set(names):
            raise ValueError(f"categories has {sorted(map(str, unknown))}, no such columns")
        return [categories.get(name) for name in names]
    if len(categories) != n:
        raise ValueError(f"categories needs one entry per column, got {len(categories)} of {n}")
    return list(categories)


def _words_of(column: np.ndarray, wanted: Sequence[Any] | None) -> tuple[Any, ...]:
    if wanted is not None:
        return tuple(wanted)
    if column.dtype != object or not _has_words(column):
        return ()
    return tuple(sorted({value for value in column if not _is_missing(value)}, key=str))


def _has_words(values: np.ndarray) -> bool:
    return any(isinstance(value, str | bool | np.bool_) for value in values)


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _code(column: np.ndarray, words: tuple[Any, ...]) -> np.ndarray:
    """Return the codes of a column of words; numbers stay what they are."""
    missing = np.array([_is_missing(value) for value in column], dtype=bool)
    values = np.where(missing, np.nan, column)
    if not words:
        return values.astype(np.float64)
    if not _has_words(column[~missing]) and _has_words(np.array(words, dtype=object)):
        return values.astype(np.float64)  # the codes themselves
    place = {word: code for code, word in enumerate(words)}
    unseen = len(words) + 1  # len(words) is ID3's code of a missing value
    return np.array(
        [np.nan if lost else place.get(value, unseen) for value, lost in zip(column, missing)],
        dtype=np.float64,
    )
