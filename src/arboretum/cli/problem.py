"""Features, target and weights of a data file, and its held-out rows.

    data ──┬── features   all columns but target, weight and dropped ones
           ├── y          the target
           └── weight     or None

Held-out rows and folds are drawn with a seed: the same command gives the same model.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.cli.files import Data, target_values, weight_values
from arboretum.cli.guard import UsageError
from arboretum.cli.reading import SPLIT
from arboretum.cli.screen import plural, print_note
from arboretum.data.schema import learn_schema
from arboretum.data.target import encode_classes
from arboretum.data.values import Words
from arboretum.errors import DataError

__all__ = ["Problem", "divide", "folds", "split_again", "split_note", "target_of", "training_part"]

_FOLDS = 5


@dataclass(frozen=True)
class Problem:
    """Rows for training or for evaluation.

    Attributes
    ----------
    features : Data
    y : array
        The target as an estimator takes it.
    weight : float array or None
    task : {"classification", "regression"}
    """

    features: Data
    y: np.ndarray
    weight: np.ndarray | None
    task: str

    @classmethod
    def of(
        cls, data: Data, task: str, target: str, weight: str | None, drop: Sequence[str] = ()
    ) -> Problem:
        """Split a file into features, target and weights."""
        for name in drop:
            data.column(name, "--drop")
        aside = [target, *([] if weight is None else [weight]), *drop]
        data = _with_target(data, target, aside)
        raw = data.column(target, "the target")
        y = target_values(raw, target, classes=task == "classification")
        weights = None if weight is None else weight_values(data, weight)
        features = data.without(aside)
        if not features.names:
            raise DataError(f"{data.path!r} has no column left besides the target")
        return cls(features, y, weights, task)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.features.n_rows

    def take(self, rows: np.ndarray) -> Problem:
        """Return some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Problem(self.features.take(rows), self.y[rows], weight, self.task)


def _with_target(data: Data, target: str, aside: Sequence[str]) -> Data:
    """Return the rows whose target is known; print a note about the others."""
    raw = data.column(target, "the target")
    known = raw.codes >= 0 if isinstance(raw, Words) else raw.values == raw.values
    n_blank = int(np.count_nonzero(~known))
    if n_blank == data.n_rows:
        raise DataError(f"the target {target!r} of {data.path!r} has no value in any row")
    if n_blank == 0:
        return data
    if len(aside) < len(data.names):
        learn_schema(data.without(aside).table)  # errors must name rows of the file
    print_note(
        f"{data.path}: {plural(n_blank, 'row')} of {data.n_rows:,} without {target!r} left out"
    )
    return data.take(np.flatnonzero(known))


def divide(problem: Problem, share: float, seed: int) -> tuple[Problem, Problem]:
    """Draw rows to hold out, with the same class proportions if every class has two rows.

    Returns
    -------
    training, held_out : Problem
    """
    from sklearn.model_selection import train_test_split

    n_out = round(share * problem.n_rows)
    if not 0 < n_out < problem.n_rows:
        raise DataError(
            f"--test-size {share:g} of {problem.n_rows} rows leaves none to "
            f"{'evaluate on' if n_out == 0 else 'train on'}"
        )
    strata = None
    if problem.task == "classification":
        (classes,), codes, _ = encode_classes(problem.y)
        if np.bincount(codes[:, 0]).min() >= 2 and min(n_out, problem.n_rows - n_out) >= len(
            classes
        ):
            strata = codes[:, 0]
    rows = np.arange(problem.n_rows)
    training, held_out = train_test_split(rows, test_size=n_out, random_state=seed, stratify=strata)
    return problem.take(np.sort(training)), problem.take(np.sort(held_out))


def split_note(problem: Problem, share: float, seed: int) -> str:
    """Return the note of `divide` in a model file: how rows were drawn, and a checksum of the file."""
    return json.dumps({"share": share, "seed": seed, "target": _fingerprint(problem.y)})


def split_again(model: Any, problem: Problem) -> tuple[Problem, Problem] | None:
    """Split a training file as it was split for the training.

    Returns
    -------
    training, held_out : Problem
        None if no rows were held out, or if the targets are not those of the training file.
    """
    noted = json.loads(model.notes_.get(SPLIT, "{}"))
    if not noted or noted.get("target") != _fingerprint(problem.y):
        return None
    return divide(problem, noted["share"], noted["seed"])


def target_of(model: Any, path: str | Path, given: str | None) -> str:
    """Return the target's column: the given one, or the one that the model was trained to predict."""
    target = given or model.notes_.get("target")
    if model._anatomy().family == "cuts":
        raise UsageError(
            f"{type(model).__name__} learns without a target: predict, show and describe take it; "
            "explain it in Python with shap_values and worksheet"
        )
    if target is None:
        raise UsageError(f"{str(path)!r} does not name its target: give --target COLUMN")
    return target


def training_part(model: Any, problem: Problem) -> Problem:
    """Return the rows that a model was trained on, without its held-out rows."""
    parts = split_again(model, problem)
    return problem if parts is None else parts[0]


def _fingerprint(y: np.ndarray) -> str:
    """Return a checksum of the targets of all rows, in their order."""
    return f"{zlib.crc32(repr(y.tolist()).encode()):08x}"


def folds(problem: Problem, seed: int) -> object:
    """Return shuffled folds for cross-validation, because files are often sorted."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if problem.task == "regression":
        largest = problem.n_rows
    else:
        _, codes, _ = encode_classes(problem.y)
        largest = int(np.bincount(codes[:, 0]).max())
    if largest < 2:
        raise DataError(
            f"--prune-cv cross-validates: {problem.n_rows} rows are too few (every class needs two)"
        )
    kind = KFold if problem.task == "regression" else StratifiedKFold
    return kind(min(_FOLDS, largest), shuffle=True, random_state=seed)
