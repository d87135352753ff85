"""Numbers and dates as people write them: 1.234,56 €, $1,001.46, 12 %, 31/12/2023, 5 Mar 2024.

A column is read by one convention, the first that all its texts follow:

    1,001.46   ──decimal point──▶  1001.46          31/12/2023   ──day first──▶    2023-12-31
    1.001,46   ──decimal comma──▶  1001.46          12/31/2023   ──month first──▶  2023-12-31

Currency signs and % are dropped. Texts that two conventions read differently (1,234 or 03/04/2024)
follow the first: a point for decimals, the day before the month.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

__all__ = [
    "DATE_ORDERS",
    "date_form",
    "is_iso_moment",
    "is_plain_number",
    "looks_like",
    "read_dates",
    "read_numbers",
    "write_number",
]

_SAMPLE = 40  # distinct texts by which a column is judged
_CURRENCY = "[$€£¥₹₽]|USD|EUR|GBP|CHF"
_NUMBER = r"\(?\s*[-+]?\s*(?:{c})?\s*[-+]?({body})\s*(?:%|{c})?\s*\)?"
_GROUPED = r"(?:\d{{1,3}}(?:[{g}'’\u00a0\u202f ]\d{{3}})+|\d+)(?:{d}\d*)?|{d}\d+"
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")
_DATE = re.compile(
    r"\d{1,4}[-/. ] ?(\d{1,2}|[A-Za-z]{3,9})[-/. ,]|\d{8}|[A-Za-z]{3,9} \d{1,2}, ?\d"
)  # possible beginnings of a date
_TIME = ("", " %H:%M", " %H:%M:%S")
_BEGINS = frozenset("0123456789+-(.,$€£¥₹₽")
_MONTHS = frozenset(
    [
        "Jan",
        "Feb",
        "Mar",
        "Apr",
        "May",
        "Jun",
        "Jul",
        "Aug",
        "Sep",
        "Oct",
        "Nov",
        "Dec",
        "USD",
        "EUR",
        "GBP",
        "CHF",
    ]
)
DATE_ORDERS = {  # name -> its forms, in the order in which they are tried
    "day first": ("%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d/%m/%y", "%d.%m.%y"),
    "month first": ("%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y"),
    "year first": ("%Y/%m/%d", "%Y.%m.%d", "%Y-%m-%d", "%Y%m%d"),
    "month by name": ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y"),
}


def _pattern(group: str, decimal: str) -> re.Pattern[str]:
    body = _GROUPED.format(g=re.escape(group), d=re.escape(decimal))
    return re.compile(_NUMBER.format(c=_CURRENCY, body=body))


_PATTERNS = {".": _pattern(",", "."), ",": _pattern(".", ",")}


def read_numbers(
    texts: Sequence[str], decimal: str | None = None
) -> tuple[list[float], str] | None:
    """Return the numbers that texts denote and their decimal sign; None if one of them is no number.

    Examples
    --------
    >>> read_numbers(["1.234,56 €", "-7"]), read_numbers(["$1,001.46", "(3)"]), read_numbers(["12%", "n"])
    (([1234.56, -7.0], ','), ([1001.46, -3.0], '.'), None)
    """
    for sign in (".", ",") if decimal is None else (decimal,):
        pattern, values = _PATTERNS[sign], []
        for text in texts:
            match = pattern.fullmatch(text.strip())
            if match is None:
                break
            values.append(_value(match, sign))
        else:
            return values, sign
    return None


def _value(match: re.Match[str], decimal: str) -> float:
    digits = re.sub(rf"[^\d{re.escape(decimal)}]", "", match[1]).replace(decimal, ".")
    negative = "-" in match[0] or match[0].startswith("(")
    return -float(digits) if negative else float(digits)


def read_dates(texts: Sequence[str], form: str | None = None) -> tuple[list[datetime], str] | None:
    """Return the times that texts denote and their convention; None if one of them is no date.

    Parameters
    ----------
    form : str or None
        A form of `datetime.strptime`, such as ``"%d.%m.%Y"``, or a name of `DATE_ORDERS`; None tries all.

    Examples
    --------
    >>> read_dates(["31/12/2023", "01/02/2024"])
    ([datetime.datetime(2023, 12, 31, 0, 0), datetime.datetime(2024, 2, 1, 0, 0)], 'day first')
    >>> read_dates(["12/31/2023"])[1], read_dates(["5 Mar 2024 10:30"])[1], read_dates(["maple"])
    ('month first', 'month by name', None)
    """
    texts = [text.strip() for text in texts]
    orders = DATE_ORDERS
    if form == "ISO":
        form = None
    elif form in DATE_ORDERS:
        orders = {form: DATE_ORDERS[form]}
    elif form is not None:
        moments = _parsed(texts, form)
        return None if moments is None else (moments, form)
    if not all(map(_DATE.match, texts)):
        return None
    if orders is DATE_ORDERS and all(map(is_iso_moment, texts)):
        return [datetime.fromisoformat(text) for text in texts], "ISO"
    for order, forms in orders.items():
        for each in forms:
            for time in _TIME:
                moments = _parsed(texts, each + time)
                if moments is not None:
                    return moments, order
    return None


def date_form(texts: Sequence[str], form: str) -> str | None:
    """Return the form of `datetime.strptime` in which all texts are written; None for ISO's.

    >>> date_form(["31/12/2023", "01/02/2024"], "day first")
    '%d/%m/%Y'
    """
    texts = [text.strip() for text in texts]
    forms = DATE_ORDERS.get(form, () if form == "ISO" else (form,))
    tried = (each + time for each in forms for time in _TIME)
    return next((each for each in tried if _parsed(texts, each) is not None), None)


def write_number(value: float, texts: Sequence[str], decimal: str) -> str:
    """Write a number in the style of the other numbers of its column.

    Examples
    --------
    >>> write_number(1234.567, ["$7.50", "$1,001.46"], ".")
    '$1,234.57'
    >>> write_number(7.955, ["6,25", "8"], ","), write_number(7.955, ["6", "8"], ".")
    ('7,96', '8')
    """
    plain = re.compile(rf"[^\d]*\d*(?:[^\d]\d{{3}})*(?:{re.escape(decimal)}(\d*))?[^\d]*")
    digits, group, first = 0, "", texts[0].strip() if texts else ""
    for text in texts:
        body = text.strip()
        found = plain.fullmatch(body)
        if found is None:  # such as 1e-7
            return f"{value:.10g}".replace(".", decimal)
        digits = max(digits, len(found[1] or ""))
        grouped = re.search(r"\d([^\d])\d{3}(?!\d)", body.partition(decimal)[0])
        group = grouped[1] if grouped else group
    before = re.match(r"[^\d]*", first.lstrip("+-("))
    after = re.search(r"[^\d]*$", first.rstrip(")"))
    number = f"{abs(value):,.{digits}f}".translate({ord(","): group, ord("."): decimal})
    sign = "-" if value < 0 and number.strip("0.,") else ""
    prefix = before[0].rstrip(decimal) if before else ""
    suffix = after[0].lstrip(decimal) if after and any(c.isdigit() for c in first) else ""
    return f"{sign}{prefix}{number}{suffix}"


def is_iso_moment(text: str) -> bool:
    """Return True for texts like ``2024-03-31`` and ``2024-03-31 10:15:00``."""
    if not _ISO.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:  # such as 2024-02-30
        return False
    return True


def is_plain_number(text: str) -> bool:
    """Return True for texts like ``12.5`` and ``-3e4``."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parsed(texts: Sequence[str], form: str) -> list[datetime] | None:
    try:
        return [datetime.strptime(text, form) for text in texts]
    except ValueError:
        return None


def looks_like(values: Sequence[object]) -> str | None:
    """Return ``"numbers"`` or ``"dates"`` if words are written as such; None for words and for mere digits.

    Digits alone may be a code (a postcode, a part number), but no name looks like 12.50 or 31/12/2023.

    Examples
    --------
    >>> looks_like(["12,5", "7,25"]), looks_like(["31.12.2023"]), looks_like(["8001"])
    ('numbers', 'dates', None)
    """
    first = values[0] if values else None
    if not isinstance(first, str) or not (first[:1] in _BEGINS or first[:3] in _MONTHS):
        return None
    step = -(-len(values) // _SAMPLE)
    texts = [str(value) for value in values[::step]]
    if all(text.isdigit() for text in texts):
        return None
    readers: tuple[tuple[str, Callable[[Sequence[str]], object]], ...] = (
        ("dates", read_dates),
        ("numbers", read_numbers),
    )
    for what, read in readers:
        if read(texts) is not None:
            return what
    return None
