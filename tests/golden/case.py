"""One fit of the golden set: how a model is made, fitted and asked.

A case is named family/option; a family is what one test checks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import arboretum as arb
from tests.golden.tables import Table, table

Fit = Callable[[Any, Table, str, bool], Any]
Answer = Callable[[Any, Any], Any]


# ---------------------------------------------------------------------- ways to fit
def fit(model: Any, t: Table, target: str, weighted: bool, **arguments: Any) -> Any:
    if weighted:
        arguments["sample_weight"] = t.weights[: len(t.target(target))]
    return model.fit(t.rows(new=False), t.target(target), **arguments)


def prune_cv(model: Any, t: Table, target: str, weighted: bool, *, rule: str) -> Any:
    return model.prune_cv(t.rows(new=False), t.target(target), cv=4, rule=rule)


def watched(model: Any, t: Table, target: str, weighted: bool, **arguments: Any) -> Any:
    """Fit with the new rows as the set that is watched."""
    eval_set = [(t.rows(new=True), t.target(target, new=True))]
    return fit(model, t, target, weighted, eval_set=eval_set, **arguments)


def starting(model: Any, t: Table, target: str, weighted: bool, *, argument: str) -> Any:
    """Fit from scores of the user's own."""
    scores = np.round(t.target(target) / 2, 2)
    return fit(model, t, target, weighted, **{argument: scores})


def twice(
    model: Any,
    t: Table,
    target: str,
    weighted: bool,
    *,
    what: str = "n_estimators",
    rounds: int = 8,
) -> Any:
    """Fit, and go on where the first fit ended (warm_start)."""
    fit(model, t, target, weighted)
    return fit(model.set_params(**{what: rounds}), t, target, weighted)


def doubled(model: Any, t: Table, target: str, weighted: bool) -> Any:
    """Fit two targets: that of the table, and that of the row before."""
    y = t.target(target)
    return model.fit(t.rows(new=False), np.column_stack([y, np.roll(y, 1)]))


def on_top(model: Any, t: Table, target: str, weighted: bool, *, argument: str) -> Any:
    """Fit, and let a second model go on from the first."""
    first = type(model)(**model.get_params())
    return fit(model, t, target, weighted, **{argument: fit(first, t, target, weighted)})


def ranked(model: Any, t: Table, target: str, weighted: bool, **arguments: Any) -> Any:
    """Fit on lists, with the new rows, five lists of 12, as the set that is watched."""
    X, y = t.rows(new=False), t.target(target)
    if weighted and isinstance(model, arb.XGBRanker):
        arguments["sample_weight"] = t.weights  # one per list
    elif weighted:
        arguments["sample_weight"] = np.repeat(t.weights, t.list_sizes)
    eval_set = [(t.rows(new=True), t.target(target, new=True))]
    return model.fit(
        X, y, group=t.list_sizes, eval_set=eval_set, eval_group=[[12] * 5], **arguments
    )


def ranked_by_id(model: Any, t: Table, target: str, weighted: bool) -> Any:
    ids = np.repeat(np.arange(len(t.list_sizes)), t.list_sizes)
    return model.fit(t.rows(new=False), t.target(target), qid=ids)


# ---------------------------------------------------------------------- answers
def usual_answers(model: Any, X: Any) -> list[Any]:
    """Return what the model says about rows, every way that its kind has."""
    if hasattr(model, "predict"):
        found = [model.predict(X)]
        return [model.predict_proba(X), *found] if hasattr(model, "predict_proba") else found
    return [model.transform(X)]


@dataclass(frozen=True)
class Case:
    """A fit and the answers that are kept of it."""

    name: str
    make: Callable[[], Any]
    table: str
    target: str
    fit: Fit = fit
    weighted: bool = False
    saves: bool = True
    more: tuple[Answer, ...] = field(default=())

    @property
    def family(self) -> str:
        return self.name.split("/")[0]

    def fitted(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few trees, unseen words: told elsewhere
            return self.fit(self.make(), table(self.table), self.target, self.weighted)

    def answers(self, model: Any) -> list[Any]:
        rows = table(self.table).rows(new=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [*usual_answers(model, rows), *(ask(model, rows) for ask in self.more)]


def asks(method: str, **arguments: Any) -> Answer:
    return lambda model, X: _listed(getattr(model, method)(X, **arguments))


def reads(attribute: str) -> Answer:
    return lambda model, X: getattr(model, attribute)


def _listed(answer: Any) -> Any:
    """Return an answer as it is; the parts of one that comes in stages, or of a tuple, as a list."""
    return answer if hasattr(answer, "shape") or hasattr(answer, "columns") else list(answer)


def plain_dicts(value: Any) -> Any:
    """Return nested dictionaries as plain ones: LightGBM's are ordered."""
    if isinstance(value, dict):
        return {key: plain_dicts(item) for key, item in value.items()}
    return list(value)


def family(name: str) -> Callable[..., Case]:
    """Return a short way to write cases: an option, how to make the model, and "table.target"."""

    def case(option: str, make: Callable[[], Any], where: str, **more: Any) -> Case:
        return Case(f"{name}/{option}", make, *where.split("."), **more)

    return case
