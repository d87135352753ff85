"""From a raw column to float64: the coding is learned at fit and applied at predict.

    RawNumbers                 ──▶  themselves
    Words  red, blue, red      ──▶  1.0, 0.0, 1.0     categories ("blue", "red")

Predict does not guess: a number where strings were seen, or a date where numbers were seen,
is an error, and a category never seen at fit follows the `unseen` policy. A date and its ISO text are the
same, however: a CSV file has dates where a dataframe made from it has words, and a model takes both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any, NoReturn

import numpy as np

from arboretum.data.checks import check_values, list_names, list_rows
from arboretum.data.column_kinds import Wish
from arboretum.data.column_warnings import Unseen, refuse_unseen
from arboretum.data.reading.written import is_iso_moment, is_plain_number
from arboretum.data.values import (
    EPOCH,
    Raw,
    RawNumbers,
    Words,
    as_words,
    families_of,
    from_cells,
    make_words,
    moment_seconds,
    sort_values,
    value_family,
)
from arboretum.errors import DataError

__all__ = ["Coded", "apply_categories", "apply_numbers", "learn_column", "places_of"]

# kind, categories, has missing values, values as numbers
Coded = tuple[str, tuple[Any, ...] | None, bool, np.ndarray]

_WHOLE = 1 << 24  # up to here single precision has every whole number
_PLURAL = {
    "str": "strings",
    "number": "numbers",
    "datetime": "dates",
    "duration": "durations",
    "time": "times of day",
}


# --------------------------------------------------------------------------- fit
def learn_column(raw: Raw, name: str, wish: Wish | None) -> Coded:
    """Decide what a column is and turn it into numbers."""
    kind = wish.kind if wish else _natural_kind(raw, name)
    order = wish.order if wish else None
    if isinstance(raw, RawNumbers) and kind != "categorical" and order is None:
        values, missing = _checked(raw, name)
        return kind, None, missing, values
    words = _words(raw, name)
    if order is not None:
        _check_listed(words, order, name)
        categories = list(order)
    elif kind == "ordinal":
        categories = words.values if words.order != "none" else sort_values(words.values)
    else:
        categories = _seen(words)
    if words.families != {"str"} and any(map(_is_infinite, categories)):
        raise DataError(f"column {name!r} has an infinite category: replace it or drop its rows")
    values = _codes(words, _places(words.values, categories), _dtype_of_codes(len(categories)))
    return kind, tuple(categories), bool(words.codes.min() < 0), values


def _dtype_of_codes(n_categories: int) -> type[np.floating]:
    """Return the dtype for codes: half as long as other numbers if it represents each of them exactly."""
    return np.float32 if n_categories <= _WHOLE else np.float64


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and bool(np.isinf(value))


def _natural_kind(raw: Raw, name: str) -> str:
    if isinstance(raw, RawNumbers):
        return "numeric"
    if raw.order != "none":
        return "ordinal" if raw.order == "ranked" else "categorical"
    if (
        len(raw.families) > 1 or raw.dtype == "object"
    ):  # in a mixture, times and durations are words
        families = sorted(raw.families)
        found = ["strings, durations or times of day"] if len(families) == 1 else []
        for family in families if len(families) > 1 else ():
            codes = [i for i, v in enumerate(raw.values) if value_family(v) == family]
            row = int(np.flatnonzero(np.isin(raw.codes, codes))[0])
            found.append(f"{_PLURAL[family]} (row {row}: {raw.values[raw.codes[row]]!r})")
        raise DataError(
            f"column {name!r} mixes {' and '.join(found)}: make it one type, or name it in "
            "categorical_features"
        )
    return "categorical"


def _words(raw: Raw, name: str) -> Words:
    if isinstance(raw, RawNumbers) and raw.values.dtype.kind == "f":
        check_values(raw.values[:, np.newaxis], [name])
    return as_words(raw)


def _checked(raw: RawNumbers, name: str) -> tuple[np.ndarray, bool]:
    missing = check_values(raw.values[:, np.newaxis], [name])
    return raw.values, bool(missing[0])


def _seen(words: Words) -> list[Any]:
    """The values that occur, sorted unless their order was declared."""
    if words.order == "none" and words.dtype == "str":  # made from the rows themselves
        return sorted(words.values) if words.families == {"str"} else sort_values(words.values)
    counts = np.bincount(words.codes.astype(np.intp) + 1, minlength=len(words.values) + 1)
    values = [v for v, count in zip(words.values, counts[1:].tolist()) if count]
    return values if words.order != "none" else sort_values(values)


def _check_listed(words: Words, order: Sequence[Any], name: str) -> None:
    listed = set(order)
    counts = np.bincount(words.codes[words.codes >= 0], minlength=len(words.values))
    strange = [i for i, v in enumerate(words.values) if v not in listed and counts[i]]
    if strange:
        rows = np.flatnonzero(np.isin(words.codes, strange))
        raise DataError(
            f"column {name!r} holds {list_names(words.values[i] for i in strange)} "
            f"({list_rows(rows)}), not among the values listed for it in ordinal_features: "
            f"{list_names(order)}"
        )


def _places(
    values: Sequence[Any], categories: Sequence[Any], place: Mapping[Any, int] | None = None
) -> list[float]:
    """Return the positions of values among the categories; NaN for unknown ones."""
    if values == categories:
        return list(range(len(values)))
    if place is None:
        place = places_of(categories)
    return [place.get(v, np.nan) for v in values]


def places_of(categories: Sequence[Any]) -> dict[Any, int]:
    """Return the position of every category."""
    return {category: i for i, category in enumerate(categories)}


def _codes(words: Words, new: Sequence[float], dtype: type[np.floating] = np.float64) -> np.ndarray:
    """Replace every code by a float; -1 picks the NaN at the end."""
    return np.array([*new, np.nan], dtype).take(words.codes)


# --------------------------------------------------------------------------- predict
def apply_numbers(raw: Raw, name: str, dtype: str) -> np.ndarray:
    """Return a column that was numbers at fit; anything but such numbers or missing is an error."""
    family = RawNumbers(np.empty(0), dtype).family
    if isinstance(raw, Words) and family in ("datetime", "time"):
        raw = _moments_of(raw, family)
    if isinstance(raw, Words):
        strange = np.array([value_family(v) != family for v in raw.values], dtype=bool)
        rows = _rows_of(raw, strange)
        if len(rows):
            _refuse_type(name, {family}, value_family(raw.values[raw.codes[rows[0]]]), rows, raw)
        number = moment_seconds if family == "datetime" else float
        new = [np.nan if odd else number(v) for v, odd in zip(raw.values, strange)]
        raw = RawNumbers(_codes(raw, new), raw.dtype if family == "number" else family)
    values, _ = _checked(raw, name)
    if raw.family != family:
        present = np.flatnonzero(~np.isnan(values))
        if len(present):
            _refuse_type(name, {family}, raw.family, present, raw)
    return values


def apply_categories(
    raw: Raw,
    name: str,
    dtype: str,
    categories: tuple[Any, ...],
    unseen: str,
    found: Unseen,
    place: Mapping[Any, int] | None = None,
) -> np.ndarray:
    """Return a column as the codes of its categories; others are missing and go to ``found``, or raise.

    ``place`` is `places_of` the categories, for those who need it many times.
    """
    if (
        isinstance(raw, RawNumbers)
        and raw.dtype == "datetime"
        and families_of(categories) == {"str"}
    ):
        raw = _texts_of(raw, categories)
    words = _words(raw, name)
    known = {dtype} if dtype in ("duration", "time") else families_of(categories)
    given = {raw.family} if isinstance(raw, RawNumbers) else words.families
    new = _places(words.values, categories, place)
    other_type = bool(known) and not known & given
    rows = _rows_of(words, np.isnan(new) | other_type)
    if len(rows):
        if other_type:
            _refuse_type(name, known, min(given), rows, raw)
        strange = [words.values[c] for c in dict.fromkeys(words.codes[rows].tolist())]
        if unseen == "error":
            refuse_unseen(name, strange, rows)
        found.setdefault(name, (strange, rows, categories))
    return _codes(words, new)


def _moments_of(raw: Words, family: str) -> Raw:
    """Return ISO texts as the dates or times of day they denote; anything else stays as it is."""
    read = datetime.fromisoformat if family == "datetime" else time.fromisoformat
    try:
        cells = from_cells([read(value) for value in raw.values], "")
    except (TypeError, ValueError):
        return raw
    if not isinstance(cells, RawNumbers):
        return raw
    return RawNumbers(np.append(cells.values.astype(np.float64), np.nan)[raw.codes], cells.dtype)


def _texts_of(raw: RawNumbers, categories: Sequence[str]) -> Raw:
    """Return dates as the ISO texts that were categories at fit; as they are if none of these is one."""
    if not categories or not is_iso_moment(categories[0]):
        return raw
    gap = " " if " " in categories[0] else "T"
    seconds, codes = np.unique(np.where(np.isnan(raw.values), 0.0, raw.values), return_inverse=True)
    moments = [EPOCH + timedelta(seconds=s) for s in seconds.tolist()]
    days = len(categories[0]) == len("2024-12-31")
    texts = [m.date().isoformat() if days else m.isoformat(gap) for m in moments]
    return make_words(np.where(np.isnan(raw.values), -1, codes), texts, "str")


def _rows_of(words: Words, chosen: np.ndarray) -> np.ndarray:
    """Rows that hold one of the chosen values."""
    if not chosen.any():
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(np.append(chosen, False)[words.codes])


def _refuse_type(
    name: str, known: set[str], found: str, rows: Sequence[int] | np.ndarray, raw: Raw
) -> NoReturn:
    before = " and ".join(_PLURAL[family] for family in sorted(known))
    example, advice = "", "convert the column to what it was at fit"
    if isinstance(raw, Words) and found == "str":
        odd = [v for v in raw.values if not _reads_as(v, known)]
        if odd:
            rows = np.flatnonzero(np.isin(raw.codes, [raw.values.index(v) for v in odd]))
            example = f", e.g. {odd[0]!r}"
        advice += ", e.g. with pandas.to_" + ("datetime" if known == {"datetime"} else "numeric")
        advice = (
            advice if known & {"datetime", "number"} else "convert the column to what it was at fit"
        )
    raise DataError(
        f"column {name!r} held {before} at fit and holds {_PLURAL[found]} now{example} ({list_rows(rows)}, "
        f"dtype {raw.dtype}): {advice}"
    )


def _reads_as(value: object, known: set[str]) -> bool:
    """Return True if a text would be valid without the others in its column."""
    if known == {"number"}:
        return isinstance(value, str) and is_plain_number(value)
    return known == {"datetime"} and isinstance(value, str) and is_iso_moment(value)
