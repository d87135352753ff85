"""scikit-learn's names of losses, and further ones, for Friedman's boosting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arboretum.boosting.loss import classes, numbers
from arboretum.boosting.loss.loss import Loss
from arboretum.boosting.loss.user import UserLoss

__all__ = ["CLASS_LOSSES", "NUMBER_LOSSES", "make_loss"]

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
