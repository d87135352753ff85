"""Snapshots: the state of a fit on disk, every few rounds, so that a killed fit can be resumed.

    fit(X, y, save_snapshot="run.snap")                killed at any moment
    fit(X, y, save_snapshot="run.snap", resume=True)   continues, and ends in the same model, byte for byte

A snapshot holds the trees, their weights, the margins of the training rows and of the evaluation tables, the
history, and fingerprints of data and parameters: it is refused if either differs. The file is replaced
by one rename, so it is always complete.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from types import CellType, CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.checks import warn_caller
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.grow.bins.in_parts import TableInParts

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.watching import HeldOut, Watch
    from arboretum.boosting.second_order.recipe import TrainingTable
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["Snapshot", "fingerprints"]

_FORMAT = 1
_PLAIN = (bool, int, float, str, bytes, list, tuple, dict, np.ndarray, np.generic)
_BLOCK = 1 << 16  # rows


@dataclass(frozen=True)
class Snapshot:
    """Where and how often the state of a fit is written.

    Attributes
    ----------
    path : path
    every : int
        Number of rounds between snapshots.
    resume : bool
        Continue from the file if there is one.
    """

    path: str | os.PathLike[str]
    every: int = 10
    resume: bool = False

    @classmethod
    def requested(cls, path: Any, every: Any, resume: Any) -> Snapshot | None:
        """Return the snapshot for the arguments of fit."""
        if isinstance(resume, str | os.PathLike):
            if not Path(resume).exists():
                raise ParameterError(f"resume={str(resume)!r}: there is no such snapshot")
            if path is not None and Path(path) != Path(resume):
                raise ParameterError(
                    "save_snapshot and resume name two files: a resumed fit keeps writing to its own snapshot"
                )
            path, resume = resume, True
        if not isinstance(resume, bool | np.bool_):
            raise ParameterError(f"resume must be True, False or a path, got {resume!r}")
        if path is None:
            if resume:
                raise ParameterError("resume=True continues from save_snapshot: give its path")
            return None
        if not isinstance(path, str | os.PathLike):
            raise ParameterError(f"save_snapshot must be a path or None, got {path!r}")
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise ParameterError(f"snapshot_every must be an int ≥ 1, got {every!r}")
        return cls(path, int(every), bool(resume))

    # ------------------------------------------------------------------ writing
    def due(self, rounds: int) -> bool:
        """Return True if a snapshot is due after this many rounds."""
        return rounds % self.every == 0

    def write(self, watch: Watch, prints: dict[str, str], rounds: int) -> None:
        """Write the state of a fit after ``rounds`` of its own.

        If that fails (a full disk) the fit continues, and the snapshot before stays.
        """
        from arboretum.io.container import write
        from arboretum.io.values import encode
        from arboretum.structure.state import trees_to_state

        booster = watch.booster
        state = {
            "snapshot": _FORMAT,
            **prints,
            "rounds": rounds,
            "seed": str(booster.plan.seed),
            "learning_rate": float(booster.plan.learning_rate),
            "trees": trees_to_state(booster.trees),
            "weights": np.array(booster.weights),
            "margin": booster.margin,
            "tables": {
                table.name: table.total for table in watch.held_out if not table.is_training
            },
            "history": watch.history,
            "larger": watch.larger,
        }
        try:
            write(self.path, encode(state, "the snapshot"))
        except OSError as error:
            warn_caller(
                f"the snapshot after {rounds} rounds could not be written ({error}): the fit continues, and "
                f"{os.fspath(self.path)} is tried again {self.every} rounds later"
            )

    # ------------------------------------------------------------------ reading
    def read(self) -> dict[str, Any] | None:
        """Return the state to continue from; None to begin anew."""
        from arboretum.io.container import read
        from arboretum.io.values import decode

        if not self.resume or not Path(self.path).exists():
            return None
        try:
            state = decode(read(self.path))
            if not isinstance(state, dict) or state.get("snapshot") != _FORMAT:
                raise ModelFileError("it is not a snapshot of this version")
            seed = state.get("seed")
            if not isinstance(seed, str) or not re.fullmatch("[0-9]{1,39}", seed):
                raise ModelFileError("it has no seed")
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(self.path)} cannot be resumed: {error}") from error
        return state

    def take_up(self, watch: Watch, state: dict[str, Any], prints: dict[str, str]) -> int:
        """Restore a fit to the state of its snapshot; return the number of its rounds."""
        for what, mine in prints.items():
            if state.get(what) != mine:
                raise DataError(
                    f"{os.fspath(self.path)} is a snapshot of a fit with other {what}: resume with the "
                    f"{what} of that fit, or remove it to begin anew"
                )
        try:
            return _take_up(watch, state)
        except ParameterError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"the snapshot is damaged: {str(error)[:300]}") from error


def _take_up(watch: Watch, state: dict[str, Any]) -> int:
    from arboretum.structure.state import trees_from_state

    booster, rounds = watch.booster, int(state["rounds"])
    wanted = booster.recipe.rounds
    if rounds > wanted:
        raise ParameterError(
            f"the snapshot has {rounds} rounds, and {wanted} are requested: request at least {rounds}, or "
            "remove it to begin anew"
        )
    trees = trees_from_state(state["trees"], booster.training.schema)
    if len(trees) != (watch.first + rounds) * booster.per_round or len(state["weights"]) != len(
        trees
    ):
        raise ModelFileError("its trees do not fit its number of rounds")
    booster.trees, booster.weights = trees, state["weights"].tolist()
    booster.margin = state["margin"]
    booster.plan = replace(booster.plan, learning_rate=float(state["learning_rate"]))
    for table in watch.held_out:
        if not table.is_training:
            table.take_up(state["tables"][table.name], state["weights"])
    watch.take_up(state["history"], state["larger"], rounds)
    return rounds


# ---------------------------------------------------------------------- fingerprints
def fingerprints(
    training: TrainingTable, held_out: Sequence[HeldOut], parameters: dict[str, Any]
) -> dict[str, str]:
    """Return the fingerprints of the data and parameters of a fit."""
    margin = None if training.base_margin is None else np.asarray(training.base_margin)
    arrays = [training.y, training.weight, training.groups, margin]
    if training.earlier is not None:
        arrays += [tree.value for tree in training.earlier.trees]
    for table in held_out:
        arrays += [table.truth.y, table.truth.weight, table.start]
    matrices = [training.matrix, *(table.matrix for table in held_out)]
    return {
        "data": data_print(matrices, arrays, training.schema),
        "parameters": parameter_print(parameters),
    }


def data_print(
    matrices: Iterable[Matrix | TableInParts], arrays: Iterable[np.ndarray | None], schema: Schema
) -> str:
    """Return the fingerprint of tables and of the arrays of their rows."""
    found = hashlib.blake2b(repr(schema.to_state()).encode(), digest_size=16)
    for matrix in matrices:
        found.update(repr(matrix.shape).encode())
        if isinstance(matrix, TableInParts):
            matrix.digest(found)
            continue
        for lo in range(0, matrix.n_rows, _BLOCK):
            found.update(np.ascontiguousarray(matrix.rows(lo, lo + _BLOCK) + 0.0).data)
    for array in arrays:
        found.update(b"none" if array is None else repr((array.shape, array.dtype.str)).encode())
        if array is not None:
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def parameter_print(parameters: dict[str, Any]) -> str:
    """Return the fingerprint of parameters; functions are represented by their code (`_code`)."""
    shown = {name: _shown(value) for name, value in sorted(parameters.items())}
    return hashlib.blake2b(repr(shown).encode(), digest_size=16).hexdigest()


def _shown(value: Any, outer: tuple[Any, ...] = ()) -> Any:
    """Return an object whose text identifies a value; ``outer``: the objects that contain it."""
    if any(value is one for one in outer):
        return "itself"
    outer = (*outer, value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return type(value).__name__  # its state has changed since; the snapshot holds the seed
    if isinstance(value, CodeType):
        return value.co_code, value.co_names, _shown(value.co_consts, outer)
    if isinstance(value, dict):
        shown = ((repr(_shown(key, outer)), _shown(item, outer)) for key, item in value.items())
        return sorted(shown, key=itemgetter(0))
    if isinstance(value, list | tuple):
        return [_shown(item, outer) for item in value]
    return _function(value, outer) if callable(value) else value


def _function(value: Any, outer: tuple[Any, ...]) -> Any:
    """Return a function as its code and the values it refers to, because all lambdas have the same name."""
    if isinstance(value, partial):
        return _shown([value.func, value.args, value.keywords], outer)
    function = value if hasattr(value, "__qualname__") else type(value).__call__
    name = getattr(function, "__qualname__", type(value).__qualname__)
    kept = [
        getattr(function, part, None) for part in ("__code__", "__defaults__", "__kwdefaults__")
    ]
    around = [
        cell.cell_contents
        for cell in getattr(function, "__closure__", None) or ()
        if cell != CellType()
    ]
    around += _globals(function)
    known = [one for one in around if callable(one) or isinstance(one, _PLAIN)]
    return name, _shown(kept + known, outer)


def _globals(function: Any) -> list[Any]:
    """Return the module's own values that a function reads: those of its code, inner functions included."""
    names, codes = [], [getattr(function, "__code__", None)]
    while codes:
        code = codes.pop()
        if code is not None:
            names += code.co_names
            codes += [one for one in code.co_consts if isinstance(one, CodeType)]
    module = getattr(function, "__module__", None)
    space = getattr(function, "__globals__", {})
    found = (space[name] for name in dict.fromkeys(names) if name in space)
    return [one for one in found if getattr(one, "__module__", module) in (None, module)]
