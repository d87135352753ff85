"""`report`: a fitted model and a table become one page that opens from disk.

    model, X, y ──► panels (each a small dictionary) ──► JSON ──► page.html with style and scripts inside
                    trees and steps (model_code.py) ──► gzip ┘

Every panel is made by itself and left out where it does not apply to the model.
"""

from __future__ import annotations

import html
import os
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.base.progress_lines import StepLines
from arboretum.base.rounds import is_listened_to, progress
from arboretum.data.column_warnings import one_warning
from arboretum.data.target import numbers
from arboretum.errors import DataError, ParameterError
from arboretum.explain.dependence.asking import Asked, matrix_of
from arboretum.explain.pick_tree import trees_of
from arboretum.explain.pipeline import open_pipeline
from arboretum.explain.report import effects_panel, history
from arboretum.explain.report.budget import PAGE_BYTES, Budget
from arboretum.explain.report.data_sheet import columns_of, duplicates_of, hints_of, unseen_of
from arboretum.explain.report.headline import headline
from arboretum.explain.report.judged import Judged, judge
from arboretum.explain.report.model_code import ModelCode, code_of_model
from arboretum.explain.report.one_target import one_target, target_column, targets_shown
from arboretum.explain.report.overview import overview_of
from arboretum.explain.report.page import as_json, fixed_size, render
from arboretum.explain.report.ranked import Ranked, groups_of, whole_groups
from arboretum.explain.report.rows_panel import choose_rows, rows_panel, take_ids
from arboretum.explain.report.sheets_panel import sheets_panel, without_sheets
from arboretum.explain.report.trees_panel import rules_panel, trees_panel
from arboretum.explain.worksheet.family import Given
from arboretum.structure.condition import format_category

__all__ = ["Report", "report"]

_LARGEST = 1e100  # of predictions, as of targets

_SHEETS = 0.4  # of the room that is left after trees are walked, for worksheets
_RESERVED = 20_000  # bytes of what is written after the trees
_LEAST_ROOM = 200_000  # for the trees, however large the panels are
_MOST_CELLS = 40_000_000  # values of a table that are looked at; of a larger one some rows


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
        """Write the page; return where."""
        self.path = Path(path)
        self.path.write_text(self.html, encoding="utf-8")
        return self.path

    def __repr__(self) -> str:
        where = f", in {str(self.path)!r}" if self.path else ": .save(path) writes it"
        return f"<Report: {self._title}, {len(self.html) / 1e6:.2f} MB{where}>"

    def _repr_html_(self) -> str:
        """Show the page inside a notebook, apart from its styles and scripts."""
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
    output: int | None = None,
    random_state: int = 0,
    progress_bar: bool | None = None,
) -> Report:
    """Make one page about a fitted model and its predictions for a table; it opens from disk, offline.

    Parameters
    ----------
    model : fitted estimator of this library, or a fitted Pipeline that ends with one
        Of a pipeline the page explains the last step, with the columns that the steps before it return.
    X, y : table and target
        The rows on which the model is tested. Use rows it was not fitted on: on its training rows the
        figures are too optimistic.
    path : str or Path, optional
        Where to write the page; None writes nothing, the `Report` returned holds it.
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
        What y is called.
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
    if train is not None and isinstance(ids, str) and ids in list(getattr(train[0], "columns", ())):
        train = (take_ids(model, train[0], ids)[0], *train[1:])
    opened = open_pipeline(model, "report")
    model, X, train = opened.model, opened.table(X), opened.pair(train)
    wanted, n_targets = _rows_wanted(rows), int(getattr(model, "n_outputs_", 1))
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
        makers.append(_Maker(single, judged, learned, wanted, name, int(random_state)))
        makers[-1].ids = row_names
        if n_targets > 1:
            makers[-1].payload["of_targets"] = [k or 0, n_targets]
    for maker in makers:
        maker.budget.share(len(makers))
    _make_panels(makers, progress_bar)
    first, *others = makers
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


def _make_panels(makers: list[_Maker], shown: bool | None) -> None:
    """Make all panels, with a bar or, by default without a terminal, with lines."""
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


def _what(makers: list[_Maker]) -> str:
    """Return the names of the targets."""
    return ", ".join(maker.payload["target"] for maker in makers)


def _rows_wanted(rows: Any) -> int | str:
    if rows in ("sample", "none"):
        return rows
    if isinstance(rows, int | np.integer) and not isinstance(rows, bool) and rows >= 0:
        return int(rows) or "none"
    raise ParameterError(f"rows of report must be 'sample', 'none' or a whole number, got {rows!r}")


class _Maker:
    """Makes the panels one after another; later ones use the results of earlier ones."""

    def __init__(
        self,
        model: Any,
        given: Given,
        train: Given | None,
        wanted: int | str,
        target: str | None,
        seed: int,
    ) -> None:
        self.model, self.wanted, self.seed, self.train = model, wanted, seed, train
        self.given, y = given, given.y
        self.sheets: dict[str, Any] | None = None
        self.ids: list[str] | None = None
        self.learned: tuple[np.ndarray, Judged] | None = None
        self.ask, self.budget = Asked(model), Budget(model)
        matrix = matrix_of(model, given.X)
        unseen = unseen_of(model.schema_, given.X, matrix)
        self.y = _target(model, y, matrix.n_rows)
        self.groups = groups_of(model, given.group, matrix.n_rows)
        self.n_rows = matrix.n_rows
        used = np.arange(matrix.n_rows)
        if matrix.n_rows * matrix.n_columns > _MOST_CELLS:
            most = max(1_000, _MOST_CELLS // matrix.n_columns)
            if self.groups is not None:
                used, self.groups = whole_groups(self.groups, most, seed)
            else:
                rng = np.random.default_rng(seed)
                used = np.sort(rng.choice(matrix.n_rows, min(most, matrix.n_rows), replace=False))
            matrix = matrix.take(used)
        self.used, self.y, self.matrix = used, self.y[used], matrix
        self.rows = np.array(matrix.rows(0, matrix.n_rows))
        self.unseen = {f: _at(words, used) for f, words in unseen.items()}
        labels = self.ask.labels
        names = None if labels is None else [format_category(one) for one in labels]
        named = (
            y.name if isinstance(getattr(y, "name", None), str) else None
        )  # a pandas or polars series
        name = target or getattr(model, "notes_", {}).get("target") or named or "y"
        self.payload: dict[str, Any] = {
            "task": "ranking"
            if self.groups is not None
            else "regression"
            if labels is None
            else "classification",
            "labels": names,
            "target": str(name),
        }
        self.seconds: dict[str, float] = {}
        self.judged: Judged
        self.code: ModelCode

    def steps(self) -> list[tuple[str, Callable[[], None]]]:
        return [
            ("predictions", self._predict),
            ("figures", self._figures),
            ("columns", self._columns),
            ("learning curve", self._history),
            ("importances", self._importances),
            ("curves", self._curves),
            ("pairs", self._pairs),
            ("rows", self._rows),
            ("trees", self._trees),
            ("worksheets", self._sheets),
        ]

    # ------------------------------------------------------------------ panels
    def _predict(self) -> None:
        self.answers = self.ask(self.rows)
        if self.ask.labels is None and self.answers.shape[1] > 1:
            raise ParameterError(
                f"{type(self.model).__name__} predicts {self.answers.shape[1]} quantiles; a report needs a "
                "model with a single output: fit one quantile"
            )
        if np.abs(self.answers).max(initial=0.0) > _LARGEST:
            raise DataError(
                f"{type(self.model).__name__} predicts numbers beyond ±{_LARGEST:g}, whose squares leave "
                "float64: a report cannot show them; divide the target by a constant and fit again"
            )
        self.judged = self._judged(self.y, self.answers, self.groups)
        facts = overview_of(self.model, self.n_rows, len(self.rows), self.rows.shape[1])
        self.payload["overview"] = facts

    def _judged(self, y: np.ndarray, predicted: np.ndarray, groups: np.ndarray | None) -> Judged:
        if groups is not None:
            return Ranked(np.asarray(y, np.float64), predicted, groups)
        known = None if self.ask.labels is None else np.asarray(self.model.classes_)
        return judge(known, y, predicted, self.payload["labels"])

    def _figures(self) -> None:
        self.payload["figures"] = self.judged.figures(self.seed)
        self.payload["headline"] = headline(self.judged, self.payload["figures"])
        if self.train is not None:
            matrix = matrix_of(self.model, self.train.X)
            y = _target(self.model, self.train.y, matrix.n_rows)
            rows = np.array(matrix.rows(0, matrix.n_rows))
            predicted = self.ask(rows)
            judged = self._judged(
                y, predicted, groups_of(self.model, self.train.group, matrix.n_rows)
            )
            self.learned = rows, judged
            kept = history.out_of_bag_of(self.model, matrix, judged)
            if kept is not None:
                self.payload["overview"]["oob_figures"] = len(kept[0])
                judged = Judged(judged.actual[kept[0]], kept[1], judged.labels)
            self.payload["train_figures"] = judged.figures(self.seed)
            self.payload["overview"]["train_rows"] = matrix.n_rows
        if self.judged.labels is not None:
            self.payload["confusion"] = self.judged.confusion()
            self.payload["class_curves"] = self.judged.class_curves()
            self.payload["thresholds"] = self.judged.thresholds()
        elif self.groups is None:
            found = self.judged.residuals(self.seed)
            if self.wanted == "none":
                for name in ("predicted", "actual", "row"):
                    found[name] = []
                found["shown"] = 0
            else:
                found["row"] = self.used[found["row"]].tolist()
                if self.ids is not None:
                    found["name"] = [self.ids[row] for row in found["row"]]
            self.payload["residuals"] = found

    def _columns(self) -> None:
        self.payload["columns"] = columns_of(self.model.schema_, self.matrix, self.unseen)
        if self.wanted == "none":  # names of unseen categories are values of single rows
            for column in self.payload["columns"]:
                if "unseen" in column:
                    column["unseen"][2] = []
        self.payload["duplicates"] = duplicates_of(self.model.schema_, self.rows)
        classes = self.judged.labels is not None
        actual = self.judged.actual
        self.payload["hints"] = hints_of(self.model.schema_, self.matrix, actual, classes=classes)

    def _history(self) -> None:
        found = {
            "learning": history.learning_curve(self.model, self.rows, self.judged, self.learned),
            "theory": history.theory_of(self.model, self.rows, self.y),
            "oob": history.oob_of(self.model),
            "pruning": history.pruning_of(self.model),
        }
        self.payload.update({name: panel for name, panel in found.items() if panel is not None})

    def _importances(self) -> None:
        panel = effects_panel.importances_panel(
            self.model, self.rows, self.y, self.train, self.budget
        )  # fmt: skip
        if self.groups is not None:  # shuffled rows would be judged as numbers
            panel = [one for one in panel if one["kind"] != "permutation"]
        self.payload["importances"] = panel
        self.order = effects_panel.order_of(panel, self.rows.shape[1])
        self.payload["order"] = self.order

    def _curves(self) -> None:
        self.payload["dependence"] = effects_panel.dependence_of(
            self.model, self.rows, self.order, self.budget, lines=self.wanted != "none"
        )

    def _pairs(self) -> None:
        self.payload["pairs"] = effects_panel.pairs_of(
            self.model, self.rows, self.order, self.budget
        )

    def _trees(self) -> None:
        room = (PAGE_BYTES - fixed_size()) // self.budget.pages - _RESERVED
        room = max(room - len(as_json(self.payload).encode()), _LEAST_ROOM)
        self.code = code = code_of_model(self.model, room)
        room -= code.bytes if code.steps is not None else 0
        used = code.show(round(room * (1 - _SHEETS * (self._training_table is not None))))
        self.budget.room = room - used
        self.payload["trees"] = trees_panel(self.model, code)
        n = self.payload["trees"]["total"] if code.too_large else len(code.trees)
        if code.shown < n:
            self.payload["trees"]["cut"] = f"The page shows {code.shown:,} of {n:,} trees."
            self.budget.left_out.append(self.payload["trees"]["cut"])
        if code.too_large:
            self.budget.left_out.append(f"There is no What if: {code.reason}.")
        rules = rules_panel(self.model)
        if rules is not None:
            self.payload["rules"] = rules

    def _rows(self) -> None:
        chosen = choose_rows(self.judged, self.wanted, self.seed)
        panel = rows_panel(
            self.model, self.rows, self.judged, chosen, self.used, self.unseen, self.ids
        )
        self.payload["rows"] = panel
        if len(chosen):
            judged = Judged(self.judged.actual[chosen], self.answers[chosen], self.judged.labels)
            found = history.proximity_map(self.model, self.rows[chosen], judged)
            if found is not None:
                self.payload["proximity"] = found

    def _sheets(self) -> None:
        if "of_targets" in self.payload:
            self.sheets = without_sheets("its splits were chosen for all targets together")
            return
        self.sheets = sheets_panel(
            self.model,
            self.code.sources[: self.code.shown],
            self._training_table,
            self.budget,
            rows_shown=self.wanted != "none",
        )

    @property
    def _training_table(self) -> Given | None:
        """The table that the model was fitted on, if it is known."""
        return self.given if self.train is None and self._may_be_training else self.train

    @property
    def _may_be_training(self) -> bool:
        """Whether the rows given are as many as the model was fitted on."""
        bags = getattr(self.model, "_bags", None)
        n = getattr(self.model, "_n_rows", None) if bags is None else bags.n_rows
        if n is None:
            trees = trees_of(self.model)
            n = int(trees[0].count[0]) if trees else -1
        return n == self.n_rows

    def model_part(self) -> dict[str, Any]:
        """Return the part that the page computes predictions from."""
        return {
            "steps": self.code.steps,
            "reason": self.code.reason,
            "trees": self.code.trees,
            "sheets": self.sheets,
        }


def _at(words: dict[int, str], used: np.ndarray) -> dict[int, str]:
    """Return entries of rows by their place in the rows that are used."""
    places = np.searchsorted(used, list(words))
    found = zip(places.tolist(), words.items(), strict=True)
    return {at: word for at, (row, word) in found if at < len(used) and used[at] == row}


def _target(model: Any, y: Any, n_rows: int) -> np.ndarray:
    """Return y as an array of labels or numbers, one for every row."""
    if not hasattr(model, "classes_"):
        values, _ = numbers(y, n_rows=n_rows, estimator_name=type(model).__name__)
        if values.shape[1] > 1:
            raise DataError("y has several columns: a report is about one target")
        return values[:, 0]
    found = np.asarray(y)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1 or len(found) != n_rows:
        raise DataError(f"y has the shape {found.shape} for {n_rows} rows of X: one label for each")
    classes = np.asarray(model.classes_)
    if found.dtype == object or classes.dtype == object:
        found = found.astype(object)
    if not np.isin(found, classes).any():
        shown = ", ".join(map(str, classes[:4].tolist()))
        raise DataError(
            f"no label of y is a class of the model, whose classes are {shown}: give labels, not codes"
        )
    return found
