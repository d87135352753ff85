"""A hash of the text that a kernel is made from.

That is its module, and every module of the engine that one imports, directly or through others:

    engine/split/one_sum.py ─┬─> engine/split/score.py ──> engine/compiler/decorators.py
                             └─> engine/split/best.py
"""

from __future__ import annotations

import ast
import functools
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

__all__ = ["ENGINE", "code_hash", "source_hash"]

ENGINE = Path(__file__).parents[1]
_NO_PART = [Path(__file__).with_name(name) for name in ("cache.py", "signatures.py")]
_IMPORTS = re.compile(rb"^\s*from arboretum\.(engine[.\w]*) import (\([^)]*\)|.*)", re.MULTILINE)


def source_hash(path: Path) -> str:
    """Return a hash of a source file and of all files of the engine it imports, through others too.

    >>> from arboretum.engine.compiler import decorators
    >>> source_hash(Path(decorators.__file__)) == source_hash(Path(decorators.__file__))
    True
    """
    return _hash(path, _text)


def code_hash(path: Path) -> str:
    """Return a hash as `source_hash` does, which comments, docstrings and line breaks do not change."""
    return _hash(path, _code)


def _hash(path: Path, read: Callable[[Path], bytes]) -> str:
    digest = hashlib.sha256()
    for source in sorted(_sources(path)):
        digest.update(read(source))
    return digest.hexdigest()[:16]


def _sources(path: Path) -> set[Path]:
    found, open_ends = {path}, [path]
    while open_ends:
        new = _imported(open_ends.pop()) - found
        found |= new
        open_ends += new
    return found


@functools.cache
def _imported(path: Path) -> frozenset[Path]:
    """Return the files of the engine that a file imports from."""
    found = set()
    for module, names in _IMPORTS.findall(_text(path)):
        place = ENGINE.parent.joinpath(*module.decode().split("."))
        found.add(place.with_suffix(".py"))
        found.update(place / f"{name.decode()}.py" for name in re.findall(rb"\w+", names))
    # what keeps or records compiled code has no part in making it
    return frozenset(one for one in found if one.exists() and one not in _NO_PART)


@functools.cache
def _text(path: Path) -> bytes:
    return path.read_bytes()


@functools.cache
def _code(path: Path) -> bytes:
    """Return the code of a file without comments, docstrings and layout."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            del node.body[0]
    # Python 3.12 and later choose other quotes for f-strings
    return ast.unparse(tree).replace('"', "'").encode()
