"""One estimator of a bagging ensemble: copied from the base, fitted on its bag, used on its columns.

The base may come from any library. An estimator that takes sample weights gets the whole table and its bag
as weights, so it sees every class and every category; any other gets the rows themselves, as often as they
were drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from arboretum.base.anatomy import has_anatomy
from arboretum.base.sampling import BagRules
from arboretum.data.column_kinds import resolve_wishes
from arboretum.data.schema import Schema
from arboretum.data.slices import take_columns, take_rows
from arboretum.errors import DataError, ParameterError

__all__ = [
    "COLUMN_KINDS",
    "HasMembers",
    "answer_classes",
    "answer_numbers",
    "check_base",
    "fit_member",
    "flat",
    "kinds_of_base",
    "listed",
    "make_member",
    "member_from_state",
    "member_to_state",
    "parameters_of_tree",
    "readable",
    "routed",
    "run_in_order",
    "tags_like",
    "takes_weights",
    "tree_member",
    "with_column_kinds",
]


class HasMembers:
    """Mixin: a fitted ensemble is the sequence of its members, `estimators_`."""

    estimators_: Any

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, number: Any) -> Any:
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)


def check_base(owner: Any, base: Any, *, classifies: bool) -> None:
    """Raise a ParameterError if a classifier is given where a regressor is needed, or the other way round."""
    from sklearn.base import is_classifier, is_regressor

    if (is_regressor if classifies else is_classifier)(base):
        wanted = "classifier" if classifies else "regressor"
        raise ParameterError(
            f"{type(owner).__name__} needs a {wanted}, but its estimator is a {type(base).__name__}"
        )


def takes_weights(base: Any) -> bool:
    """Return True if an estimator's fit takes `sample_weight`; with metadata routing, if it requests it."""
    from sklearn import get_config
    from sklearn.utils.metadata_routing import get_routing_for_object
    from sklearn.utils.validation import has_fit_parameter

    if get_config()["enable_metadata_routing"]:
        return bool(get_routing_for_object(base).consumes("fit", ("sample_weight",)))
    return bool(has_fit_parameter(base, "sample_weight"))


def routed(owner: Any, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a method that scikit-learn's metadata routing passes to the base."""
    if not params:
        return {}
    from sklearn.utils.metadata_routing import _raise_for_params, process_routing

    _raise_for_params(params, owner, method)
    (given,) = process_routing(owner, method, **params).estimator.values()
    return dict(given)


def readable(base: Any, X: Any) -> Any:
    """Return the rows of a table for its columns to be read; estimators of other libraries get ``X`` itself.

    Theirs may be an array of more dimensions, which is flattened, or have infinite values, read as missing.
    """
    if not isinstance(X, np.ndarray) or has_anatomy(base):
        return X
    cells = flat(X)
    infinite = (cells == np.inf) | (cells == -np.inf)
    return np.where(infinite, np.nan, cells) if np.any(infinite) else cells


def flat(X: Any) -> Any:
    """Return an array of more than two dimensions with the numbers of a row side by side."""
    return X.reshape(len(X), -1) if isinstance(X, np.ndarray) and X.ndim > 2 else X


def listed(estimators: Any) -> list[Any]:
    """Return estimators, given as a list or an array of rounds and classes, as a list.

    NumPy must not make an array of them: it would take a forest, which has a length, apart.
    """
    return estimators.ravel().tolist() if isinstance(estimators, np.ndarray) else list(estimators)


COLUMN_KINDS = ("categorical_features", "ordinal_features", "unseen")


def with_column_kinds(owner: Any, base: Any) -> Any:
    """Return the base as it is, or a copy with its owner's settings of the columns."""
    from sklearn.base import clone

    settings = {name: getattr(owner, name) for name in COLUMN_KINDS}
    settings = {name: value for name, value in settings.items() if value is not None}
    if not settings:
        return base
    known = base.get_params(deep=False)
    for name in settings:
        if name not in known:
            raise ParameterError(
                f"{name} of {type(owner).__name__} is for estimators that read columns of words "
                f"themselves, and {type(base).__name__} does not: leave it None, and encode the columns"
            )
    return clone(base).set_params(**settings)


def kinds_of_base(base: Any) -> dict[str, Any]:
    """Return an estimator's settings of the columns: arguments of `learn_schema`."""
    return {name: getattr(base, name, None) for name in COLUMN_KINDS[:2]}


def tags_like(tags: Any, estimators: list[Any]) -> Any:
    """Declare that a model takes the tables that all its estimators take."""
    from sklearn.utils import get_tags

    each = [get_tags(estimator).input_tags for estimator in estimators]
    for name in ("sparse", "allow_nan", "string", "categorical"):
        setattr(tags.input_tags, name, all(getattr(one, name) for one in each))
    return tags


def make_member(base: Any, bags: BagRules, number: int, names: tuple[str, ...]) -> Any:
    """Return an unfitted copy of the base with its own random state and the settings of its columns."""
    from sklearn.base import clone

    member = clone(base)
    known = member.get_params(deep=True)
    states = [name for name in known if name == "random_state" or name.endswith("__random_state")]
    if states:
        member.set_params(**dict.fromkeys(sorted(states), bags.random_state(number)))
    if not bags.all_columns:
        member.set_params(**_for_columns(known, bags.features(number), names))
    return member


def _for_columns(
    known: dict[str, Any], columns: np.ndarray, names: tuple[str, ...]
) -> dict[str, Any]:
    """Return the parameters that refer to columns, restricted to these columns."""
    settings: dict[str, Any] = {}
    kinds = {
        name: known.get(name)
        for name in ("categorical_features", "ordinal_features")
        if known.get(name) is not None and not isinstance(known[name], str)
    }
    if kinds:
        wishes = resolve_wishes(
            names, kinds.get("categorical_features"), kinds.get("ordinal_features")
        )
        here = [(place, wishes[f]) for place, f in enumerate(columns) if f in wishes]
        for name in kinds:
            mine = [(place, wish) for place, wish in here if name.startswith(wish.kind)]
            if isinstance(kinds[name], Mapping):
                settings[name] = {place: list(wish.order or ()) for place, wish in mine} or None
            else:
                settings[name] = [place for place, _ in mine] or None
    signs = known.get("monotonic_cst")
    if isinstance(signs, Mapping):
        by_place = {names.index(k) if isinstance(k, str) else int(k): v for k, v in signs.items()}
        settings["monotonic_cst"] = [by_place.get(f, 0) for f in columns.tolist()]
    elif signs is not None:
        settings["monotonic_cst"] = [signs[f] for f in columns.tolist()]
    return settings


def fit_member(
    number: int,
    base: Any,
    bags: BagRules,
    names: tuple[str, ...],
    X: Any,
    y: Any,
    weighs: bool,
    more: dict[str, Any],
) -> Any:
    """Fit an estimator on its bag and return it; ``weighs``: it takes the bag as sample weights.

    ``more``: other arguments of its fit; arrays with an entry per row are cut as the table is.
    """
    from sklearn.utils.validation import _check_method_params

    member = make_member(base, bags, number, names)
    if not bags.all_columns:
        X = take_columns(X, bags.features(number))
    try:
        if weighs:
            member.fit(X, y, sample_weight=bags.weights(number), **more)
        else:
            rows = np.repeat(np.arange(bags.n_rows), bags.counts(number).astype(np.int64))
            more = _check_method_params(X, params=more, indices=rows) if more else {}
            member.fit(take_rows(X, rows), y[rows], **more)
    except Exception as error:
        error.add_note(
            f"this is estimator {number} of the bag, a {type(member).__name__}; a bag may lack a "
            "class or a category"
        )
        raise
    return member  # fit itself may return something else


# ---------------------------------------------------------------------- trees as estimators
def parameters_of_tree(owner: Any, kind: Any) -> dict[str, Any]:
    """Return the parameters of an ensemble that its trees also have, but for what only a fit needs."""
    names = set(kind._get_param_names()) - {"random_state", "class_weight"}
    return {name: getattr(owner, name) for name in names if hasattr(owner, name)}


def tree_member(kind: Any, parameters: dict[str, Any], schema: Schema, **fitted: Any) -> Any:
    """Return a tree that an ensemble has grown as an estimator of its own; it shares the arrays."""
    member = kind(**parameters)
    member._take_schema(schema)
    vars(member).update(fitted)
    return member


# ---------------------------------------------------------------------- predictions
def answer_classes(member: Any, X: Any, classes: np.ndarray, **given: Any) -> np.ndarray:
    """Return class probabilities, or votes if the estimator has none: (rows, 1, classes)."""
    if hasattr(member, "predict_proba"):
        shares = np.asarray(member.predict_proba(X, **given))
        by_class = np.zeros((len(shares), len(classes)))
        by_class[:, _places(member.classes_, classes)] = shares
    else:
        settings = _places(member.predict(X, **given), classes)
        by_class = np.zeros((len(settings), len(classes)))
        by_class[np.arange(len(settings)), settings] = 1.0
    return by_class[:, None, :]


def _places(labels: Any, classes: np.ndarray) -> np.ndarray:
    """Return the positions of labels among the classes; a bag may lack some."""
    labels = np.asarray(labels)
    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    strange = np.flatnonzero(classes[places] != labels)
    if len(strange):
        raise DataError(
            f"an estimator of the bag predicts {labels[strange[0]]!r}, which is not a class of y: is it "
            "a classifier?"
        )
    return places


def answer_numbers(member: Any, X: Any, n_outputs: int, **given: Any) -> np.ndarray:
    """Return predicted numbers, (rows, outputs, 1)."""
    settings = np.asarray(member.predict(X, **given), dtype=np.float64)
    return settings.reshape(len(settings), n_outputs, 1)


# ---------------------------------------------------------------------- keeping
def member_to_state(member: Any, schema: Schema | None = None) -> dict[str, Any]:
    """Return what is kept of a fitted estimator; its columns only if they differ from those of ``schema``."""
    if not hasattr(member, "_get_fitted_state"):
        raise ParameterError(
            f"a {type(member).__name__} is not an estimator of arboretum, so it cannot be saved natively: "
            "keep the model with joblib"
        )
    own = None if member.schema_ == schema else member.schema_.to_state()
    return {"schema": own, "state": member._get_fitted_state()}


def member_from_state(base: Any, kept: Any, schema: Schema | None = None) -> Any:
    """Return the fitted estimator that was kept, with the parameters of ``base``."""
    if kept["schema"] is not None:
        schema = Schema.from_state(kept["schema"])
    return type(base)._from_fitted_state(base.get_params(deep=False), schema, kept["state"])


# ---------------------------------------------------------------------- many of them
def run_in_order(
    work: Callable[..., Any], numbers: range, n_jobs: int | None, threads: bool, *given: Any
) -> Iterator[Any]:
    """Yield ``work(number, *given)`` for all numbers in order, on threads or as joblib is configured."""
    from sklearn.utils.parallel import Parallel, delayed

    where = {"require": "sharedmem"} if threads else {}
    try:
        yield from Parallel(n_jobs=n_jobs, return_as="generator", **where)(
            delayed(work)(number, *given) for number in numbers
        )
    except Exception as error:
        if type(error).__name__ != "PicklingError":  # joblib's own, when a task cannot be sent
            raise
        # of the worker's traceback
        why = str(error.__cause__ or error).strip('"\n ').splitlines()[-1]
        raise ParameterError(
            f"the estimator or the table cannot be sent to other processes ({why}): set n_jobs=1, or "
            "fit inside joblib.parallel_config('threading')"
        ) from error
