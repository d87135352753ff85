"""scikit-learn's names of losses, and more of their kind, for Friedman's boosting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from arboretum.boosting.loss.classes import Exponential, Logistic, Softmax
from arboretum.boosting.loss.loss import Loss
from arboretum.boosting.loss.numbers import Huber, Power, Quantile, SquaredError, absolute_error
from arboretum.boosting.loss.user import UserLoss

__all__ = ["LOSSES", "make_loss", "names_of"]


class LossEntry(NamedTuple):
    """How a loss is made, of the number of classes, alpha and power; and what it predicts."""

    make: Callable[[int, float, float], Loss]
    predicts: str = "numbers"


LOSSES = {
    "squared_error": LossEntry(lambda k, alpha, power: SquaredError()),
    "absolute_error": LossEntry(lambda k, alpha, power: absolute_error()),
    "huber": LossEntry(lambda k, alpha, power: Huber(share=alpha)),
    "quantile": LossEntry(lambda k, alpha, power: Quantile(alpha)),
    "poisson": LossEntry(lambda k, alpha, power: Power(1.0, "poisson")),
    "gamma": LossEntry(lambda k, alpha, power: Power(2.0, "gamma")),
    "tweedie": LossEntry(lambda k, alpha, power: Power(float(power), "tweedie")),
    "log_loss": LossEntry(lambda k, alpha, power: Logistic() if k == 2 else Softmax(k), "classes"),
    "exponential": LossEntry(lambda k, alpha, power: Exponential(), "classes"),
}


def names_of(predicts: str) -> tuple[str, ...]:
    """Return the losses of "numbers" or "classes".

    >>> names_of("classes")
    ('log_loss', 'exponential')
    """
    return tuple(name for name, entry in LOSSES.items() if entry.predicts == predicts)


def make_loss(loss: Any, n_classes: int | None, alpha: float, power: float) -> Loss:
    """Return the loss of a name, or the one made of a user's object.

    Parameters
    ----------
    loss : str or object with ``gradient`` and ``hessian``
    n_classes : int or None
        None: y holds numbers.
    alpha, power : float
        Of huber and quantile, of tweedie.

    Examples
    --------
    >>> make_loss("log_loss", 3, 0.9, 1.5).n_classes
    3
    """
    if not isinstance(loss, str):
        return UserLoss(loss, n_classes)
    return LOSSES[loss].make(n_classes or 0, alpha, power)
