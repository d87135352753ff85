"""What a fit tried, what it chose, and why: `choices_` of a model, which prints as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from arboretum.errors import ModelFileError

__all__ = ["Choice", "Choices"]


class Choice(NamedTuple):
    """One thing that was tried.

    Attributes
    ----------
    what, option : str
        What there was to choose, and this option.
    loss : float or None
        The held-out loss.
    chosen : str
        What became of it; empty: it is not used.
    why : str
    """

    what: str
    option: str
    loss: float | None
    chosen: str
    why: str


class Choices(tuple[Choice, ...]):
    """All choices of a fit, in order.

    Examples
    --------
    >>> Choices([Choice("kind", "plain", 0.25, "weight 1", "lowest loss")])
    what | option | held-out loss | chosen   | why
    kind | plain  | 0.25          | weight 1 | lowest loss
    """

    __slots__ = ()

    def rows(self) -> list[tuple[str, ...]]:
        """Return the lines of the table as words, its heads first."""
        lines: list[tuple[str, ...]] = [("what", "option", "held-out loss", "chosen", "why")]
        for one in self:
            loss = "" if one.loss is None else f"{one.loss:.5g}"
            lines.append((one.what, one.option, loss, one.chosen, one.why))
        return lines

    def __repr__(self) -> str:
        lines = self.rows()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        cells = ([c.ljust(w) for c, w in zip(line, widths, strict=True)] for line in lines)
        return "\n".join(" | ".join(line).rstrip() for line in cells)

    def to_state(self) -> list[list[Any]]:
        """Return plain values for a file."""
        return [list(one) for one in self]

    @classmethod
    def from_state(cls, state: Any) -> Choices:
        """Return the choices that a file holds."""
        if not isinstance(state, list) or not all(_is_choice(one) for one in state):
            raise ModelFileError("its choices are damaged")
        return cls(Choice(*one) for one in state)


def _is_choice(given: Any) -> bool:
    if not isinstance(given, list) or len(given) != len(Choice._fields):
        return False
    what, option, loss, chosen, why = given
    words: Iterable[Any] = (what, option, chosen, why)
    return all(isinstance(one, str) for one in words) and (loss is None or type(loss) is float)
