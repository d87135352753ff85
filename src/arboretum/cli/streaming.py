"""Files that are read batch by batch: patterns, folders, and files that are large beside the memory.

arboretum train 'data/*.parquet' -t price --model lgbm -o model.arb
"""

from __future__ import annotations

import os
from glob import has_magic
from pathlib import Path

from arboretum.cli.files import STDIN
from arboretum.cli.guard import UsageError
from arboretum.cli.models import check_model
from arboretum.cli.reading import Reading
from arboretum.cli.screen import file_size, print_note
from arboretum.data.reading.limits import memory_size

__all__ = ["is_streamed", "note_stream", "refuse_options"]

_SHARE = 8  # a file larger than this part of the memory is streamed
_ABLE = ("lgbm", "xgb")  # models that are trained on streams


def is_streamed(path: Path, model: str | None = None) -> bool:
    """Return True if a file is to be read batch by batch, to train ``model`` or to predict."""
    if str(path) == STDIN:
        return False
    if has_magic(os.fspath(path)) and not path.exists():
        return True
    if model is not None and check_model(model) not in _ABLE:
        return False
    return path.is_file() and path.stat().st_size > memory_size() // _SHARE


def note_stream(path: Path) -> None:
    """Print that a file is streamed, and why."""
    why = ""
    if path.is_file():
        size = file_size(path.stat().st_size)
        why = f", because it has {size}, more than an {_SHARE}th of the memory"
    print_note(f"{path} is read batch by batch{why}")


def refuse_options(path: Path, given: dict[str, bool], reading: Reading | None) -> None:
    """Raise for an option that needs the table in memory."""
    odd = [option for option, is_given in given.items() if is_given]
    if reading is not None and reading != Reading():
        odd.append("the format of a text file")
    if odd:
        raise UsageError(f"{odd[0]} needs a file that is read as a whole, and {path} is streamed")
