"""The conditions on the edges of a tree, in words.

A split tests one column. Each of its children stands for one outcome, and a `Condition`
is that outcome as a sentence:

    kind        child 0                      child 1
    threshold   age <= 30.5                  age > 30.5
    threshold   age is present               age is missing         (threshold = +inf)
    subset      city in {Bern, Oslo}         city in {Paris, Rome}
    subset      city is present              city is missing        (every category on one side)
    multiway    outlook = sunny              outlook = overcast ...

"or missing" is added where missing values were seen in training and take that side.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = ["Condition", "around_zero", "format_category", "format_number", "format_value"]

_ZERO = 1.1e-35  # LightGBM's own files hold 1e-35 as a float32, which is a little larger


@dataclass(frozen=True)
class Condition:
    """The condition under which a row goes to one child of a split.

    Attributes
    ----------
    feature : int
        Index of the column.
    name : str
        Its name.
    operator : {"<=", ">", "in", "=", "is"}
        ``"is"`` comes with the values ``"present"`` and ``"missing"``.
    values : tuple
        The threshold, or the categories.
    or_missing : bool
        A missing value satisfies the condition too.
    Kind of the column; it determines how a value is written.
        Kind of the column: decides how a value is written.

    Examples
    --------
    >>> Condition(0, "age", "<=", (30.5,)).pretty()
    'age <= 30.5'
    >>> Condition(1, "city", "in", ("Bern", "Oslo"), or_missing=True).pretty()
    'city in {Bern, Oslo} or missing'
    """

    feature: int
    name: str
    operator: str
    values: tuple[Any, ...]
    or_missing: bool = False
    kind: str = "numeric"

    def pretty(self, digits: int = 6, max_categories: int = 8) -> str:
        """Return the condition as a short sentence."""
        operator = self.operator
        if self.operator == "in":
            shown = [format_category(v) for v in self.values[:max_categories]]
            hidden = len(self.values) - len(shown)
            if hidden:
                shown.append(f"… {hidden} more")
            right = "{" + ", ".join(shown) + "}"
        elif self.operator in ("=", "is") or isinstance(self.values[0], str):
            right = format_category(self.values[0])
        else:
            operator, value = around_zero(self.operator, self.values[0])
            right = format_value(value, self.kind, digits)
        return f"{self.name} {operator} {right}" + (" or missing" if self.or_missing else "")

    def __str__(self) -> str:
        return self.pretty()


def around_zero(operator: str, threshold: float) -> tuple[str, float]:
    """Return a comparison as it is shown: LightGBM's bins keep zero between -1e-35 and 1e-35.

    >>> around_zero("<=", 1e-35), around_zero("<=", -1e-35), around_zero(">", 0.5)
    (('<=', 0.0), ('<', 0.0), ('>', 0.5))
    """
    if threshold == 0 or abs(threshold) > _ZERO:
        return operator, threshold
    return (operator if threshold > 0 else {"<=": "<", ">": ">="}[operator]), 0.0


def format_value(value: float, kind: str, digits: int = 6) -> str:
    """Write a threshold the way its column is written: a number, or a date for a date column."""
    if kind == "datetime":
        return _format_date(value)
    return format_number(value, digits)


def format_category(value: object) -> str:
    """Write a category: a date without the time of day if that is midnight, anything else as it is.

    >>> format_category(datetime(2024, 2, 29)), format_category(True), format_category("Bern")
    ('2024-02-29', 'True', 'Bern')
    """
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return str(value)


def format_number(value: float, digits: int = 6) -> str:
    """Write a number with this many significant digits and no rounding noise.

    A large number keeps all digits before the decimal point and one after it: a threshold between two
    whole numbers must not look like one of them.

    >>> format_number(5.0), format_number(0.1 + 0.2), format_number(1234567.5)
    ('5', '0.3', '1234567.5')
    """
    if not abs(value) < 1e15:
        return repr(float(value))
    if value == int(value):
        return str(int(value))
    digits_before = len(str(abs(int(value))))
    return f"{value:.{max(digits, digits_before + 1)}g}"


def _format_date(seconds: float) -> str:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return f"{seconds:.0f} s"
    text = moment.strftime("%Y-%m-%d %H:%M:%S")
    return text.removesuffix(" 00:00:00")
