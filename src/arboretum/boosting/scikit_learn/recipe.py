"""From the parameters of HistGradientBoosting* and a learned table to the recipe of the booster."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.names.scikit_learn import SCIKIT_LEARN
from arboretum.boosting.second_order.constraints import interaction_groups
from arboretum.boosting.second_order.recipe import MANY, NO_RULES, BoostPlan, Recipe
from arboretum.boosting.second_order.tables import Draws, Histograms
from arboretum.engine.second_order.score import SplitRules
from arboretum.errors import DataError, ParameterError
from arboretum.grow.settings import signs_of_columns

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective import Objective
    from arboretum.boosting.scikit_learn.model import HistModel
    from arboretum.boosting.second_order.recipe import TrainingTable
    from arboretum.data.schema import Schema

__all__ = ["make_recipe"]

_LEAST_HESSIAN = 1e-3  # of a side
_FEW = 10.0  # rows of a category that takes part in an order, and the smoothing of its place
_LABELS = {"gamma": "strictly positive y.", "poisson": "non-negative y and sum(y) > 0."}


def make_recipe(model: HistModel, training: TrainingTable, seed: int, n_jobs: int) -> Recipe:
    """Return the recipe."""
    objective = _objective(model, training)
    draws = model.max_features < 1.0
    seed = seed if draws else 0  # so that fits without draws repeat themselves, as in scikit-learn
    schema = training.schema
    plan = BoostPlan(
        rules=_rules(model, schema.n_features),
        learning_rate=float(model.learning_rate),
        unsplit_answers=objective.renew_leaf is not None,
        ends_unsplit=False,
        seed=seed,
        n_jobs=n_jobs,
        monotone=_signs(model, schema, objective.n_outputs),
        groups=_groups(model.interaction_cst, schema),
    )
    bins = Histograms(
        int(model.max_bins), seed=seed, min_data_in_bin=1, weighted=True, bundle=True, at_quantiles=True
    )  # fmt: skip
    done = 0 if training.earlier is None else training.earlier.n_rounds
    columns = np.arange(schema.n_features, dtype=np.int64)
    return Recipe(objective, plan, bins, Draws([seed], columns), int(model.max_iter) - done)


def _objective(model: HistModel, training: TrainingTable) -> Objective:
    """Return the loss; raise if labels do not fit it."""
    n = training.n_classes
    name = f"{model.loss} of classes" if (n or 1) > 2 else model.loss
    settings = SCIKIT_LEARN.settings_of(model, "objectives")
    objective = SCIKIT_LEARN.find_objective(name, n, **settings)
    try:
        objective.check(training.y, training.weight)
    except DataError as error:
        needs = f"loss={model.loss!r} requires {_LABELS[name]} " if name in _LABELS else ""
        raise DataError(f"{needs}{error}") from error
    return objective


def _rules(model: HistModel, n_features: int) -> SplitRules:
    drawn = math.ceil(model.max_features * n_features)
    least = int(model.min_samples_leaf)
    return NO_RULES._replace(
        l2=float(model.l2_regularization),
        min_weight=_LEAST_HESSIAN,
        min_rows=float(least) if least > 1 else 0.0,  # a side with H has a row
        cat_smooth=_FEW,
        cat_min_rows=_FEW,
        max_depth=MANY if model.max_depth is None else int(model.max_depth),
        max_leaves=MANY if model.max_leaf_nodes is None else int(model.max_leaf_nodes),
        node_columns=drawn if drawn < n_features else 0,
        as_scikit_learn=True,
    )


def _signs(model: HistModel, schema: Schema, n_outputs: int) -> np.ndarray | None:
    if model.monotonic_cst is not None and n_outputs > 1:
        raise ParameterError(
            "monotonic constraints are not supported for multiclass classification: monotonic_cst works for "
            "numbers and for two classes"
        )
    return signs_of_columns(model.monotonic_cst, schema, type(model).__name__)


def _groups(given: Any, schema: Schema) -> np.ndarray | None:
    """Return the groups of every column; columns that none names are one more group."""
    if given is None:
        return None
    n = schema.n_features
    if isinstance(given, str):
        size = 2 if given == "pairwise" and n > 1 else 1
        return interaction_groups(list(combinations(range(n), size)), schema)
    try:
        groups = [{schema.names.index(c) if c in schema.names else c for c in one} for one in given]
    except TypeError:
        raise ParameterError(
            f"Interaction constraints must be a sequence of tuples or lists, got: {given!r}"
        ) from None
    for group in groups:
        if not all(isinstance(c, int | np.integer) and 0 <= c < n for c in group):
            raise ParameterError(
                "Interaction constraints must consist of integer indices in [0, n_features - 1] = "
                f"[0, {n - 1}], specifying the position of features, got invalid indices: {group!r}; names "
                "of columns are accepted, too"
            )
    rest = set(range(n)).difference(*groups)
    return interaction_groups([sorted(one) for one in (*groups, rest) if one], schema)
