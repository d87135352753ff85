"""What an edge of a tree says, in words.

A split asks one question of one column. Each of its children hangs on one answer, and a `Condition`
is that answer as a sentence:

    kind        child 0                      child 1
    threshold   age <= 30.5                  age > 30.5
    threshold   age is present               age is missing         (threshold = +inf)
    subset      city in {Bern, Oslo}         city in {Paris, Rome}
    multiway    outlook = sunny              outlook = overcast ...

"or missing" is added where missing values were seen in training and take that side.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

__all__ = ["Condition", "format_number", "format_value"]


@dataclass(frozen=True)
class Condition:
    """The answer one child of a split hangs on.

    Attributes
    ----------
    feature : int
        Index of the column.
    name : str
        Its name.
    operator : {"<=", ">", "in", "=", "is"}
        ``"is"`` goes with the values ``"present"`` and ``"missing"``.
    values : tuple
        The threshold, or the categories.
    or_missing : bool
        A missing value satisfies the condition too.
    kind : str
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
    values: tuple
    or_missing: bool = False
    kind: str = "numeric"

    def pretty(self, digits: int = 6, max_categories: int = 8) -> str:
        """Return the condition as a short sentence."""
        if self.operator == "in":
            shown = [str(v) for v in self.values[:max_categories]]
            hidden = len(self.values) - len(shown)
            if hidden:
                shown.append(f"… {hidden} more")
            right = "{" + ", ".join(shown) + "}"
        elif isinstance(self.values[0], str):
            right = self.values[0]
        else:
            right = format_value(self.values[0], self.kind, digits)
        return f"{self.name} {self.operator} {right}" + (" or missing" if self.or_missing else "")

    def __str__(self) -> str:
        return self.pretty()


def format_value(value: float, kind: str, digits: int = 6) -> str:
    """Write a threshold the way its column is written: a number, or a date for a date column."""
    if kind == "datetime":
        return _format_date(value)
    return format_number(value, digits)


def format_number(value: float, digits: int = 6) -> str:
    """Write a number with so many significant digits and no noise.

    >>> format_number(5.0), format_number(0.1 + 0.2), format_number(1234567.0)
    ('5', '0.3', '1234567')
    """
    if value == int(value) if abs(value) < 1e15 else False:
        return str(int(value))
    return f"{value:.{digits}g}"


def _format_date(seconds: float) -> str:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return f"{seconds:.0f} s"
    text = moment.strftime("%Y-%m-%d %H:%M:%S")
    return text.removesuffix(" 00:00:00")
