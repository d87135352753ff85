"""What kernels are called with: written down as text, and read back as Numba's types.

A kernel is compiled anew for every combination of types it is called with. Which combinations there are
is not written by hand but recorded: with ``ARBORETUM_RECORD_KERNELS=<file>`` every process appends a line
for each new combination (`benchmarks/record_kernels.py` does so), and signatures.json has them all, each
with the estimators that need it. Prebuilt kernels and `arboretum.warmup` are made from it.

What is written down is the *arguments*, in NumPy's words, and not Numba's types of them:

    (np.zeros((3, 2)), 7, Node(first=np.uint32(0), rows=<uint8 array>))
    ["float64 2C", "int64", {"tuple": "arboretum.engine…:Node", "of": ["uint32", "uint8 1C"]}]

To read it back, such arguments are made, and Numba finds their types as it does in a call. So the file does
not depend on the internals of Numba, whose types have no text form that can be read back.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arboretum.engine.compiler import private
from arboretum.engine.compiler.private import OmittedArg
from arboretum.engine.compiler.sources import ENGINE, code_hash

__all__ = ["DEMO", "TABLE", "Signature", "describe", "example", "is_current"]
__all__ += ["read_table", "record", "stale_users", "write_table"]

TABLE = Path(__file__).with_name("signatures.json")
RECORD = os.environ.get("ARBORETUM_RECORD_KERNELS")
DEMO = "demo"  # in place of an estimator: the kernels of `arboretum demo`


class Signature(NamedTuple):
    """A kernel, what it is called with, and the estimators that call it so."""

    kernel: str  # module:function
    arguments: tuple[Any, ...]  # descriptions
    users: frozenset[str] = frozenset()  # names of estimators; `DEMO`

    def dispatcher(self) -> Any:
        """Return the kernel itself."""
        return _found(self.kernel)

    def types(self) -> tuple:
        """Return Numba's types of the arguments."""
        return private.key_of(self.dispatcher(), tuple(map(example, self.arguments)))

    def compile(self) -> None:
        """Compile the kernel, unless it is in a pack or in the cache."""
        self.dispatcher().compile(self.types())


# ---------------------------------------------------------------------- a description of a value
def describe(value: Any) -> Any:
    """Describe an argument of a kernel, in JSON.

    >>> describe(np.zeros((3, 2))), describe(np.uint8(1)), describe(True), describe(None)
    ('float64 2C', 'uint8', 'bool', 'none')
    >>> describe((1, np.arange(8)[::2]))
    {'tuple': '', 'of': ['int64', 'int64 1A']}
    """
    if value is None:
        return "none"
    if isinstance(value, np.ndarray):
        return _describe_array(value)
    if isinstance(value, np.void):
        return {"record": _describe_dtype(value.dtype)}
    if isinstance(value, (bool, int, float, np.generic)):
        return np.asarray(value).dtype.name
    if isinstance(value, tuple):
        is_plain = type(value) is tuple
        return {"tuple": "" if is_plain else _name(type(value)), "of": [describe(v) for v in value]}
    if isinstance(value, OmittedArg):
        return {"default": value.value}
    if callable(value):
        return {"function": _name(value)}
    raise TypeError(f"a kernel is called with {type(value).__name__}, which has no description")


def example(description: Any) -> Any:
    """Make a small value that fits a description.

    >>> example("float64 2F").flags.f_contiguous, example("uint8")
    (True, np.uint8(0))
    """
    if description == "none":
        return None
    if isinstance(description, str):
        dtype, _, form = description.partition(" ")
        return _make_array(np.dtype(dtype), form) if form else np.dtype(dtype).type(0)
    if "tuple" in description:
        parts = [example(one) for one in description["of"]]
        return _found(description["tuple"])(*parts) if description["tuple"] else tuple(parts)
    if "record" in description:
        dtype = _read_dtype(description["record"])
        form = description.get("array")
        return _make_array(dtype, form) if form else np.zeros((), dtype)[()]
    if "function" in description:
        return _found(description["function"])
    return OmittedArg(description["default"])


def _describe_array(array: np.ndarray) -> Any:
    flags = array.flags
    form = f"{array.ndim}{'C' if flags.c_contiguous else 'F' if flags.f_contiguous else 'A'}"
    form += "" if flags.writeable else " read-only"
    if array.dtype.names is None:
        return f"{array.dtype.name} {form}"
    return {"record": _describe_dtype(array.dtype), "array": form}


def _make_array(dtype: np.dtype, form: str) -> np.ndarray:
    n_dims, layout = int(form[0]), form[1]  # "2C", "1A read-only"
    if layout == "A":
        array = np.zeros((4,) * n_dims, dtype)[(slice(None, None, 2),) * n_dims]
    else:
        array = np.zeros((2,) * n_dims, dtype, order=layout)
    array.flags.writeable = not form.endswith("read-only")
    return array


def _describe_dtype(dtype: np.dtype) -> Any:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return [_describe_dtype(base), list(shape)]
    if dtype.names is None:
        return dtype.name
    fields = [dtype.fields[name] for name in dtype.names]
    return {
        "names": list(dtype.names),
        "formats": [_describe_dtype(field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
        "aligned": dtype.isalignedstruct,
    }


def _read_dtype(description: Any) -> np.dtype:
    if isinstance(description, list):
        return np.dtype((_read_dtype(description[0]), tuple(description[1])))
    if isinstance(description, str):
        return np.dtype(description)
    form = {key: value for key, value in description.items() if key != "aligned"}
    form["formats"] = [_read_dtype(one) for one in form["formats"]]
    return np.dtype(form, align=description["aligned"])


def _name(named: Any) -> str:
    return f"{named.__module__}:{named.__qualname__}"


@cache
def _found(name: str) -> Any:
    """Return what a name like ``arboretum.engine.split.best:Split`` stands for."""
    module, _, path = name.partition(":")
    found = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


# ---------------------------------------------------------------------- recording
def record(kernel: Any) -> None:
    """Append a line to the file of ``ARBORETUM_RECORD_KERNELS`` when a kernel is called with new types."""
    name = _name(kernel.py_func)
    private.on_new_types(kernel, lambda arguments, compiled: _append(name, arguments, compiled))


def _append(kernel: str, args: tuple, compiled: bool) -> None:
    line: dict[str, Any] = {"kernel": kernel, "compiled": compiled}
    try:
        line["arguments"] = [describe(one) for one in args]
    except TypeError as error:
        line["unknown"] = str(error)
    text = json.dumps(line) + "\n"
    out = os.open(RECORD, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(out, text.encode())  # at once: lines of several processes do not mix
    finally:
        os.close(out)


# ---------------------------------------------------------------------- the table
def write_table(
    signatures: Iterable[Signature], path: Path = TABLE, recorded: Iterable[str] | None = None
) -> None:
    """Write signatures in their order; kinds of arguments are numbered and written once.

    Of users that were not ``recorded`` now (default: all were) the hash of their kernels stays as it is.
    """
    signatures = sorted(signatures, key=_key)
    kinds: dict[str, int] = {}
    names = sorted({name for one in signatures for name in one.users})

    def number(description: Any) -> int:
        if isinstance(description, dict) and "tuple" in description:
            description = {**description, "of": [number(one) for one in description["of"]]}
        return kinds.setdefault(json.dumps(description), len(kinds))

    lines = []
    for one in signatures:
        users = [i for i, name in enumerate(names) if name in one.users]
        lines.append(json.dumps([one.kernel, [number(a) for a in one.arguments], users]))
    parts = {"kinds": ",\n".join(kinds), "kernels": ",\n".join(lines)}
    text = ",\n".join(f'"{key}": [\n{rows}\n]' for key, rows in parts.items())
    sources = _sources_of_users(signatures)
    if recorded is not None:
        before = _recorded_sources(path)
        sources = {
            name: found if name in recorded else before.get(name, "")
            for name, found in sources.items()
        }
    head = f'"users": {json.dumps(names)},\n"sources": {json.dumps(sources)}'
    path.write_text(f"{{\n{head},\n{text}\n}}\n", encoding="utf-8")


def _key(signature: Signature) -> tuple[str, str]:
    return signature.kernel, json.dumps(signature.arguments)


def stale_users(users: Iterable[str], path: Path = TABLE) -> list[str]:
    """Return the users whose kernels have changed since they were recorded, or that never were."""
    recorded = _recorded_sources(path)
    now = _sources_of_users(read_table(path)) if recorded else {}
    return [name for name in users if recorded.get(name, "") != now.get(name)]


def _recorded_sources(path: Path) -> dict[str, str]:
    return json.loads(path.read_text(encoding="utf-8"))["sources"] if path.exists() else {}


def is_current(path: Path = TABLE) -> bool:
    """Return whether no kernel of the table has changed since it was recorded."""
    return not stale_users({name for one in read_table(path) for name in one.users}, path)


def _sources_of_users(signatures: Iterable[Signature]) -> dict[str, str]:
    """Return a hash of the sources of all kernels that a user calls."""
    modules: dict[str, set[str]] = {}
    for one in signatures:
        for name in one.users:
            modules.setdefault(name, set()).add(one.kernel.partition(":")[0])
    return {
        name: hashlib.sha256("".join(map(_hash_of_module, sorted(used))).encode()).hexdigest()[:16]
        for name, used in sorted(modules.items())
    }


@cache
def _hash_of_module(module: str) -> str:
    path = ENGINE.parents[1].joinpath(*module.split(".")).with_suffix(".py")
    return code_hash(path) if path.is_file() else ""


def read_table(path: Path = TABLE) -> Iterator[Signature]:
    """Yield the signatures of a file that `write_table` has written."""
    table = json.loads(path.read_text(encoding="utf-8"))
    kinds: list[Any] = []
    for kind in table["kinds"]:  # what a tuple is of comes before it
        if isinstance(kind, dict) and "tuple" in kind:
            kind = {**kind, "of": [kinds[i] for i in kind["of"]]}
        kinds.append(kind)
    for kernel, arguments, users in table["kernels"]:
        names = frozenset(table["users"][i] for i in users)
        yield Signature(kernel, tuple(kinds[i] for i in arguments), names)
