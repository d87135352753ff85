"""Where compiled kernels are kept between runs, and when they are compiled anew.

Numba's own cache notices an edit in the file a function stands in, but not in the functions it calls, and it
forgets everything when the package moves to another folder. Here a kernel is kept under a hash of the text
it was made from: its module, and every module of the engine that one imports, directly or through others.

    engine/split/one_sum.py ─┬─> engine/split/score.py ──> engine/jit.py
                             └─> engine/split/best.py

    <user cache>/arboretum/kernels-0.1.0/split.one_sum-3f2a90c1b0d45e77/search-31.py311.nbi

So an edit costs the compilation of what depends on it and of nothing else, copies of the same sources share
what is compiled, and versions stand side by side.

A cache is a convenience: a file in it that cannot be read or written never ends a fit.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import caching

import arboretum

__all__ = ["KernelCache", "cache_directory", "source_hash", "writable_cache"]

ENGINE = Path(__file__).parent
_IMPORTS = re.compile(rb"^\s*from arboretum\.(engine[.\w]*) import (\([^)]*\)|.*)", re.MULTILINE)


# ---------------------------------------------------------------------- where
def cache_directory() -> Path:
    """Return where compiled kernels are kept; ``ARBORETUM_CACHE_DIR`` moves it."""
    return _user_cache() / _kernel_set()


def _user_cache() -> Path:
    base = os.environ.get("ARBORETUM_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if base:
        return Path(base)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "arboretum"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "arboretum" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arboretum"


def _kernel_set() -> str:
    """Name the kernels of this version and this way of compiling."""
    name = f"kernels-{arboretum.__version__}"
    # Numba does not tell checked code from unchecked code when it reads its cache
    return f"{name}-checked" if numba.config.BOUNDSCHECK else name


def writable_cache() -> Path | None:
    """Return a directory that can be written: the user's, a private temporary one, or none."""
    for find in (cache_directory, _private_temporary):
        try:
            directory = find()
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                return directory
        except (OSError, RuntimeError):  # read-only, full, or a user without a home
            continue
    return None


def _private_temporary() -> Path:
    """Return a directory under the temporary one that nobody else can have put code into."""
    if not hasattr(os, "getuid"):  # on Windows the temporary directory is the user's own
        return Path(tempfile.gettempdir()) / "arboretum" / _kernel_set()
    private = Path(tempfile.gettempdir()) / f"arboretum-{os.getuid()}"
    private.mkdir(mode=0o700, exist_ok=True)
    found = private.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise OSError(f"{private} is not this user's own")
    return private / _kernel_set()


# ---------------------------------------------------------------------- made from what
def source_hash(path: Path) -> str:
    """Return a hash of a source file and of all files of the engine it imports, through others too.

    >>> from arboretum.engine import jit
    >>> source_hash(Path(jit.__file__)) == source_hash(Path(jit.__file__))
    True
    """
    digest = hashlib.sha256()
    for source in sorted(_sources(path)):
        digest.update(_text(source))
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
    return frozenset(one for one in found if one.exists())


@functools.cache
def _text(path: Path) -> bytes:
    return path.read_bytes()


# ---------------------------------------------------------------------- Numba's side
class _Locator(caching._CacheLocator):
    """Tells Numba the folder of a function: that of its module and its hash."""

    root: Path

    def __init__(self, function: Callable, path: Path) -> None:
        place = path.relative_to(ENGINE) if path.is_relative_to(ENGINE) else Path(path.name)
        module = ".".join(place.with_suffix("").parts)
        self._stamp = source_hash(path)
        self._folder = self.root / f"{module}-{self._stamp}"
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)


@functools.cache
def _kept_below(root: Path) -> type[caching.CompileResultCacheImpl]:
    """Return how Numba keeps compiled functions in folders below this one."""

    class Locator(_Locator):
        @classmethod
        def from_function(cls, py_func: Callable, py_file: str) -> _Locator:
            return cls(py_func, Path(py_file))

    Locator.root = root

    class Kept(caching.CompileResultCacheImpl):
        _locator_classes = (Locator,)

    return Kept


class KernelCache(caching.FunctionCache):
    """The compiled forms of one function, as Numba's dispatcher asks for them."""

    def __init__(self, function: Callable, root: Path) -> None:
        self._impl_class = _kept_below(root)
        super().__init__(function)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code, or None: what cannot be read is compiled again."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file can raise anything when it is read
            self._forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code if there is room for it."""
        try:
            super().save_overload(sig, data)
        except Exception:  # damaged, read-only or full: the code is compiled, that is enough
            self._forget()

    def _forget(self) -> None:
        """Take the index away, so that the next run does not stumble over it."""
        try:
            Path(self._cache_file._index_path).unlink(missing_ok=True)
        except OSError:
            self.disable()
