"""Strings from Arrow: numbered where they lie in memory; dictionaries are taken as they are.

pandas and polars store strings in Arrow's format, so nearly all words of dataframes
and files are read. A column in one piece is numbered by a compiled loop over its bytes
(engine/columns/string_codes.py); in a small table, transferring Arrow's own encoding takes longer than
making one. Columns in chunks and strings in other forms use Arrow's dictionary encoding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.data.values import Words, make_words

__all__ = ["arrow_words"]

_PLACES: dict[str, np.dtype] = {
    "LargeStringArray": np.dtype(np.int64),
    "StringArray": np.dtype(np.int32),
}
_LETTER = np.dtype(np.uint8)
_NOTHING = np.empty(0, np.uint8)
_NOTHING.flags.writeable = False
_FEW, _MORE = 32, 16  # distinct strings there is room for at first; factor of growth


def arrow_words(column: Any, label: str | None = None) -> Words:
    """Return the words of an Arrow array, in one piece or in chunks."""
    import pyarrow as pa

    if getattr(column, "num_chunks", 0) == 1:
        column = column.chunk(0)
    places = _PLACES.get(type(column).__name__)
    if places is not None and len(column):
        return Words(*_number(column, places), label or "str")
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
        label = label or "str"
    ranked = column.type.ordered
    if isinstance(column, pa.ChunkedArray):
        column = _one_piece(column)
    codes = column.indices
    if codes.null_count or pa.types.is_uint64(codes.type) or pa.types.is_uint32(codes.type):
        codes = codes.cast(pa.int64()).fill_null(-1)
    numbers, values = codes.to_numpy(zero_copy_only=False), column.dictionary.to_pylist()
    return make_words(numbers, values, label or "category", "ranked" if ranked else "none")


def _number(strings: Any, places: np.dtype) -> tuple[np.ndarray, list[str]]:
    """Return the code of every row and the distinct strings."""
    from arboretum.engine.columns.string_codes import number_strings

    rows, skipped = len(strings), strings.offset
    present, offsets, text = strings.buffers()
    starts = _view(offsets, places)[skipped : skipped + rows + 1]
    if starts.dtype != np.int64:
        starts = starts.astype(np.int64)
        starts.flags.writeable = (
            False  # read-only is another type to Numba, and the kernel is compiled for one
        )
    letters = _view(text, _LETTER)
    if len(letters) < 9:  # a single word of eight bytes does not overlap: another type to Numba
        letters = np.frombuffer(letters.tobytes().ljust(9, b"\0"), _LETTER)
    eights = np.ndarray((len(letters) - 7,), np.uint64, letters, 0, (1,))  # they overlap
    bits = _view(present, _LETTER) if strings.null_count else _NOTHING
    codes, room, found = np.empty(rows, np.int32), _FEW, -1
    while found < 0:
        known = np.empty((3, room), np.uint64)
        slots = np.full(1 << (2 * room).bit_length(), -1, np.int32)
        found = number_strings(starts, letters, eights, bits, skipped, codes, known, slots)
        room *= _MORE
    begin, end, _ = known[:, :found].tolist()
    view = memoryview(text) if text is not None else b""
    return codes, [str(view[start:stop], "utf-8") for start, stop in zip(begin, end)]


def _view(buffer: Any, dtype: np.dtype) -> np.ndarray:
    """Return a buffer as a read-only array; Arrow may leave out a buffer without bytes."""
    if buffer is None or buffer.size == 0:
        return _NOTHING.view(dtype)
    array = np.frombuffer(buffer, dtype, buffer.size // dtype.itemsize)
    array.flags.writeable = False
    return array


def _one_piece(column: Any) -> Any:
    """Return the chunks as one dictionary array; their dictionaries may differ."""
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    if column.num_chunks == 0:
        return pa.array([], pa.string()).dictionary_encode()
    joined = column.unify_dictionaries().combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined
