"""Fits of sources: names become arrays, sources tables in parts, and then the estimator's own fit runs.

fit(source, y="price", sample_weight="w", eval_set=[(other, "price")])
  ──► fit(StreamedTable, y, sample_weight, eval_set=[(StreamedTable, y)])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arboretum.base.collections import is_stream
from arboretum.boosting.second_order.fit import group_sizes
from arboretum.data.checks import check_size, did_you_mean
from arboretum.errors import DataError
from arboretum.streams.pieces import Source
from arboretum.streams.predict import answer
from arboretum.streams.roles import read_roles
from arboretum.streams.scratch import Scratch
from arboretum.streams.sources import is_source, open_source
from arboretum.streams.spool import spooled
from arboretum.streams.stream import Stream
from arboretum.streams.table import StreamedTable

__all__ = ["answer", "fit"]

_ROLES = ("y", "sample_weight", "base_margin", "init_score", "group", "qid")
_OF_TABLES = {  # arguments with an entry per table of eval_set -> the role of its column
    "sample_weight_eval_set": "sample_weight",
    "eval_sample_weight": "sample_weight",
    "base_margin_eval_set": "base_margin",
    "eval_init_score": "init_score",
    "eval_group": "group",
    "eval_qid": "qid",
}


def fit(
    model: Any, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Fit a model to a source."""
    bound = inspect.signature(method).bind_partial(model, *args, **kwargs)
    given = bound.arguments
    if not getattr(model, "fits_in_parts", False) or method.__name__ != "fit":
        raise DataError(_needs_arrays(type(model).__name__, given))
    stream = given["X"] if isinstance(given["X"], Stream) else Stream(given["X"])
    with Scratch(stream.scratch) as scratch:
        opened = _Opened(scratch, model._threads())
        own = {role: given[role] for role in _ROLES if role in given}
        given["X"], roles = opened.table(stream, own)
        if own.get("y") is not None:
            opened.own = (stream.source, own["y"]), (given["X"], roles["y"])
        known = inspect.signature(method).parameters
        _check_roles(roles, known)
        given.update(roles)
        _open_evaluation(opened, given, known)
        if "y" not in given:
            raise DataError(f"fit needs y, the name of the column of {stream.source!r} to predict")
        return method(*bound.args, **bound.kwargs)


def _needs_arrays(name: str, given: Mapping[str, Any]) -> str:
    """Return the words of the error for an estimator that does not read sources."""
    X, y = given.get("X"), given.get("y")
    if type(X).__name__ in ("DataFrame", "Table"):
        return (
            f"{name} needs y as an array, one entry per row, got the name {y!r}: give the column itself and "
            f"leave it out of X, for pandas fit(X.drop(columns={y!r}), X[{y!r}])"
        )
    return (
        f"{name} needs the table in memory, where a NumPy memmap counts as such: read it "
        "and give fit the arrays X and y, or stream it to one of the models LGBM… and XGB…"
    )


def _check_roles(roles: Collection[str], known: Collection[str]) -> None:
    """Raise if a source yields what the estimator's fit does not take."""
    for role in roles:
        if role not in known:
            raise DataError(f"the source yields {role!r}, which this estimator's fit does not take")


# --------------------------------------------------------------------------- tables
@dataclass
class _Opened:
    """What the tables of a fit share.

    Attributes
    ----------
    columns : set of str
        With a role in the training table: not features of other tables either.
    own : pair of pairs
        Source and y as given, and as opened.
    """

    scratch: Scratch
    n_jobs: int
    columns: set[str] = field(default_factory=set)
    own: Any = None

    def table(self, stream: Stream, roles: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return a table in parts, and the values of the roles."""
        source = self._source(stream)
        named = {role: name for role, name in roles.items() if isinstance(name, str)}
        found = read_roles(source, named, self.scratch)
        unknown = [name for name in stream.drop if name not in found.names]
        if unknown:
            hint = did_you_mean(unknown[0], found.names)
            raise DataError(f"{source.name} has no column {unknown[0]!r}{hint}, named in drop")
        self.columns |= {*named.values(), *stream.drop}
        features: Any = None
        if self.columns & set(found.names):
            features = [name for name in found.names if name not in self.columns]
        width = len(found.names if features is None else features)
        check_size((found.n_rows, width))
        keep = self._folder_to_keep(stream, source)
        table = StreamedTable(
            source, features, found.n_rows, width, self.scratch, self.n_jobs, keep
        )
        arrays = found.arrays
        if "group" in arrays:
            arrays["group"] = group_sizes(None, arrays["group"])
        others = {k: self._column(v) for k, v in roles.items() if k not in named and v is not None}
        return table, {**arrays, **others}

    def _source(self, stream: Stream) -> Source:
        source = open_source(stream.source)
        if not source.is_once:
            return source
        if stream.spool:
            return spooled(source, self.scratch)
        raise DataError(
            f"{source.name} can be read only once, and a fit reads its rows several times: give a function "
            "that opens it anew, or Stream(source, spool=True), which writes it to disk first"
        )

    def _folder_to_keep(self, stream: Stream, source: Source) -> Path | None:
        if not stream.keep or stream.scratch is None:
            return None
        if source.print_of_files() is None:
            raise DataError(
                f"codes of {source.name} cannot be kept: only files have a date and a size to compare"
            )
        return Path(stream.scratch)

    def _column(self, given: Any) -> Any:
        """Return an argument; a source of one column as the array of its rows."""
        if not isinstance(given, Stream) and not is_source(given):
            return given
        source = self._source(given if isinstance(given, Stream) else Stream(given))
        piece = next(source.pieces(), None)
        names = () if piece is None else piece.table.names
        if len(names) != 1:
            raise DataError(
                f"{source.name} has {len(names)} columns: y, weights and groups are one each"
            )
        return read_roles(source, {"y": names[0]}, self.scratch).arrays["y"]


def _open_evaluation(opened: _Opened, given: dict[str, Any], known: Collection[str]) -> None:
    """Open the tables of eval_set that are sources."""
    if given.get("eval_X") is not None:
        tables, labels = given.pop("eval_X"), given.pop("eval_y", None)
        both = (tables, labels) if isinstance(tables, tuple) else ((tables,), (labels,))
        given["eval_set"] = list(zip(*both, strict=True))
    pairs = given.get("eval_set")
    if not isinstance(pairs, list | tuple):
        return
    names = [name for name in _OF_TABLES if name in known]
    others = {name: list(given.get(name) or [None] * len(pairs)) for name in names}
    found = []
    for number, (X, y) in enumerate(pairs):
        if opened.own is not None and _is_same(opened.own[0], (X, y)):
            found.append(opened.own[1])
        elif is_stream(X, by_name=isinstance(y, str)):
            roles = {"y": y, **{_OF_TABLES[name]: others[name][number] for name in names}}
            table, values = opened.table(X if isinstance(X, Stream) else Stream(X), roles)
            _check_roles(values, roles)
            for name in names:
                others[name][number] = values.get(_OF_TABLES[name])
            found.append((table, values.get("y")))
        else:
            found.append((X, y))
    given["eval_set"] = found
    given.update({name: each for name, each in others.items() if any(v is not None for v in each)})


def _is_same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    (X, y), (source, name) = other, one
    X = X.source if isinstance(X, Stream) else X
    return X is source and (y is name or (isinstance(y, str) and y == name))
