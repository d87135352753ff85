"""Real tables, ready to be learned from: built once from registry packages, then read from disk.

    from benchmarks.real_tables import load, table_names
    table = load("titanic")
    table.X, table.y, table.task, table.words

    python -m benchmarks.real_tables     builds all of them and lists them

real_recipes.py says what every table is, real_sources.py where packages come from. A built table is a Parquet
file in the cache directory, in a folder named after the recipes: other recipes, other files. The features
are numbers and words as in the source; classes are whole numbers from 0 in the order of their names, so that
every contender takes them as they are.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Unavailable
from benchmarks.real_recipes import RECIPES, Recipe
from benchmarks.real_sources import cache_directory

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RealTable", "build", "load", "table_names"]

_TARGET = "the target"  # its column in the file
_LEAST_CLASS = 10  # rows; a smaller class cannot be told and held out several times
_SEED = 0


@dataclass(frozen=True)
class RealTable:
    """A table of features, what is to be told from them, and where it comes from."""

    name: str
    X: pd.DataFrame
    y: pd.Series
    task: str  # "binary", "classes" or "regression"
    words: int  # columns of words
    source: str

    @property
    def levels(self) -> int:
        """Return the largest number of different words in a column."""
        return max((self.X[c].nunique() for c in self.X if is_words(self.X[c])), default=0)


def is_words(column: pd.Series) -> bool:
    """Return whether a column holds words."""
    return column.dtype.kind not in "iufb"


def table_names() -> list[str]:
    """Return the names of all tables: those of numbers first."""
    return list(RECIPES)


def load(name: str) -> RealTable:
    """Return a table by name, built first if it is not in the cache.

    Raises
    ------
    Unavailable
        If the package it comes from cannot be had.
    """
    if name not in RECIPES:
        close = get_close_matches(name, RECIPES, 1)
        raise KeyError(
            f"no real table {name!r}" + (f": did you mean {close[0]!r}?" if close else "")
        )
    recipe = RECIPES[name]
    path = _folder() / f"{name}.parquet"
    if not path.exists():
        _write(build(recipe), path)
    return _table(recipe, _read(path))


def _folder() -> Path:
    """Return where the tables of these recipes are kept."""
    digest = hashlib.sha256()
    for module in ("real_recipes", "real_sources", "real_tables"):
        digest.update((Path(__file__).parent / f"{module}.py").read_bytes())
    folder = cache_directory() / "tables" / digest.hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _read(path: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.read_parquet(path)


def _write(frame: pd.DataFrame, path: Path) -> None:
    """Write whole or not at all: another process may be looking for the same file."""
    draft = path.with_suffix(f".{os.getpid()}")
    frame.to_parquet(draft, index=False)
    draft.replace(path)


def _table(recipe: Recipe, frame: pd.DataFrame) -> RealTable:
    X, y = frame.drop(columns=_TARGET), frame[_TARGET]
    words = sum(is_words(X[column]) for column in X)
    return RealTable(recipe.name, X, y.rename("y"), recipe.task, words, recipe.source)


# ---------------------------------------------------------------------- building
def build(recipe: Recipe) -> pd.DataFrame:
    """Return the features of a recipe's table and its target in one frame."""
    frame = recipe.read()
    if recipe.tidy is not None:
        frame = recipe.tidy(frame)
    frame = frame.drop(columns=list(recipe.drop))
    frame = frame[frame[recipe.target].notna()]
    frame = _drawn(frame, recipe.rows)
    y = frame[recipe.target]
    if recipe.task != "regression":
        frame = frame[y.map(y.value_counts()) >= _LEAST_CLASS]
        y = frame[recipe.target]
        names = sorted(y.unique())
        if (recipe.task == "binary") != (len(names) == 2):
            raise ValueError(
                f"table {recipe.name!r} has {len(names)} classes: it is not {recipe.task}"
            )
        y = y.map({name: code for code, name in enumerate(names)}).astype("int64")
    X = frame.drop(columns=recipe.target)
    X = X[[column for column in X if X[column].nunique(dropna=False) > 1]]
    X = X.rename(columns=str).apply(_plain)
    target = y.to_numpy(dtype=np.float64 if recipe.task == "regression" else np.int64)
    return X.assign(**{_TARGET: target}).reset_index(drop=True)


def _drawn(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Return at most so many rows, in their own order."""
    if len(frame) <= rows:
        return frame
    chosen = np.random.default_rng(_SEED).choice(len(frame), rows, replace=False)
    return frame.iloc[np.sort(chosen)]


def _plain(column: pd.Series) -> pd.Series:
    """Return numbers as float64 or int64, and words as strings with None for gaps."""
    if column.dtype.kind in "iu":
        return column.astype("int64")
    if column.dtype.kind in "fb":
        return column.astype("float64")
    return column.astype(object).map(str, na_action="ignore").where(column.notna(), None)


def _list_tables() -> None:
    """Build every table and print a line on each."""
    for name in table_names():
        try:
            table = load(name)
        except Unavailable as lack:
            print(f"{name:18} skipped: {lack}")
            continue
        rows, columns = table.X.shape
        classes = "" if table.task == "regression" else f" {table.y.nunique()}"
        print(
            f"{name:18} {rows:6} rows {columns:4} columns {table.words:3} of words "
            f"(at most {table.levels:5} levels)  {table.task}{classes}  {table.source}"
        )


if __name__ == "__main__":
    _list_tables()
