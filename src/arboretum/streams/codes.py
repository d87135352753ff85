"""The codes of a source in memory-mapped arrays: in the scratch folder of a fit, or kept for the next.

    keep=True      scratch/arboretum-codes-3f2a…/    narrow, wide     codes of 8 bits, codes of 16 bits
                                                     facts            missing values, pairs of columns in use

The name is a fingerprint of the files, the rows and the bins. Codes are written to a folder of another name,
which is renamed when they are complete.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arboretum.grow.bins.bins import Bins
from arboretum.grow.bins.bundling import PairsInUse
from arboretum.io.container import read, write
from arboretum.streams.scratch import map_array

__all__ = ["KeptCodes", "StoredCodes", "code_shapes", "fingerprint"]


class StoredCodes(NamedTuple):
    """Bins with the codes of all rows, every feature in a column of its own."""

    bins: Bins
    pairs: PairsInUse


def code_shapes(bins: Bins, n_rows: int) -> dict[str, tuple[tuple[int, int], Any]]:
    """Return shape and dtype of the arrays of codes."""
    n_wide = int(np.count_nonzero(bins.is_wide))
    return {
        "narrow": ((bins.n_storage - n_wide, n_rows), np.uint8),
        "wide": ((n_wide, n_rows), np.uint16),
    }


def fingerprint(given: Any, rows: np.ndarray | None, bins: Bins) -> str:
    """Return the fingerprint of what codes are made from; ``rows`` are those that are kept, None: all."""
    found = hashlib.blake2b(repr(given).encode(), digest_size=16)
    if rows is not None:
        found.update(np.ascontiguousarray(rows).data)
    for name in ("n_bins", "bounds", "bounds_start", "category_of", "category_start"):
        found.update(np.ascontiguousarray(getattr(bins, name)).data)
    return found.hexdigest()


class KeptCodes:
    """The folder for the codes of one fingerprint."""

    def __init__(self, parent: Path, name: str) -> None:
        self.folder = parent / f"arboretum-codes-{name}"

    def read(self, bins: Bins, n_rows: int) -> StoredCodes | None:
        """Return the codes if they are there; changing them does not change the files."""
        if not self.folder.is_dir():
            return None
        codes, wide = (
            map_array(self.folder / name, shape, dtype, exists=True)
            for name, (shape, dtype) in code_shapes(bins, n_rows).items()
        )
        facts = read(self.folder / "facts")
        pairs = PairsInUse(facts["n_used"], facts["has_missing"], facts["together"])
        return StoredCodes(
            replace(bins, codes=codes, wide=wide, has_missing=pairs.has_missing), pairs
        )

    def write(self, codes: StoredCodes) -> None:
        """Keep the codes of a fit."""
        with _complete(self.folder) as folder:
            for name, array in (("narrow", codes.bins.codes), ("wide", codes.bins.wide)):
                if array.size:
                    map_array(folder / name, array.shape, array.dtype)[...] = array
            pairs = codes.pairs
            facts = {"n_used": pairs.n_used, "has_missing": pairs.has_missing}
            write(folder / "facts", {**facts, "together": pairs.together})


@contextmanager
def _complete(folder: Path) -> Iterator[Path]:
    """Make a folder that has its name only when all of it is written."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        yield part
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
