"""scikit-learn's names of losses, and further ones for Friedman's boosting.

`make_loss` serves GradientBoosting*, `SCIKIT_LEARN` the second-order boosting of HistGradientBoosting*.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from arboretum.base.parameters import real
from arboretum.boosting.loss import classes, numbers
from arboretum.boosting.loss.loss import Loss
from arboretum.boosting.loss.user import UserLoss
from arboretum.boosting.names import entries as d
from arboretum.errors import ParameterError

__all__ = ["CLASS_LOSSES", "NUMBER_LOSSES", "SCIKIT_LEARN", "make_loss"]

NUMBER_LOSSES: dict[str, Callable[[float, float], Loss]] = {
    "squared_error": lambda alpha, power: numbers.SquaredError(),
    "absolute_error": lambda alpha, power: numbers.AbsoluteError(),
    "huber": lambda alpha, power: numbers.Huber(share=alpha),
    "quantile": lambda alpha, power: numbers.Quantile(alpha),
    "poisson": lambda alpha, power: numbers.Poisson(),
    "gamma": lambda alpha, power: numbers.Gamma(),
    "tweedie": lambda alpha, power: numbers.Tweedie(float(power)),
}
CLASS_LOSSES: dict[str, Callable[[int], Loss]] = {
    "log_loss": lambda k: classes.Logistic() if k == 2 else classes.Softmax(k),
    "exponential": lambda k: classes.Exponential(),
}


def make_loss(loss: Any, n_classes: int | None, alpha: float, power: float) -> Loss:
    """Return the loss for a name, or for a user's object.

    Parameters
    ----------
    loss : str or object with ``gradient`` and ``hessian``
    n_classes : int or None
        None for numbers.
    alpha, power : float
        Parameters of huber and quantile, and of tweedie.

    Examples
    --------
    >>> make_loss("tweedie", None, 0.9, 1.5)
    Tweedie(power=1.5)
    """
    if not isinstance(loss, str):
        return UserLoss(loss, n_classes)
    if n_classes is None:
        return NUMBER_LOSSES[loss](alpha, power)
    return CLASS_LOSSES[loss](n_classes)


# ---------------------------------------------------------------------- second-order boosting
def _quantile(s: d.Settings) -> numbers.Quantile:
    if s["quantile"] is None:
        raise ParameterError(
            "loss='quantile' needs quantile, the level to predict: 0.5 is the median"
        )
    return numbers.Quantile(float(s["quantile"]))


def _no_metric(name: Any, settings: d.Settings) -> NoReturn:
    raise SCIKIT_LEARN.unknown("metric", name, ())


_objective = partial(d.objective, metric="loss")  # rounds are scored by the loss, or by a scorer
_OBJECTIVES = {
    "squared_error": _objective(numbers.SquaredError),
    "absolute_error": _objective(numbers.AbsoluteError),
    "quantile": _objective(_quantile),
    "poisson": _objective(numbers.Poisson),
    "gamma": _objective(numbers.Gamma),
    "log_loss": _objective(classes.Logistic, predicts="two classes", domain="binary"),
    "log_loss of classes": _objective(
        lambda s: classes.Softmax(s["n_classes"]), predicts="classes", begin="shares"
    ),
}
SCIKIT_LEARN = d.Dialect(
    "scikit-learn", {"quantile": d.Setting(real(0, 1), None)}, _OBJECTIVES, {}, _no_metric
)
