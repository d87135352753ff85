"""One file for a nested document of JSON values and NumPy arrays.

    bytes         what                                                      (all little-endian)
    0             magic b"ARBORETM"
    8             format version, uint32
    12            CRC-32 of the header, uint32
    16            length of the header in bytes, uint64
    24            length of the payload in bytes, uint64
    32            CRC-32 of the payload, uint32
    36            CRC-32 of bytes 0 to 35, uint32
    40            header: JSON in UTF-8, {"arrays": [...], "document": ...}
    next 64th     payload: the raw arrays in C order, each on a multiple of 64 bytes, zeros between

An array stands in the document as ``{"$array": k}``; the k-th entry of ``arrays`` gives its dtype,
shape and offset. The checksums find accidental damage. They cannot find malice, so nothing in the file is
trusted: sizes are multiplied as Python integers before anything is allocated, arrays follow each
other without overlap or gap, each is used exactly once (else a few bytes could demand gigabytes of
copies), and nesting, header size and integers are bounded. Reading takes memory for the arrays, each
read directly into place, and for the parsed header, which is bounded by its size, `MAX_CONTAINERS` and
`MAX_COMMAS`.

The same document always gives the same bytes. Dictionaries are written in the order of their keys.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import stat
import struct
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, prod
from reprlib import repr as short_repr
from typing import Any, BinaryIO

import numpy as np

from arboretum.atomic_file import replacing
from arboretum.errors import ModelFileError, ParameterError

__all__ = ["FORMAT_VERSION", "MAX_DEPTH", "InParts", "array_size", "read", "write"]

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
Target = str | os.PathLike[str] | BinaryIO

MAGIC = b"ARBORETM"
FORMAT_VERSION = 1
ALIGNMENT = 64
MAX_DEPTH = 64
MAX_CONTAINERS = 2**22  # lists and dictionaries: an empty one takes 2 bytes in a file, 64 in memory
MAX_COMMAS = 2**22  # about as many values: checking more one by one would take minutes
MAX_HEADER = 64 * 2**20
MAX_DIMENSIONS = 16
_AT_A_TIME = 512  # pieces per system call, which takes at most 1,024
# Integers of 64 bits: this also prevents dictionaries whose keys all have one hash.
MIN_INT, MAX_INT = -(2**63), 2**64 - 1

# Bytes 0 to 35, and then the checksum over them.
_PREFIX = struct.Struct("<8sIIQQI")
_CHECK = struct.Struct("<I")
_HEADER_START = _PREFIX.size + _CHECK.size
_WRONG_CHECKSUM = "its checksum is wrong, so bytes were changed: fetch or save it again"

_DTYPES = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"),
    )
}
_AS_IT_IS = frozenset((str, bool))
_AS_WRITTEN = frozenset(_DTYPES.values()) if sys.byteorder == "little" else frozenset()
_PORTABLE = {dtype: dtype.newbyteorder("<") for dtype in _DTYPES.values()}

_NOT_FINAL = {dict, list, float}  # values of a header that have to be checked again

# A whole JSON string, or an unterminated one. Possessive, so that no input causes backtracking.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[]{}", np.array([1, -1, 1, -1], dtype=np.int8).tobytes())


@dataclass(frozen=True, eq=False)
class InParts:
    """An array that lies in pieces of one dtype, one behind the other along the first axis.

    It is written as one array, without copying it into one.
    """

    parts: list[np.ndarray]


def _aligned(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT


def array_size(shape: object, itemsize: int) -> int:
    """Return the bytes an array takes, or refuse a shape that no array can have.

    >>> array_size([2, 3], 8)
    48
    """
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        raise ModelFileError(f"{short_repr(shape)} is not the shape of an array")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise ModelFileError(f"{short_repr(shape)} is not the shape of an array")
    # NumPy bounds the product of the non-zero lengths, even for an empty array.
    if prod(max(length, 1) for length in shape) * itemsize >= 2**63:
        raise ModelFileError(f"an array of shape {short_repr(shape)} does not fit into memory")
    return prod(shape) * itemsize


# ---------------------------------------------------------------------- writing
def write(target: Target, document: dict[str, Any]) -> None:
    """Write a document to a path (atomically) or into an open binary file.

    A path gets the complete new file or keeps the old one, even if the process is killed halfway. The new
    file keeps permissions, owner and group of the old one (`atomic_file.replacing`).

    Parameters
    ----------
    target : path or binary file
    document : dict
        Nested dictionaries with string keys, lists, strings, finite floats, integers of at most 64
        bits, booleans, None, and arrays of booleans, integers or floats.

    Raises
    ------
    ParameterError
        If the document holds anything else; the message says where.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write(file, {"name": "oak", "rings": np.arange(3)})
    >>> read(file.getvalue())
    {'name': 'oak', 'rings': array([0, 1, 2])}
    """
    pieces = _pieces(document)
    if not isinstance(target, str | os.PathLike):
        for piece in pieces:
            target.write(piece)
        return
    path = os.path.realpath(target)  # so that a link stays a link
    if os.path.exists(path) and not os.path.isfile(path):  # /dev/stdout: cannot be replaced
        with open(path, "wb") as file:
            file.writelines(pieces)
        return
    _write_atomically(path, pieces)


def _write_atomically(path: str, pieces: list[bytes | memoryview]) -> None:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            errno.ENOENT, f"the folder {folder!r} does not exist, make it first", path
        )
    with replacing(path) as file:
        _write_all(file, pieces)


def _write_all(file: io.BufferedWriter, pieces: list[bytes | memoryview]) -> None:
    """Write pieces, many per system call: a call takes longer than writing a small piece."""
    for first in range(0, len(pieces), _AT_A_TIME):
        some = pieces[first : first + _AT_A_TIME]
        done = os.writev(file.fileno(), some) if hasattr(os, "writev") else 0
        if done < sum(map(len, some)):  # the system may write less than requested
            file.write(memoryview(b"".join(some))[done:])
            file.flush()


def _pieces(document: dict[str, Any]) -> list[bytes | memoryview]:
    """Return the bytes of the file in pieces, so that large arrays are not copied together."""
    if not isinstance(document, dict):
        raise ParameterError(f"a document is a dict, got {short_repr(document)}")
    arrays: list[list[np.ndarray]] = []
    plain = _plain(document, arrays, "document", 2)
    table = []
    payload: list[bytes | memoryview] = []
    position = 0
    for parts in arrays:
        offset, first = _aligned(position), parts[0]
        payload.append(bytes(offset - position))
        payload += [part.reshape(-1).view(np.uint8).data for part in parts]
        shape = list(first.shape)
        shape[:1] = [sum(map(len, parts))] if shape else []
        table.append({"dtype": first.dtype.name, "shape": shape, "offset": offset})
        position = offset + sum(part.nbytes for part in parts)
    header = json.dumps(
        {"arrays": table, "document": plain},
        ensure_ascii=False,
        allow_nan=False,
        sort_keys=True,
        separators=(",", ":"),
    ).encode("utf-8", "surrogatepass")
    n_containers = header.count(b"[") + header.count(b"{")  # those inside strings, too
    if n_containers > MAX_CONTAINERS:
        n_containers, _ = _nesting(header)
    sizes = len(header), n_containers, header.count(b",")
    if any(size > most for size, most in zip(sizes, (MAX_HEADER, MAX_CONTAINERS, MAX_COMMAS))):
        raise ParameterError(
            "everything but the arrays takes {} bytes, {} lists and dicts, {} commas; a file holds ".format(
                *sizes
            )
            + f"{MAX_HEADER}, {MAX_CONTAINERS} and {MAX_COMMAS}: put what is large into arrays"
        )
    checksum = 0
    for piece in payload:
        checksum = zlib.crc32(piece, checksum)
    lengths = (len(header), position, checksum)
    prefix = _PREFIX.pack(MAGIC, FORMAT_VERSION, zlib.crc32(header), *lengths)
    end = _HEADER_START + len(header)
    return [prefix, _CHECK.pack(zlib.crc32(prefix)), header, bytes(_aligned(end) - end), *payload]


def _plain(value: Any, arrays: list[list[np.ndarray]], where: str, depth: int) -> Any:
    """Return `value` with its arrays moved to `arrays`."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and MIN_INT <= value <= MAX_INT:
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    if depth > MAX_DEPTH:
        raise ParameterError(f"{where[:200]} … is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, np.ndarray):
        arrays.append([_portable(value, where)])
        return {"$array": len(arrays) - 1}
    if isinstance(value, InParts):
        arrays.append([_portable(part, where) for part in value.parts])
        return {"$array": len(arrays) - 1}
    if isinstance(value, list):
        return [_plain(v, arrays, f"{where}[{i}]", depth + 1) for i, v in enumerate(value)]
    if isinstance(value, dict) and _has_names(value):
        if "$array" in value:
            raise ParameterError(f"the key '$array' of {where} is reserved: use another one")
        # sorted here too, so that arrays are numbered the same whatever the order of insertion
        return {
            key: item
            if (item := value[key]) is None or type(item) in _AS_IT_IS
            else _plain(item, arrays, f"{where}[{key!r}]", depth + 1)
            for key in sorted(value)
        }
    raise ParameterError(
        f"{where} cannot be written: {short_repr(value)} ({type(value).__name__}); a file holds "
        "None, booleans, 64-bit integers, finite floats, strings, lists, dicts with string keys, "
        "and arrays of numbers"
    )


def _has_names(value: dict[Any, Any]) -> bool:
    return set(map(type, value)) <= {str} or all(isinstance(key, str) for key in value)


def _portable(array: np.ndarray, where: str) -> np.ndarray:
    """Return the array in C order and little-endian."""
    if array.dtype in _AS_WRITTEN and array.flags.c_contiguous and array.ndim <= MAX_DIMENSIONS:
        return array
    portable = _PORTABLE.get(array.dtype.newbyteorder("="))
    if portable is None or array.ndim > MAX_DIMENSIONS:
        raise ParameterError(
            f"{where} cannot be written: an array of dtype {array.dtype} with {array.ndim} "
            f"dimensions; supported are {', '.join(_DTYPES)} with at most {MAX_DIMENSIONS} dimensions"
        )
    return np.asarray(array, dtype=portable, order="C")


# ---------------------------------------------------------------------- reading
def read(source: Source) -> dict[str, Any]:
    """Read a document back from a path, from bytes or from an open binary file.

    Arrays come back fresh, writable and C-ordered, in the byte order of the machine.

    Raises
    ------
    ModelFileError
        If the bytes are not exactly what `write` could have written.
    OSError
        If the file cannot be opened or read at all.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return _read(io.BytesIO(source), memoryview(source).nbytes)
    if not isinstance(source, str | os.PathLike):
        data = _contents(source)
        return _read(io.BytesIO(data), len(data))
    with open(source, "rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode):
            return _read(file, status.st_size)
        data = _contents(file)  # a pipe: its length is unknown
    return _read(io.BytesIO(data), len(data))


def _contents(file: BinaryIO) -> bytes:
    start = file.read(len(MAGIC))
    _check_magic(start)  # before the rest of something large (or endless) is read
    return start + file.read()


def _read(file: BinaryIO, size: int) -> dict[str, Any]:
    """Read the document of a file of ``size`` bytes."""
    header, payload_size, payload_check = _read_header(file, size)
    table, document = _parse(header)
    arrays = _read_arrays(file, table, payload_size, payload_check)
    document = _filled(document, arrays)
    if any(array is not None for array in arrays):
        raise ModelFileError("it holds arrays that nothing refers to: it is damaged")
    if not isinstance(document, dict):
        raise ModelFileError("its document is not a dictionary: it is damaged")
    return document


def _check_magic(start: bytes) -> None:
    if start != MAGIC:
        raise ModelFileError(
            "it is not an arboretum model file (those begin with ARBORETM); files of pickle or "
            "joblib are opened by pickle or joblib"
        )


def _read_header(file: BinaryIO, size: int) -> tuple[bytes, int, int]:
    """Check lengths and the header's checksum; return the header, the payload's length and its checksum."""
    start = file.read(_HEADER_START)
    _check_magic(start[: len(MAGIC)])
    if len(start) < _HEADER_START:
        raise ModelFileError(f"it is cut short: only {len(start)} bytes are left")
    prefix = start[: _PREFIX.size]
    _, version, header_check, header_size, payload_size, payload_check = _PREFIX.unpack(prefix)
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"it has file format {version}, this arboretum reads up to {FORMAT_VERSION}: upgrade "
            "with `pip install --upgrade arboretum-trees` (or fetch the file again if it is not that new)"
        )
    if version < 1 or _CHECK.unpack_from(start, _PREFIX.size)[0] != zlib.crc32(prefix):
        raise ModelFileError("its first bytes are damaged: fetch or save it again")
    if header_size > MAX_HEADER:
        raise ModelFileError(f"its header claims {header_size} bytes, more than {MAX_HEADER}")
    header_end = _HEADER_START + header_size
    expected = _aligned(header_end) + payload_size
    if size != expected:
        problem = "cut short" if size < expected else "too long"
        raise ModelFileError(
            f"it is {problem}: {size} bytes instead of {expected}; fetch or save it again"
        )
    header = file.read(header_size)
    if zlib.crc32(header) != header_check:
        raise ModelFileError(_WRONG_CHECKSUM)
    if any(file.read(_aligned(header_end) - header_end)):
        raise ModelFileError("it hides bytes between header and arrays: it is damaged")
    return header, payload_size, payload_check


def _parse(header: bytes) -> tuple[list[Any], Any]:
    """Return the table of arrays and the document, its arrays not yet filled in."""
    n_containers, depth = _nesting(header)
    if depth > MAX_DEPTH or n_containers > MAX_CONTAINERS:
        raise ModelFileError(
            f"its header is too complex: {n_containers} lists and dictionaries, nested {depth} deep"
        )
    n_commas = header.count(b",")
    if n_commas > MAX_COMMAS:
        raise ModelFileError(f"its header is too complex: {n_commas} commas")
    try:
        text = header.decode("utf-8", "surrogatepass")
        parsed = json.loads(text, parse_int=_parse_int, parse_constant=_refuse_constant)
    except ValueError as error:
        raise ModelFileError(f"its header cannot be parsed: {error}") from error
    if not isinstance(parsed, dict) or set(parsed) != {"arrays", "document"}:
        raise ModelFileError("its header is not one of a model: it is damaged")
    if not isinstance(parsed["arrays"], list):
        raise ModelFileError("its table of arrays is not a list: it is damaged")
    return parsed["arrays"], parsed["document"]


def _nesting(header: bytes) -> tuple[int, int]:
    """Return how many lists and dictionaries the JSON text has, and how deep they are nested.

    Before parsing: the parser recurses, and a header of brackets must not exhaust stack or memory.
    """
    brackets = _STRING.sub(b"", header).translate(None, delete=_NO_BRACKETS)
    steps = np.frombuffer(brackets.translate(_STEPS), dtype=np.int8)
    return int((steps > 0).sum()), int(np.cumsum(steps, dtype=np.int32).max(initial=0))


def _parse_int(text: str) -> int:
    # Reading a number takes time that grows with the square of its digits.
    if len(text) > 20 or not MIN_INT <= int(text) <= MAX_INT:
        raise ValueError(f"{text[:24]} … is not a 64-bit integer")
    return int(text)


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _read_arrays(
    file: BinaryIO, table: list[Any], payload_size: int, payload_check: int
) -> list[np.ndarray | None]:
    """Check the table of arrays, and read each array into its final place."""
    checked = list(_checked_table(table, payload_size))  # all of it before the first allocation
    arrays: list[np.ndarray | None] = []
    position = checksum = 0
    for number, (dtype, shape, offset, size) in enumerate(checked):
        gap = file.read(offset - position)
        if any(gap):
            raise ModelFileError(f"it hides bytes before array {number}: it is damaged")
        array = np.empty(shape, dtype.newbyteorder("<"))
        raw = array.reshape(-1).view(np.uint8)
        if size and _read_into(file, raw.data) != size:
            raise ModelFileError("it is cut short: it was changed while it was read")
        checksum = zlib.crc32(raw.data, zlib.crc32(gap, checksum))
        if dtype.kind == "b" and size and raw.max() > 1:
            raise ModelFileError("an array of booleans holds other bytes than 0 and 1")
        arrays.append(array.astype(dtype, copy=False))
        position = offset + size
    if checksum != payload_check:
        raise ModelFileError(_WRONG_CHECKSUM)
    return arrays


def _read_into(file: Any, room: memoryview) -> int:
    """Read until the room is full or the file ends; return how many bytes that were."""
    done = 0
    while done < len(room) and (more := file.readinto(room[done:])):
        done += more
    return done


def _checked_table(
    table: list[Any], payload_size: int
) -> Iterator[tuple[np.dtype, list[int], int, int]]:
    """Yield dtype, shape, offset and size of every array; together they fill the payload."""
    position = 0
    for number, entry in enumerate(table):
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "offset"}:
            raise ModelFileError(f"entry {number} of its table of arrays is damaged")
        name, shape, offset = entry["dtype"], entry["shape"], entry["offset"]
        if not isinstance(name, str) or name not in _DTYPES:
            raise ModelFileError(f"array {number} has an unknown dtype {short_repr(name)}")
        size = array_size(shape, _DTYPES[name].itemsize)
        if type(offset) is not int or offset != _aligned(position):
            raise ModelFileError(f"array {number} does not begin where the one before it ends")
        if offset + size > payload_size:
            raise ModelFileError(f"array {number} reaches beyond the end of the file")
        yield _DTYPES[name], shape, offset, size
        position = offset + size
    if position != payload_size:
        raise ModelFileError("it hides bytes behind the last array: it is damaged")


def _filled(value: Any, arrays: list[np.ndarray | None]) -> Any:
    """Put the arrays into the document (in place), each exactly once."""
    kind = type(value)
    if kind is dict and "$array" in value:
        return _take(value, arrays)
    if kind is dict or kind is list:
        for key, item in value.items() if kind is dict else enumerate(value):
            if type(item) in _NOT_FINAL:  # most are strings, whole numbers and the like
                value[key] = _filled(item, arrays)
    elif kind is float and not isfinite(value):  # 1e999
        raise ModelFileError("its header holds a number beyond the range of floats")
    return value


def _take(reference: dict[str, Any], arrays: list[np.ndarray | None]) -> np.ndarray:
    number = reference["$array"]
    if len(reference) != 1 or type(number) is not int or not 0 <= number < len(arrays):
        raise ModelFileError(f"{short_repr(reference)} refers to no array of the file")
    array, arrays[number] = arrays[number], None
    if array is None:
        raise ModelFileError(f"array {number} is used twice: it is damaged")
    return array
