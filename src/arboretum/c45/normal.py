"""Normal deviates, from arithmetic and the engine's own logarithm: the same bits on every machine."""

from __future__ import annotations

from math import inf, sqrt

from arboretum.engine.elementwise import log

__all__ = ["upper_deviate"]

# Quotients of polynomials, highest power first: Wichura (1988), The percentage points of the normal
# distribution, algorithm AS 241, Applied Statistics 37: near the middle, in the tails, far out
_MIDDLE = (
    (
        2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
        4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
        1.3314166789178437745e2, 3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
        2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
        4.2313330701600911252e1, 1.0,
    ),
)  # fmt: skip
_TAIL = (
    (
        7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
        1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
        4.63033784615654529590e0, 1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
        1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
        2.05319162663775882187e0, 1.0,
    ),
)  # fmt: skip
_FAR = (
    (
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
        2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
        5.46378491116411436990e0, 6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
        7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
        5.99832206555887937690e-1, 1.0,
    ),
)  # fmt: skip


def upper_deviate(share: float) -> float:
    """Return z such that this share of a standard normal distribution lies above it.

    >>> round(upper_deviate(0.25), 12), upper_deviate(0.5)
    (0.674489750196, 0.0)
    """
    if not 0.0 < share < 1.0:
        return inf if share <= 0.0 else -inf
    q = 0.5 - share
    if abs(q) <= 0.425:
        return q * _quotient(_MIDDLE, 0.180625 - q * q)
    r = sqrt(-float(log(share if q > 0.0 else 1.0 - share)))
    z = _quotient(_TAIL, r - 1.6) if r <= 5.0 else _quotient(_FAR, r - 5.0)
    return z if q > 0.0 else -z


def _quotient(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: float) -> float:
    above, below = 0.0, 0.0
    for a, b in zip(*polynomials, strict=True):
        above, below = above * x + a, below * x + b
    return above / below
