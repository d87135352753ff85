"""`report`: a fitted model and a table become one page that opens from disk.

    model, X, y ──► panels (each a small dictionary) ──► JSON ──► page.html with style and scripts inside
                    trees and steps (model_code.py) ──► gzip ┘

Every panel is made on its own (panels.py) and left out if it does not apply to the model.
"""

from __future__ import annotations

import html
import os
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from arboretum.base.progress import StepLines
from arboretum.base.rounds import is_listened_to, progress
from arboretum.data.column_warnings import one_warning
from arboretum.explain.pipeline import anatomy_of, open_pipeline
from arboretum.explain.report.inputs import (
    has_column,
    lines_about,
    one_target,
    rows_wanted,
    take_ids,
    target_column,
    targets_shown,
    with_labels,
)
from arboretum.explain.report.page import render
from arboretum.explain.report.panels import PanelMaker
from arboretum.explain.worksheet.family import Given

__all__ = ["Report", "report"]


class Report:
    """A page about a model; made by `report`.

    Attributes
    ----------
    html : str
        The page.
    path : Path or None
        Where it was written.
    seconds : dict
        How long every part took to make.
    """

    def __init__(self, page: str, path: Path | None, seconds: dict[str, float], title: str) -> None:
        self.html, self.path, self.seconds, self._title = page, path, seconds, title

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page; return its path."""
        self.path = Path(path)
        self.path.write_text(self.html, encoding="utf-8")
        return self.path

    def __repr__(self) -> str:
        where = f", in {str(self.path)!r}" if self.path else ": .save(path) writes it"
        return f"<Report: {self._title}, {len(self.html) / 1e6:.2f} MB{where}>"

    def _repr_html_(self) -> str:
        """Show the page inside a notebook, isolated from the notebook's styles and scripts."""
        source = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{source}" title="{html.escape(self._title, quote=True)}" '
            'sandbox="allow-scripts" style="width:100%;height:820px;border:1px solid #8884"></iframe>'
        )


@one_warning()
def report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    train: tuple[Any, Any] | tuple[Any, Any, Any] | None = None,
    sample_weight: Any = None,
    group: Any = None,
    rows: str | int = "sample",
    ids: Any = None,
    title: str | None = None,
    target: str | None = None,
    labels: Mapping[str, str] | None = None,
    about: Mapping[str, str] | None = None,
    output: int | None = None,
    random_state: int = 0,
    progress_bar: bool | None = None,
) -> Report:
    """Make one page about a fitted model and its predictions for a table; it opens from disk, offline.

    Parameters
    ----------
    model : fitted estimator of this library, or a fitted Pipeline that ends with one
        For a pipeline, the page explains the last step, with the columns that the steps before it return.
    X, y : table and target
        The rows on which the model is tested. Use rows it was not fitted on: on its training rows the
        figures are too optimistic.
    path : str or Path, optional
        Where to write the page. None writes nothing; the returned `Report` holds the page.
    train : (X, y), optional
        The training table. The page then has its figures too, a line of it in the learning curves,
        worksheets of nodes, and out-of-bag figures and importances of forests. If X and y are the training
        table, nodes get worksheets without it. For a ranker, (X, y, group).
    sample_weight : array, optional
        Weights of the training rows, if ``fit`` had any: worksheets need them. The figures of the page do
        not use weights.
    group : array of int, optional
        The number of rows of each group of X, for rankers: they are measured by the order inside groups.
    rows : {"sample", "none"} or int, default="sample"
        How many rows of X the page contains in full: a small sample, none, or this number. Everything else
        is counts, means and the model itself, whose thresholds and categories come from the training table.
    ids : str or array, optional
        Names of the rows in the page: a column of X, or one id for each row. By default the index of a
        dataframe; the position of a row if the index only numbers the rows.
    title : str, optional
        The heading; the name of the model by default.
    target : str, optional
        The name of y in the page.
    labels : dict from str to str, optional
        Names of columns for people: the page shows them in place of the names in the table.
    about : dict from str to str, optional
        Lines for the overview, such as who made the model, from what, and for what:
        ``{"made by": …, "made from": …, "made for": …}``.
    output : int, optional
        The target to show, counted from 0, of a model of several targets; y has all of them. By default the
        page has a menu of all targets, or, if the model is too large for that, the first.
    random_state : int, default=0
        Seed of the samples of rows and of the bootstrap.
    progress_bar : bool, optional
        Show a bar while the page is made. None: a bar if standard error is a terminal, else, in scripts and
        notebooks, a line every few seconds once it takes longer than three. False shows nothing.

    Returns
    -------
    Report
        Shows itself in a notebook; ``save(path)`` writes the page.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import CARTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> page = report(CARTClassifier(max_depth=3).fit(X, y), X, y)
    >>> page.html[:15], "petal width" in page.html
    ('<!doctype html>', True)
    """
    X, row_names = take_ids(model, X, ids)
    if train is not None and isinstance(ids, str) and has_column(train[0], ids):
        train = (take_ids(model, train[0], ids)[0], *train[1:])
    opened = open_pipeline(model, "report")
    model, X, train = opened.model, opened.table(X), opened.pair(train)
    model, X, train = with_labels(model, X, train, labels)
    wanted, n_targets = rows_wanted(rows), anatomy_of(model, "report").n_targets
    makers = []
    for k in targets_shown(model, output):
        single = one_target(model, k)
        column, named = target_column(y, n_targets, k)
        judged, learned = Given(X, column, sample_weight, group), None
        if train is not None:
            own, theirs = (
                target_column(train[1], n_targets, k)[0],
                train[2] if len(train) > 2 else None,
            )
            learned = Given(train[0], own, sample_weight, theirs)
        name = target or named
        if n_targets > 1 and named is None:
            name = f"{target or 'y'}, target {(k or 0) + 1}"
        makers.append(PanelMaker(single, judged, learned, wanted, name, int(random_state)))
        makers[-1].ids = row_names
        if n_targets > 1:
            makers[-1].payload["of_targets"] = [k or 0, n_targets]
    for maker in makers:
        maker.budget.share(len(makers))
    _make_panels(makers, progress_bar)
    first, *others = makers
    first.payload["overview"]["lines"] = lines_about(about)
    heading = title or f"{type(model).__name__}: {_what(makers)}"
    began = time.perf_counter()
    payload, part = first.payload, first.model_part()
    if others:
        names = [maker.payload["target"] for maker in makers]
        payload["targets"] = {"names": names, "others": [maker.payload for maker in others]}
        part["others"] = [maker.model_part() for maker in others]
    left_out = [line for maker in makers for line in maker.budget.left_out]
    payload["left_out"] = list(dict.fromkeys(left_out))
    page = render(heading, payload, part, [opened.note] if opened.note else [])
    first.seconds["page"] = time.perf_counter() - began
    made = Report(page, None, first.seconds, heading)
    if path is not None:
        made.save(path)
    return made


def _make_panels(makers: list[PanelMaker], shown: bool | None) -> None:
    """Make all panels, with a progress bar, or with lines of text if there is no terminal."""
    steps = [(maker, *step) for maker in makers for step in maker.steps()]
    is_terminal = sys.stderr.isatty()
    has_lines = shown is None and not is_terminal and not is_listened_to()
    lines = StepLines("report", len(steps)) if has_lines else None
    has_bar = is_terminal if shown is None else shown
    with (
        progress(len(steps), has_bar, "report", "making panels") as on_progress,
        lines or nullcontext(),
    ):
        for number, (maker, name, step) in enumerate(steps, start=1):
            if lines is not None:
                lines.step(number, name)
            began = time.perf_counter()
            step()
            maker.seconds[name] = time.perf_counter() - began
            if on_progress is not None:
                on_progress(number)
    for maker in makers:
        maker.payload["seconds"] = {k: round(v, 2) for k, v in maker.seconds.items()}


def _what(makers: list[PanelMaker]) -> str:
    """Return the names of the targets."""
    return ", ".join(maker.payload["target"] for maker in makers)
