"""Which rows a model learns from and which it is tested on.

default     shuffled folds, classes in proportion; 5 up to 10,000 rows (repeated up to 1,000), then 3
groups      rows of one group are never on both sides
"time"      the rows are in the order of time: learn from the first, test on the next
test table  learn from all rows, test on the table, in ten parts

fold     train                 test
0        ████████████████▒▒▒▒  ▒▒▒▒   every fold is a pair of arrays of row numbers
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.comparison.question import Question
from arboretum.comparison.scores import score
from arboretum.errors import DataError, ParameterError

__all__ = ["FoldPlan", "make_plan", "plan_of_test"]

_LARGE, _SMALL, _TINY = 10_000, 1_000, 300
_PARTS = 10  # of a test table


@dataclass(frozen=True, eq=False)
class FoldPlan:
    """The folds of a comparison.

    Attributes
    ----------
    splits : list of (train, test)
        Row numbers, ascending: of the table and of the judged table.
    judged : Question
        The table that rows are tested in: the table itself or the test table.
    parts : list of list of int arrays
        For every split, its test rows in the parts that are scored on their own.
    overlap : float
        Test rows divided by training rows, if folds share training rows: they make scores of folds alike.
    text : str
        What was done, in words.
    """

    splits: list[tuple[np.ndarray, np.ndarray]]
    judged: Question
    parts: list[list[np.ndarray]]
    overlap: float
    text: str

    def score(self, fold: int, predicted: np.ndarray) -> list[dict[str, float]]:
        """Return the figures of every part of a fold; ``predicted`` has a row for each of its test rows."""
        place = {row: i for i, row in enumerate(self.splits[fold][1].tolist())}
        return [
            score(self.judged, part, predicted[[place[row] for row in part.tolist()]])
            for part in self.parts[fold]
        ]


def make_plan(question: Question, folds: Any, groups: Any, seed: int) -> FoldPlan:
    """Return folds of a table.

    Parameters
    ----------
    question : Question
    folds : None, int, "time", splitter or list of (train, test)
    groups : array of shape (n_rows,) or None
    seed : int

    Examples
    --------
    >>> from arboretum.comparison.question import read_question
    >>> question = read_question([[i] for i in range(40)], [0.5, 1.0] * 20, None, None)
    >>> make_plan(question, None, None, 0).text
    '5-fold cross-validation, 4 times'
    """
    groups = None if groups is None else _read_groups(groups, question.n_rows)
    splits, text = _splits(question, folds, groups, seed)
    for train, test in splits:
        if not len(train) or not len(test):
            raise DataError("folds of compare leave a fold without rows: use fewer folds")
    overlap = float(np.mean([len(test) / len(train) for train, test in splits]))
    return FoldPlan(splits, question, [[test] for _, test in splits], overlap, text)


def plan_of_test(question: Question, test: Question, seed: int) -> FoldPlan:
    """Return the plan that tests on a table of its own."""
    rows = np.random.default_rng(seed).permutation(test.n_rows)
    parts = [np.sort(part) for part in np.array_split(rows, min(_PARTS, test.n_rows // 2))]
    everything = [(np.arange(question.n_rows), np.arange(test.n_rows))]
    text = f"fitted on all rows, tested on {test.n_rows:,} other rows in {len(parts)} parts"
    return FoldPlan(everything, test, [parts], 0.0, text)


def _read_groups(groups: Any, n_rows: int) -> np.ndarray:
    found = np.asarray(groups).reshape(-1)
    if len(found) != n_rows:
        raise DataError(
            f"groups of compare has {len(found)} entries, X has {n_rows} rows: one for each"
        )
    _, codes = np.unique(found.astype(str), return_inverse=True)
    return codes


def _splits(
    question: Question, folds: Any, groups: np.ndarray | None, seed: int
) -> tuple[list[tuple[np.ndarray, np.ndarray]], str]:
    if folds is None or (isinstance(folds, int) and not isinstance(folds, bool)):
        return _shuffled(question, folds, groups, seed)
    if groups is not None and not hasattr(folds, "split"):
        raise ParameterError("groups of compare needs folds=None, a number or a splitter")
    if isinstance(folds, str) and folds == "time":
        from sklearn.model_selection import TimeSeriesSplit

        k = _usual(question.n_rows)[0]
        pairs = list(TimeSeriesSplit(k).split(np.zeros(question.n_rows)))
        return pairs, f"{k} folds in the order of time, each learned from the rows before it"
    if hasattr(folds, "split") and not isinstance(folds, str):
        y = question.y if question.codes is None else question.codes
        pairs = list(folds.split(np.zeros(question.n_rows), y, groups))
        return pairs, f"the {len(pairs)} folds of {type(folds).__name__}"
    return _given(folds, question.n_rows)


def _given(folds: Any, n_rows: int) -> tuple[list[tuple[np.ndarray, np.ndarray]], str]:
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in folds]
        good = all(a.ndim == b.ndim == 1 and max(a.max(), b.max()) < n_rows for a, b in pairs)
    except (TypeError, ValueError):
        pairs, good = [], False
    if not good or len(pairs) < 2:
        raise ParameterError(
            "folds of compare must be a number from 2 on, 'time', a splitter of scikit-learn, or two or more "
            f"pairs of arrays (training rows, test rows), got {folds!r}"
        )
    return pairs, f"{len(pairs)} given folds"


def _usual(n_rows: int) -> tuple[int, int]:
    """Return how many folds a table gets by default, and how often they are repeated.

    >>> _usual(200), _usual(900), _usual(5_000), _usual(50_000)
    ((5, 4), (5, 2), (5, 1), (3, 1))
    """
    if n_rows > _LARGE:
        return 3, 1
    return 5, 4 if n_rows <= _TINY else 2 if n_rows <= _SMALL else 1


def _shuffled(
    question: Question, folds: int | None, groups: np.ndarray | None, seed: int
) -> tuple[list[tuple[np.ndarray, np.ndarray]], str]:
    k, repeats = _usual(question.n_rows)
    if folds is not None:
        k, repeats = folds, 1
    most = question.n_rows // 2 if groups is None else len(np.unique(groups))
    if not 2 <= k <= most:
        what = "rows" if groups is None else "groups"
        raise ParameterError(
            f"folds of compare must be a number from 2 to {most} for these {what}, got {k}"
        )
    y = np.zeros(question.n_rows) if question.codes is None else question.codes
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may have fewer rows than there are folds
        for repeat in range(repeats):
            splitter = _splitter(k, seed + repeat, question.is_classes, groups is not None)
            try:
                pairs += list(splitter.split(np.zeros(question.n_rows), y, groups))
            except ValueError:  # every class has fewer rows than there are folds
                splitter = _splitter(k, seed + repeat, False, groups is not None)
                pairs += list(splitter.split(np.zeros(question.n_rows), y, groups))
    text = f"{k}-fold cross-validation" + (f", {repeats} times" if repeats > 1 else "")
    return pairs, text + ("" if groups is None else ", groups kept together")


def _splitter(k: int, seed: int, classes: bool, grouped: bool) -> Any:
    from sklearn import model_selection as sk

    kinds = {
        (False, False): sk.KFold,
        (True, False): sk.StratifiedKFold,
        (False, True): sk.GroupKFold,
        (True, True): sk.StratifiedGroupKFold,
    }
    return kinds[classes, grouped](k, shuffle=True, random_state=seed)
