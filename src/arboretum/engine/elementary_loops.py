"""The loops behind elementwise.py; a separate file, because elementwise.py is imported without Numba."""

from arboretum.engine import elementary
from arboretum.engine.compiler.decorators import kernel

__all__ = ["exp_each", "expm1_each", "log1p_each", "log2_each", "log_each", "log_gamma_each"]
__all__ += ["one_probability", "power_each", "probability_each", "softmax_rows", "softplus_each"]


@kernel
def exp_each(x, out):
    """Write e**x of every number.

    x (n,) float64; out (n,) float64, written.
    """
    for i in range(len(x)):
        out[i] = elementary.exp(x[i])


@kernel
def expm1_each(x, out):
    """Write e**x - 1 of every number.

    x (n,) float64; out (n,) float64, written.
    """
    for i in range(len(x)):
        out[i] = elementary.expm1(x[i])


@kernel
def log_each(x, out):
    """Write the natural logarithm of every number.

    x (n,) float64; out (n,) float64, written.
    """
    for i in range(len(x)):
        out[i] = elementary.log(x[i])


@kernel
def log1p_each(x, out):
    """Write log(1 + x) of every number.

    x (n,) float64; out (n,) float64, written.
    """
    for i in range(len(x)):
        out[i] = elementary.log1p(x[i])


@kernel
def log2_each(x, out):
    """Write the logarithm to base 2 of every number.

    x (n,) float64; out (n,) float64, written.
    """
    for i in range(len(x)):
        out[i] = elementary.log2(x[i])


@kernel
def log_gamma_each(x, out):
    """Write the logarithm of the gamma function of every number.

    x (n,) float64; out (n,) float64, written.
    """
    for i in range(len(x)):
        out[i] = elementary.log_gamma(x[i])


@kernel
def probability_each(x, out):
    """Write 1 / (1 + e**-x) of every number.

    x (n,) float64; out (n,) float64, written.
    """
    for i in range(len(x)):
        out[i] = elementary.probability(x[i])


@kernel
def softplus_each(x, out):
    """Write log(1 + e**x) of every number.

    x (n,) float64; out (n,) float64, written.
    """
    for i in range(len(x)):
        larger = x[i] if x[i] > 0.0 else 0.0
        out[i] = larger + elementary.log1p(elementary.exp(-abs(x[i])))


@kernel
def softmax_rows(margin, out, flat):
    """Write e**m / Σ e**m of every row; ``flat`` is ``out`` in one dimension.

    margin (n_rows, n_columns) float64; out (n_rows, n_columns) float64, written; flat
    (n_rows * n_columns,) float64.
    """
    rows, columns = margin.shape
    for i in range(rows):
        top = margin[i, 0]
        for c in range(1, columns):
            top = max(top, margin[i, c])
        for c in range(columns):
            out[i, c] = margin[i, c] - top
    for j in range(len(flat)):
        flat[j] = elementary.exp(flat[j])
    for i in range(rows):
        total = 0.0
        for c in range(columns):
            total += out[i, c]
        for c in range(columns):
            out[i, c] /= total


@kernel
def power_each(x, y, out):
    """Write x**y of every pair.

    x, y (n,) float64; out (n,) float64, written.
    """
    for i in range(len(out)):
        out[i] = elementary.power(x[i], y[i])


@kernel
def one_probability(x):
    """Return 1 / (1 + e**-x) of one float."""
    return elementary.probability(x)
