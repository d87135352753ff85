"""What a model and its answers are, as short hashes.

Model files are the same bytes for the same model, and hold no paths and no names of modules, only names of
classes. What they do hold is the version of arboretum, which is left out here: all else in the file counts,
keys, types, shapes and every number.

The hashes that are kept in golden.txt are of *rounded* floats, so that a formula which is only written in
another way changes no line. Rounding cannot hide every difference, for two neighbours may lie on either side
of an edge; the chance halves with every binary digit that is given up. That is why `BITS` is far below the 53
of a float64. That the bytes are the same on other processors is what test_machines.py looks at.

During a refactoring, on one machine, ``exact=True`` sees every bit.
"""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np

from arboretum.io.container import read

BITS = 30  # about nine decimal digits
_TINY = 1e-12  # what is left when two equal sums are subtracted: its digits are noise


class Fingerprint:
    """A SHA-256 of nested values; what is added can be told apart by type, shape and length."""

    def __init__(self, *, exact: bool) -> None:
        self.exact = exact
        self._sha = hashlib.sha256()

    def text(self) -> str:
        return self._sha.hexdigest()[:16]

    def add(self, value: Any) -> Fingerprint:
        if isinstance(value, dict):
            self._put("dict", len(value))
            for key in sorted(value):
                self._put("key", key)
                self.add(value[key])
        elif isinstance(value, list | tuple):
            self._put("list", len(value))
            for item in value:
                self.add(item)
        elif isinstance(value, float):
            self._put("float")
            self._put_floats(np.array(value))
        elif isinstance(value, np.ndarray):
            self._add_array(value)
        else:  # None, booleans, integers, words
            self._put(type(value).__name__, repr(value))
        return self

    def _add_array(self, array: np.ndarray) -> None:
        if array.dtype.kind in "OU":
            self._put("words", array.shape)
            self.add([_plain(v) for v in array.ravel().tolist()])
            return
        self._put("array", array.dtype.name, array.shape)
        if array.dtype.kind == "f":
            self._put_floats(array)
        else:
            self._sha.update(_bytes(array))

    def _put(self, *words: object) -> None:
        self._sha.update(repr(words).encode())

    def _put_floats(self, array: np.ndarray) -> None:
        self._sha.update(_bytes(array if self.exact else _rounded(array)))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _bytes(array: np.ndarray) -> bytes:
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()


def _rounded(array: np.ndarray) -> np.ndarray:
    """Return float64 of `BITS` binary digits; arithmetic alone, so the same on every machine."""
    mantissa, exponent = np.frexp(np.atleast_1d(array).astype(np.float64))
    found = np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS)
    found[np.abs(found) < _TINY] = 0.0  # also -0.0
    found[np.isnan(found)] = np.nan  # one of the many bit patterns
    return found


def of_model(model: Any, *, exact: bool = False) -> str:
    """Return the hash of a model's file, but for the version that wrote it."""
    return of_document(read(saved(model)), exact=exact)


def of_document(document: dict[str, Any], *, exact: bool = False) -> str:
    rest = {key: value for key, value in document.items() if key != "arboretum"}
    return Fingerprint(exact=exact).add(rest).text()


def of_answers(answers: list[Any], *, exact: bool = False) -> str:
    """Return the hash of arrays, tables and lists of them."""
    return Fingerprint(exact=exact).add([_as_arrays(a) for a in answers]).text()


def _as_arrays(answer: Any) -> Any:
    if hasattr(answer, "columns"):
        return {name: answer[name].to_numpy() for name in answer.columns}
    if hasattr(answer, "toarray"):
        return answer.toarray()
    return answer if isinstance(answer, list | dict) else np.asarray(answer)


def saved(model: Any) -> bytes:
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()
