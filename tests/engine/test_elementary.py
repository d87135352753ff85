"""Elementary functions: right to the last place, exact at the ends, and used wherever models are made."""

from __future__ import annotations

import ast
from pathlib import Path

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import arboretum
from arboretum.engine import elementary, elementwise
from arboretum.engine.compiler.decorators import kernel

RNG = np.random.default_rng(0)
N = 1500
ANY = np.concatenate(
    [
        RNG.uniform(-745, 709, N),
        RNG.uniform(-1, 1, N),
        10.0 ** RNG.uniform(-320, 0, N) * RNG.choice([-1, 1], N),
        np.log(2) * (np.arange(-1074, 1024) + 0.5),
    ]
)
ABOVE = np.concatenate(
    [
        2.0 ** RNG.uniform(-1074, 1023.9, N),
        RNG.uniform(0.5, 2, N),
        1 + RNG.normal(size=N) * 1e-6,
        [5e-324, 1e-310, 2.2250738585072014e-308, 1.7976931348623157e308, 0.5**0.5, 2**0.5],
    ]
)
ENDS = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -2.0, 5e-324, 1e-310, 1.7e308, -1.7e308])


def units_off(found, function, *arguments):
    """Return how far numbers are from mpmath's, in units in the last place."""
    with mpmath.workprec(200):
        off = []
        for value, *x in zip(found, *arguments):
            exact = function(*map(mpmath.mpf, x))
            unit = np.spacing(abs(float(exact)))
            off.append(float(abs(mpmath.mpf(value) - exact) / mpmath.mpf(unit)))
    return max(off)


@pytest.mark.parametrize(
    ("name", "x", "most"),
    [
        ("exp", ANY, 1.2),
        ("expm1", ANY, 1.0),
        ("log", ABOVE, 0.9),
        ("log1p", np.concatenate([ABOVE, np.clip(ANY, -0.9999999, None)]), 0.9),
        ("log2", ABOVE, 0.9),
    ],
)
def test_functions_are_right_to_the_last_place(name, x, most):
    exact = {"log2": lambda v: mpmath.log(v, 2)}.get(name) or getattr(mpmath, name)
    assert units_off(getattr(elementwise, name)(x), exact, x) < most
    with np.errstate(all="ignore"):
        ends = getattr(np, name)(ENDS)
    found = getattr(elementwise, name)(ENDS)
    np.testing.assert_allclose(found, ends, rtol=4e-16, atol=0)
    assert_array_equal(np.signbit(found[~np.isnan(ends)]), np.signbit(ends[~np.isnan(ends)]))


def test_powers_are_right_to_the_last_place():
    x = np.concatenate(
        [RNG.uniform(0, 2, N), 10.0 ** RNG.uniform(-300, 300, N), 1 + ANY[:N] * 1e-10]
    )
    y = np.concatenate([RNG.uniform(-50, 50, N), RNG.uniform(-1, 1, N), RNG.uniform(-1e9, 1e9, N)])
    assert units_off(elementwise.power(x, y), mpmath.power, x, y) < 1.5
    x, y = np.meshgrid([0.0, 0.5, 1.0, 2.0, np.inf, np.nan, 5e-324], [*ENDS, 1.0, 0.5, 1e300])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(elementwise.power(x, y), np.power(x, y), rtol=3e-16, atol=0)
    assert np.isnan(elementwise.power(-1.0, 2.0))
    assert elementwise.power(2.0, [[1.0, 2.0]]).tolist() == [[2.0, 4.0]]


def test_powers_of_2_have_whole_logarithms():
    k = np.arange(-1074, 1024)
    assert_array_equal(elementwise.log2(2.0**k), k)


def test_log_gamma_is_right_and_exact_for_factorials():
    x = np.concatenate([RNG.uniform(1e-3, 40, N), 10.0 ** RNG.uniform(-3, 12, N)])
    found = elementwise.log_gamma(x)
    exact = np.array([float(mpmath.loggamma(v)) for v in x])
    assert np.max(np.abs(found - exact) / np.maximum(np.abs(exact), 1.0)) < 1e-14
    assert elementwise.log_gamma([1.0, 2.0, 0.0, np.inf]).tolist() == [0.0, 0.0, np.inf, np.inf]
    assert np.isnan(elementwise.log_gamma([-1.0, np.nan])).all()
    whole = [float(mpmath.log(mpmath.factorial(n - 1))) for n in range(3, 23)]
    assert_array_equal(elementwise.log_gamma(np.arange(3.0, 23.0)), whole)


def test_probabilities_and_softplus():
    x = np.concatenate([RNG.uniform(-700, 700, N), RNG.normal(size=N), [0.0, -0.0]])
    assert units_off(elementwise.probability(x), lambda v: 1 / (1 + mpmath.exp(-v)), x) < 2.5
    assert units_off(elementwise.softplus(x), lambda v: mpmath.log1p(mpmath.exp(v)), x) < 2.5
    assert_array_equal(elementwise.probability([np.inf, -np.inf, np.nan]), [1.0, 0.0, np.nan])
    assert_array_equal(elementwise.softplus([np.inf, -np.inf, np.nan]), [np.inf, 0.0, np.nan])
    assert [elementwise.one_probability()(v) for v in x] == elementwise.probability(x).tolist()


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (40, 2), (30, 11)])
def test_softmax(shape):
    x = RNG.normal(size=shape) * 30
    exact = np.exp(x - x.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    found = elementwise.softmax(x)
    np.testing.assert_allclose(found, exact, rtol=1e-15)
    for form in (x[:, ::-1][:, ::-1], np.asfortranarray(x), x.tolist()):
        assert_array_equal(elementwise.softmax(form), found)
    assert_array_equal(elementwise.softmax(x[:1]), found[:1])


@kernel
def _bounded(x, out):
    for i in range(len(x)):
        out[i] = elementary.bounded_exp(x[i])


def test_a_bounded_exponential_is_the_same_within_its_bounds():
    x = np.clip(ANY, -708, 708)
    out = np.empty_like(x)
    _bounded(x, out)
    assert_array_equal(out, elementwise.exp(x))
    ends = np.array([-1e5, 1e5, -np.inf, np.inf, np.nan])
    _bounded(ends, ends)
    assert_array_equal(ends, elementwise.exp([-708.0, 708.0, -708.0, 708.0, np.nan]))


def test_any_shape_order_and_kind_of_number():
    x = RNG.uniform(0.1, 5, (4, 6))
    for form in (x, x.T, x[::2, ::-1], np.float32(x), np.arange(1, 5), [1, 2], 3, x[:0]):
        found = elementwise.log(form)
        assert found.shape == np.shape(form)
        np.testing.assert_allclose(found, np.log(np.asarray(form, np.float64)), rtol=1e-15)
    x.flags.writeable = False
    assert_array_equal(elementwise.exp(x), elementwise.exp(x.copy()))


# ---------------------------------------------------------------------- no room uses the others
ROOT = Path(arboretum.__file__).parent
# Rooms that make neither models nor answers
EXEMPT = ("textbook/", "explain/", "comparison/", "cli/")
_WORDS = """
exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 power pow float_power cbrt hypot tanh sinh cosh
arctanh arcsinh arccosh atanh asinh acosh sin cos tan sinc arcsin arccos arctan asin acos atan atan2 arctan2
erf erfc gamma lgamma i0 dot vdot vecdot inner matmul matvec vecmat tensordot einsum linalg
logspace geomspace cov corrcoef convolve correlate polyfit
"""
FORBIDDEN = set(_WORDS.split())
LIBRARIES = ("cmath", "statistics", "scipy.special", "scipy.stats", "scipy.linalg")
METHODS = {"dot"}  # of any array
DRAWS = {"normal", "gamma", "beta", "poisson", "binomial", "lognormal", "gumbel"}
DRAWS |= {"standard_normal", "standard_exponential", "standard_gamma", "dirichlet", "geometric"}
ALLOWED = {
    "boosting/adaboost/theory.py": {
        "log"
    },  # of a whole number of any size, in a bound that is shown
    "forest/proximity_geometry.py": {
        "linalg",
        "cos",
        "@",
    },  # maps of rows are LAPACK's eigenvectors
    "forest/variance.py": {
        "@",
        "**",
    },  # a standard error, by BLAS: a plain sum takes ten times as long
    "predict/sum.py": {
        "log2"
    },  # an estimate of the cost of an engine; all engines give the same bits
}


def _uses(tree: ast.AST) -> set[str]:
    """Return the functions of NumPy, math and SciPy, and the operators, that depend on the machine."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            of_library = isinstance(node.value, ast.Name) and node.value.id in (
                "np",
                "math",
                "numpy",
            )
            if node.attr in (FORBIDDEN if of_library else METHODS | DRAWS):
                found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module in ("math", "numpy"):
            found |= {alias.name for alias in node.names} & FORBIDDEN
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {name for name in _imported(node) if name.startswith(LIBRARIES)}
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "pow"
        ):
            found.add("pow")
        elif isinstance(node, ast.BinOp | ast.AugAssign):
            if isinstance(node.op, ast.MatMult):
                found.add("@")
            elif isinstance(node.op, ast.Pow) and not _is_exact(node):
                found.add("**")
    return found


def _imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Return the modules of an import, and what is taken from them, by full names."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    return {f"{node.module}.{alias.name}" for alias in node.names}


def _is_exact(node: ast.BinOp | ast.AugAssign) -> bool:
    """Return whether a power has a literal base: whole numbers, and powers of 2, are exact."""
    base = getattr(node, "left", None)
    return isinstance(base, ast.Constant) and (isinstance(base.value, int) or base.value == 2.0)


@pytest.mark.parametrize(
    "line",
    """np.exp(x) | math.log(x) | numpy.tanh(x) | from math import pow | from numpy import log1p
    import scipy.special as sp | from scipy import special | from scipy.special import expit | import cmath
    from statistics import NormalDist | a @ b | a.dot(b) | np.linalg.norm(a) | np.cov(a) | np.geomspace(1, 2)
    x ** 2 | x ** 0.5 | 1.5 ** x | x **= 3 | pow(x, y) | rng.normal(size=3) | rng.standard_exponential()
    """.replace("\n", "|").split("|")[:-1],
)  # fmt: skip
def test_the_lint_finds(line):
    assert _uses(ast.parse(line.strip()))


@pytest.mark.parametrize(
    "line", ["2**k", "10**3", "2.0**k", "np.sqrt(x)", "exp(x)", "x * x", "np.sum(x)"]
)
def test_the_lint_allows(line):
    assert not _uses(ast.parse(line))


def test_models_and_answers_are_made_of_the_engines_functions():
    others = {}
    for path in ROOT.rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(EXEMPT):
            uses = _uses(ast.parse(path.read_text(encoding="utf-8")))
            if uses != ALLOWED.get(name, set()):
                others[name] = uses
    assert not others, "use engine/elementary.py, engine/elementwise.py, x * x or a plain sum"
