"""Where compiled kernels are kept between runs, and when they are compiled anew.

Numba's own cache notices an edit in the file a function stands in, but not in the functions it calls, and it
forgets everything when the package moves to another folder. Here a kernel is kept under a hash of the text
it was made from (sources.py):

    <user cache>/arboretum/kernels-0.1.0/split.one_sum-3f2a90c1b0d45e77/search-31d0b4….kernel

So an edit costs the compilation of what depends on it and of nothing else, copies of the same sources share
what is compiled, and versions stand side by side.

A cache is a convenience: a file in it that cannot be read or written never ends a fit.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

import arboretum
from arboretum.atomic_file import replacing
from arboretum.engine.compiler import private
from arboretum.engine.compiler.compiled_code import (
    decode,
    encode,
    identify,
    is_private,
    name_of,
)
from arboretum.engine.compiler.log import compiled
from arboretum.engine.compiler.packs import find_pack
from arboretum.engine.compiler.sources import ENGINE, source_hash
from arboretum.lazy import cached_property

__all__ = [
    "KernelCache",
    "cache_directory",
    "compiled",
    "writable_cache",
]


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
    # Numba does not distinguish checked from unchecked code when it reads its cache
    return f"{name}-checked" if numba.config.BOUNDSCHECK else name


def writable_cache() -> Path | None:
    """Return a directory that can be written: the user's, a private temporary one, or none."""
    for find in (cache_directory, _private_temporary):
        try:
            directory = find()
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not is_private(directory.stat()):
                continue  # compiled code is executed: never read it from where others can put it
            with tempfile.TemporaryFile(dir=directory):
                return directory
        except (OSError, RuntimeError):  # read-only, full, or a user without a home
            continue
    return None


def _private_temporary() -> Path:
    """Return a directory under the temporary one that other users cannot have put code into."""
    if not hasattr(os, "getuid"):  # on Windows the temporary directory is the user's own
        return Path(tempfile.gettempdir()) / "arboretum" / _kernel_set()
    private = Path(tempfile.gettempdir()) / f"arboretum-{os.getuid()}"
    private.mkdir(mode=0o700, exist_ok=True)
    found = private.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise OSError(f"{private} is not this user's own")
    return private / _kernel_set()


# ---------------------------------------------------------------------- Numba's side
class KernelCache:
    """The compiled forms of one function, with the methods that Numba's dispatcher calls.

    Nothing is read before the function is called: to import kernels is cheap.
    """

    def __init__(self, function: Callable, root: Path | None) -> None:
        self._function, self._root = function, root

    @cached_property
    def _source(self) -> Path | None:
        path = Path(self._function.__code__.co_filename)
        return path if path.is_file() else None

    @cached_property
    def _folder(self) -> Path | None:
        """Where compiled forms are kept: the folder of the module and its hash."""
        if self._root is None or self._source is None:
            return None
        is_ours = self._source.is_relative_to(ENGINE)
        place = self._source.relative_to(ENGINE) if is_ours else Path(self._source.name)
        module = ".".join(place.with_suffix("").parts)
        return self._root / f"{module}-{source_hash(self._source)}"

    @cached_property
    def _identity(self) -> str:
        return identify(self._function, source_hash(self._source))

    @property
    def cache_path(self) -> str | None:
        """Where compiled forms are kept, as Numba calls it."""
        return str(self._folder) if self._folder else None

    def prebuilt_name(self, signature: Any) -> str:
        """Return the name of a compiled form in a pack."""
        return name_of(self._identity, signature, "baseline")

    def file(self, signature: Any) -> Path | None:
        """Return where the form for these types and this CPU is kept."""
        if self._folder is None:
            return None
        name = name_of(self._identity, signature, private.cpu())
        return self._folder / f"{self._function.__name__}-{name}.kernel"

    def is_ready(self, signature: Any) -> bool:
        """Return whether the form for these types need not be compiled."""
        pack, file = find_pack(), self.file(signature)
        is_prebuilt = pack is not None and self.prebuilt_name(signature) in pack.places
        return is_prebuilt or (file is not None and file.is_file())

    # ------------------------------------------------------------------ what Numba calls
    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code; None: what cannot be read is compiled again."""
        if self._source is None:
            return None
        for read in (self._read_prebuilt, self._read_kept):
            try:
                data = read(sig)
                if data is None:
                    continue
                found = decode(data, self._function, sig, target_context)
            except Exception:  # a damaged file can raise anything when it is read
                found = None
            if found is not None:
                return found
        return None

    def _read_prebuilt(self, sig: Any) -> bytes | None:
        pack = find_pack()
        return None if pack is None else pack.read(self.prebuilt_name(sig))

    def _read_kept(self, sig: Any) -> bytes | None:
        file = self.file(sig)
        return file.read_bytes() if file is not None and file.is_file() else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code if there is room for it.

        The file appears when it is whole: others who compile the same may read and write it meanwhile.
        """
        try:
            file, code = self.file(sig), encode(data)
            if file is None or code is None:
                return
            file.parent.mkdir(mode=0o700, exist_ok=True)
            file.unlink(missing_ok=True)  # one that could not be read, with its permissions
            with replacing(file, durable=False) as fresh:
                fresh.write(code)
        except Exception:  # read-only or full: the code is compiled, that is enough
            return
