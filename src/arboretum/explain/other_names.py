"""XGBoost's and LightGBM's names for what functions that show a model take.

plot_tree(booster=model, tree_idx=2, rankdir="LR")  ──►  plot_tree(model, tree=2, rotate=True)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from arboretum.boosting.xgboost.dumps import names_of_map
from arboretum.data.checks import did_you_mean
from arboretum.errors import ParameterError
from arboretum.explain.pick_tree import NoSuchTree

__all__ = ["booster_of", "names_of_booster", "takes_other_names"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_STATS = ("split_gain", "internal_weight", "leaf_weight")


def booster_of(model: Any) -> Any:
    """Return the booster of XGBoost's or LightGBM's estimators; other models as they are.

    >>> from arboretum import XGBRegressor
    >>> type(booster_of(XGBRegressor(n_estimators=1).fit([[0], [1]], [0, 1]))).__name__
    'XGBBooster'
    """
    from arboretum.boosting.lightgbm.answers import LGBMAnswers
    from arboretum.boosting.xgboost.answers import XGBAnswers

    if isinstance(model, XGBAnswers):
        return model.get_booster()
    return model.booster_ if isinstance(model, LGBMAnswers) else model


def names_of_booster(model: Any) -> Any:
    """Return the names that a booster gives the columns; None for other models."""
    from arboretum.boosting.lightgbm.booster import LGBMBooster
    from arboretum.boosting.xgboost.booster import XGBBooster

    if isinstance(model, LGBMBooster):
        return model.feature_name()
    return model.feature_names if isinstance(model, XGBBooster) else None


def _names_of_map(path: Any) -> list[str] | None:
    """Return the names in XGBoost's feature map; None for ""."""
    return [name for _, name in sorted(names_of_map(path).items())] if path else None


def _is_sideways(direction: Any) -> bool:
    if direction not in (None, "TB", "LR", "vertical", "horizontal"):
        raise ParameterError(
            "a tree grows 'TB' or 'vertical', or 'LR' or 'horizontal' (rankdir, orientation), got "
            f"{direction!r}"
        )
    return direction in ("LR", "horizontal")


def _same(value: Any) -> Any:
    return value


# name of a peer -> the names here, and what becomes of the value
_OTHER: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "tree_index": ("tree", _same),
    "tree_idx": ("tree", _same),
    "num_trees": ("tree", _same),
    "fmap": ("feature_names names", _names_of_map),
    "rankdir": ("rotate", _is_sideways),
    "orientation": ("rotate", _is_sideways),
    "with_stats": ("show_info", lambda wanted: _STATS if wanted else ()),
    "max_num_features": ("top", lambda most: None if most is not None and most < 1 else most),
}


def takes_other_names(function: _Function) -> _Function:
    """Decorate a function of a model so that it takes XGBoost's and LightGBM's names of its parameters.

    The function ends with ``**others``, which it passes on or, if it is called ``other_names``, leaves alone.
    """
    known = list(inspect.signature(function).parameters)
    first, last = known[0], known.pop()

    @wraps(function)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        by_index = "tree_index" in named
        for name in [name for name in named if name not in known]:
            owns, convert = (first, _same) if name == "booster" else _OTHER.get(name, ("", _same))
            own = next((one for one in owns.split() if one in known), "")
            if not own:
                if last == "other_names":
                    raise ParameterError(
                        f"{function.__name__} has no parameter {name!r}"
                        f"{did_you_mean(name, [*known[:-1], *_OTHER])}"
                    )
            elif own in named or (own == first and arguments):
                raise ParameterError(f"{name} and {own} of {function.__name__} are one: give one")
            else:
                named[own] = convert(named.pop(name))
        try:
            return function(*arguments, **named)
        except NoSuchTree as error:
            raise NoSuchTree(f"{'tree_index is out of range. ' * by_index}{error}") from None

    return wrapped  # type: ignore[return-value]
