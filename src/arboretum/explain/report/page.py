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

__all__ = ["as_json", "fixed_size", "render"]

_ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = (
    "walk.js",
    "tools.js",
    "charts.js",
    "outline.js",
    "sheets.js",
    "trees.js",
    "panels.js",
    "rows.js",
    "page.js",
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
    title: str, payload: dict[str, Any], model: dict[str, Any], notes: Sequence[str] = ()
) -> str:
    """Return the page: ``payload`` is the data of the panels, ``model`` the steps and trees.

    ``notes`` are sentences under the title.
    """
    packed = _dumps(model).encode()
    code = base64.b64encode(gzip.compress(packed, 9, mtime=0)).decode("ascii")
    style, script = _read("page.css"), "\n".join(_read(name) for name in _SCRIPTS)
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
    return sum(len(_read(name).encode()) for name in ("page.html", "page.css", *_SCRIPTS))


@cache
def _read(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


@cache
def _template() -> Any:
    from jinja2 import Environment

    return Environment(autoescape=True, keep_trailing_newline=True).from_string(_read("page.html"))
