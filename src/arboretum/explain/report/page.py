"""The page itself: a template, a style sheet, scripts and the data, in one file that needs no network.

The data are two blocks: readable JSON for the panels, and gzipped JSON in base64 for the trees, the larger
part. In the JSON, `<`, `>` and `&` are written as escapes, so that no name can end the script
element; the page sets every name as text, never as HTML.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from arboretum.errors import DataError

__all__ = ["SHARED", "SHEETS", "as_json", "fixed_size", "render"]

_ASSETS = Path(__file__).parent / "assets"
# Elements, charts and the frame of any page; then the panels of a report.
SHARED = tuple(_ASSETS / f"{name}.js" for name in ("tools", "charts", "sections"))
SHEETS = _ASSETS / "sheets.js"  # draws worksheets
_REPORT = tuple(
    _ASSETS / f"{name}.js"
    for name in ("walk", "outline", "sheets", "trees", "panels", "rows", "page")
)


def as_json(value: Any) -> str:
    """Return JSON that is safe inside a script element.

    >>> as_json({"</script>": [1, None]})
    '{"\\\\u003c/script\\\\u003e":[1,null]}'
    """
    text = _dumps(value, ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _dumps(value: Any, **how: Any) -> str:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False, **how)
    except ValueError as error:
        raise DataError(
            "figures of this report, such as sums of squares, are beyond the range of float64: the model "
            "or the target holds numbers that are too large; divide the target by a constant and fit again"
        ) from error


def render(
    title: str,
    payload: dict[str, Any],
    model: dict[str, Any],
    notes: Sequence[str] = (),
    scripts: Sequence[Path] = _REPORT,
) -> str:
    """Return the page: ``payload`` is the data of the panels, ``model`` the steps and trees.

    ``notes`` are sentences under the title, ``scripts`` draw the panels.
    """
    packed = _dumps(model).encode()
    code = base64.b64encode(gzip.compress(packed, 9, mtime=0)).decode("ascii")
    style = _read(_ASSETS / "page.css")
    script = "\n".join(_read(path) for path in (*SHARED, *scripts))
    return _template().render(
        title=title,
        style=style,
        script=script,
        payload=as_json(payload),
        model=code,
        notes=notes,
        left_out=payload.get("left_out", ()),
    )


def fixed_size() -> int:
    """Return how many bytes the style and the scripts of every page take."""
    files = (_ASSETS / "page.html", _ASSETS / "page.css", *SHARED, *_REPORT)
    return sum(len(_read(path).encode()) for path in files)


@cache
def _read(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def _template() -> Any:
    from jinja2 import Environment

    return Environment(autoescape=True, keep_trailing_newline=True).from_string(
        _read(_ASSETS / "page.html")
    )
