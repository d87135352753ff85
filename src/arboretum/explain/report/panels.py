"""The panels of a report, made one after another; those that do not apply to the model are left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arboretum.errors import DataError, ParameterError
from arboretum.explain.dependence.model_function import ModelFunction
from arboretum.explain.report import effects_panel, history
from arboretum.explain.report.beeswarm import beeswarm_of
from arboretum.explain.report.budget import PAGE_BYTES, Budget
from arboretum.explain.report.data_sheet import columns_of, duplicates_of, hints_of, unseen_of
from arboretum.explain.report.inputs import groups_of, target_of, whole_groups
from arboretum.explain.report.judged import Judged, judge
from arboretum.explain.report.model_code import ModelCode, code_of_model
from arboretum.explain.report.overview import overview_of
from arboretum.explain.report.page import as_json, fixed_size
from arboretum.explain.report.ranked import Ranked
from arboretum.explain.report.rows_panel import choose_rows, rows_panel
from arboretum.explain.report.sheets_panel import sheets_panel, without_sheets
from arboretum.explain.report.trees_panel import rules_panel, trees_panel
from arboretum.explain.report.weak_groups import groups_on_page
from arboretum.explain.worksheet.family import Given
from arboretum.structure.condition import format_category

__all__ = ["PanelMaker"]

_LARGEST = 1e100  # absolute value of a prediction or a target

_SHEETS = 0.4  # for worksheets: share of the room that the lists of trees leave
_RESERVED = 20_000  # bytes for the parts written after the trees
_LEAST_ROOM = 200_000  # for the trees, however large the panels are
_MOST_CELLS = 40_000_000  # rows times columns; larger tables are sampled


class PanelMaker:
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
        self.function = ModelFunction(model, "report")
        self.anatomy = self.function.anatomy
        columns = self.anatomy.columns
        self.schema, self.budget = columns.schema, Budget(list(self.anatomy.all_trees()))
        matrix = columns.numbers(given.X)
        unseen = unseen_of(self.schema, given.X, matrix)
        self.y = target_of(model, y, matrix.n_rows)
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
        labels = self.function.labels
        names = None if labels is None else [format_category(one) for one in labels]
        named = getattr(y, "name", None)  # of a pandas or polars series
        noted = self.anatomy.history.notes.get("target")
        name = target or noted or (named if isinstance(named, str) else "y")
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
            ("SHAP values", self._beeswarm),
            ("curves", self._curves),
            ("pairs", self._pairs),
            ("rows", self._rows),
            ("trees", self._trees),
            ("worksheets", self._sheets),
        ]

    # ------------------------------------------------------------------ panels
    def _predict(self) -> None:
        self.answers = self.function(self.rows)
        if self.function.labels is None and self.answers.shape[1] > 1:
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
        known = None if self.function.labels is None else self.anatomy.labels
        return judge(known, y, predicted, self.payload["labels"])

    def _figures(self) -> None:
        self.payload["figures"] = self.judged.figures(self.seed)
        self.payload["headline"] = self.judged.headline(self.payload["figures"])
        if self.train is not None:
            matrix = self.anatomy.columns.numbers(self.train.X)
            y = target_of(self.model, self.train.y, matrix.n_rows)
            rows = np.array(matrix.rows(0, matrix.n_rows))
            predicted = self.function(rows)
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
        self.payload["columns"] = columns_of(self.schema, self.matrix, self.unseen)
        if (
            self.wanted == "none"
        ):  # the names of unseen categories would reveal values of single rows
            for column in self.payload["columns"]:
                if "unseen" in column:
                    column["unseen"][2] = []
        self.payload["duplicates"] = duplicates_of(self.schema, self.rows)
        classes = self.judged.labels is not None
        actual = self.judged.actual
        self.payload["hints"] = hints_of(self.schema, self.matrix, actual, classes=classes)
        if self.groups is None:
            self.payload["weak"] = groups_on_page(self.schema, self.rows, self.judged.mistakes())

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
        if self.groups is not None:  # shuffled rows would be scored as numbers
            panel = [one for one in panel if one["kind"] != "permutation"]
        self.payload["importances"] = panel
        self.order = effects_panel.order_of(panel, self.rows.shape[1])
        self.payload["order"] = self.order

    def _beeswarm(self) -> None:
        if self.wanted == "none":  # every dot is the value of a row
            return
        labels = self.payload["labels"]
        found = beeswarm_of(self.model, self.rows, self.budget, labels, self.seed)
        if found is not None:
            self.payload["beeswarm"] = found

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
        """True if the table has as many rows as the model was fitted on."""
        return self.anatomy.history.n_rows == self.n_rows

    def model_part(self) -> dict[str, Any]:
        """Return the part from which the page computes predictions."""
        return {
            "steps": self.code.steps,
            "reason": self.code.reason,
            "trees": self.code.trees,
            "sheets": self.sheets,
        }


def _at(words: dict[int, str], used: np.ndarray) -> dict[int, str]:
    """Return the entries of the rows that are used, by their place among these."""
    places = np.searchsorted(used, list(words))
    found = zip(places.tolist(), words.items(), strict=True)
    return {at: word for at, (row, word) in found if at < len(used) and used[at] == row}
