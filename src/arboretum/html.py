"""Tables for notebooks, returned by `_repr_html_` of schemas, trees, rules, curves and importances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table"]

_MOST = 30  # rows shown at most
_LEFT = "text-align:left;white-space:pre"


def html_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[object]], *, left: int = 1
) -> str:
    """Return a table under its title; the first columns are aligned left, the others right.

    Parameters
    ----------
    title : str
    header : sequence of str
    rows : iterable of sequences
        Cells are written as text; rows after the thirtieth are only counted.
    left : int
        The number of columns that are aligned left.

    Examples
    --------
    >>> html_table("one column", ["name"], [["<age>"]])[-29:]
    '&lt;age&gt;</td></tr></table>'
    """
    body = list(rows)
    lines = [_line(header, "th", left), *(_line(row, "td", left) for row in body[:_MOST])]
    if len(body) > _MOST:
        lines.append(_line([f"… and {len(body) - _MOST:,} more"], "td", 1))
    return f"<div><b>{escape(title)}</b></div><table>{''.join(lines)}</table>"


def _line(cells: Sequence[object], tag: str, left: int) -> str:
    styles = [_LEFT if i < left else "text-align:right" for i in range(len(cells))]
    written = (
        f'<{tag} style="{style}">{escape(str(c))}</{tag}>' for c, style in zip(cells, styles)
    )
    return f"<tr>{''.join(written)}</tr>"
