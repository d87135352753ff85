"""`compare`: every model that suits a table on the same folds, judged alike.

X, y ──► question ──► candidates × folds ──► trials ──► Comparison: table, best, simplest, page
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from arboretum.comparison.candidates import candidates
from arboretum.comparison.folds import make_plan, plan_of_test
from arboretum.comparison.question import Question, read_question
from arboretum.comparison.result import Comparison
from arboretum.comparison.running import run, trials_of
from arboretum.comparison.scores import MEASURES, Measure
from arboretum.comparison.store import stored
from arboretum.data.checks import did_you_mean
from arboretum.errors import DataError, ParameterError
from arboretum.explain.report.data_sheet import hints_of

__all__ = ["compare"]


def compare(
    X: Any,
    y: Any,
    *,
    models: Any = None,
    by: str = "loss",
    folds: Any = None,
    groups: Any = None,
    test: tuple[Any, Any] | None = None,
    task: str | None = None,
    target: str | None = None,
    time_limit: float | None = None,
    resume: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress_bar: bool | None = None,
) -> Comparison:
    """Judge every model that suits a table on the same folds.

    Baselines take part: the answer without columns, one split, a linear model, and a tree of eight leaves,
    whose score shows the price of an explanation that fits on a card. A model that fails or does not suit
    the table is a row with its reason.

    Parameters
    ----------
    X : table
        As estimators take it: arrays, dataframes, sparse matrices, the path of a CSV or Parquet file.
    y : array of shape (n_rows,)
        The target. Words, truth values and few different whole numbers are classes.
    models : list or dict, optional
        Names such as "CART" or "XGBClassifier", estimators of any library, pairs (name, estimator), and
        "all". None: all; stacking, voting and C4.5 rules take part above 10,000 rows only by name.
    by : str, default="loss"
        The figure that ranks the models: "loss" (log loss or RMSE), "accuracy", "auc", "calibration", or for
        numbers "r2" and "mae".
    folds : int, "time", splitter or list of (train, test), optional
        None: 5 shuffled folds with the classes in proportion, repeated for up to 1,000 rows, and 3 above
        10,000. "time": the rows are in the order of time, and every fold is learned from those before it.
    groups : array of shape (n_rows,), optional
        Rows of one group are never on both sides of a fold.
    test : (X, y), optional
        A table to test on: models are fitted once, on all rows of X.
    task : {"classification", "regression"}, optional
        None: by the values of y.
    target : str, optional
        The name of y; by default the name of the series.
    time_limit : float, optional
        Seconds. Cheap models come first; a model that would not end in time is left out, with its reason.
        Baselines and the first model always run. Fits are not broken off, and compiling is not counted.
    resume : str or Path, optional
        A file for finished trials: a comparison that was killed goes on where it stopped.
    n_jobs : int, optional
        Threads of every model; -1 and None use all cores.
    random_state : int, default=0
        Seed of the folds, and of models whose own is None.
    progress_bar : bool, optional
        None: a bar if standard error is a terminal, else lines once it takes longer. False shows nothing.

    Returns
    -------
    Comparison
        ``table``, ``differences`` and ``to_frame()`` are pandas frames; ``best`` and ``simplest`` are models
        fitted on all rows; ``report(path)`` writes one offline page, ``plot()`` draws the scores.

    Notes
    -----
    Intervals and tests use Nadeau and Bengio's correction for folds that share training rows, and Holm's for
    the number of pairs. Ctrl-C returns what is finished.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = compare(X, y, models=["CART", "C45"], folds=3)
    >>> result.winner in ("CART", "C45"), bool(result.table.loc["CART", "accuracy"] > 0.9)
    (True, True)
    >>> result.best.predict(X[:2]).tolist()
    [0, 0]
    """
    began = time.perf_counter()
    question = read_question(X, y, task, target)
    measure = _measure(by, question.task)
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(
            f"time_limit of compare must be a number of seconds > 0, got {time_limit!r}"
        )
    if test is None:
        plan = make_plan(question, folds, groups, int(random_state))
    elif folds is not None or groups is not None:
        raise ParameterError("test of compare replaces folds and groups: give one or the other")
    else:
        plan = plan_of_test(question, _test_table(question, test), int(random_state))
    found = candidates(question.task, models, question.n_rows)
    threads = -1 if n_jobs is None else n_jobs
    trials = trials_of(question, plan, threads, int(random_state))
    if resume is not None:
        trials = stored(trials, resume, question, plan, int(random_state))
    warnings = _warnings(question)
    entries, interrupted = run(found, trials, len(plan.splits), time_limit, progress_bar)
    return Comparison(
        question,
        plan,
        entries,
        measure,
        warnings,
        time.perf_counter() - began,
        threads,
        int(random_state),
        interrupted,
    )


def _measure(by: str, task: str) -> Measure:
    known = {one.key: one for one in MEASURES[task]}
    if by not in known:
        raise ParameterError(
            f"by of compare must be one of {list(known)} for {task}, got {by!r}{did_you_mean(by, known)}"
        )
    return known[by]


def _test_table(question: Question, test: Any) -> Question:
    """Return a test table as a question with the classes of the training table."""
    if not isinstance(test, tuple) or len(test) != 2:
        raise ParameterError("test of compare must be a pair (X, y)")
    found = read_question(*test, question.task, question.name)
    if question.labels is None:
        return found
    place = {label: k for k, label in enumerate(question.labels.tolist())}
    strange = [label for label in found.y.tolist() if label not in place]
    if strange:
        raise DataError(
            f"the target of test holds {strange[0]!r}, which is not a class of the training table: leave "
            "such rows out"
        )
    codes = np.array([place[label] for label in found.y.tolist()])
    return Question(found.X, found.y, codes, question.labels, found.task, found.reason, found.name)


def _warnings(question: Question) -> list[str]:
    """Return what is suspicious about the columns."""
    schema, matrix = question.encoded
    y = question.y if question.codes is None else question.codes
    return hints_of(schema, matrix, y, classes=question.is_classes)
