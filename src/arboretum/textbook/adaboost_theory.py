"""Why AdaBoost works, in numbers: bounds on its training error and on its margins.

Let e_t be the error of round t and β_t its say. The weights remember every round,

    w_i after round T  =  w_i e^(-y_i f(x_i)) / Π Z_t,    Z_t = (1-e_t) e^(-β_t) + e_t e^(β_t),

and they add up to 1, so Σ w_i e^(-y_i f(x_i)) = Π Z_t. As e^(-m) ≥ 1 wherever m ≤ 0,

    training error  ≤  Π Z_t  ≤  exp(-2 Σ γ_t²),    γ_t = ½ - e_t the edge over chance.

The say ½ ln((1-e)/e) is the one that makes Z_t least, 2√(e_t(1-e_t)) = √(1 - 4γ_t²); the second
step needs it (learning rate 1, or a perfect round). The same argument from m ≤ θ Σβ bounds the
normalised margins y f(x) / Σβ, which lie between -1 and 1:

    share of rows with margin ≤ θ   ≤   Π Z_t e^(θβ_t)   =   Π 2√(e_t^(1-θ) (1-e_t)^(1+θ)).

Shares are counted by the weights of the first round. The consequence for new rows is
`rademacher_margin_bound`: with probability 1 - δ over the m training rows, for a θ chosen before,

    P[y f(x) ≤ 0]  ≤  P_S[margin ≤ θ] + 2√(2 ln|H| / m) / θ + √(ln(1/δ) / (2m)).

It is useful only if it is below 1: `rows_for_margin_bound` returns the number of rows needed.

>>> from arboretum.textbook.adaboost import AdaRules, discrete_adaboost
>>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0]], [1, 1, -1, -1, 1]
>>> model = discrete_adaboost(X, y, rules=AdaRules(n_rounds=3))
>>> print(theory_table(theory(model, X, y)))
round   error    edge       Z  train error  product Z  exp(-2Σγ²)  least margin
    1  0.2000  0.3000  0.8000       0.2000     0.8000      0.8353       -1.0000
    2  0.2500  0.2500  0.8660       0.2000     0.6928      0.7371       -0.1158
    3  0.1667  0.3333  0.7454       0.0000     0.5164      0.5902        0.2138
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.adaboost import TextbookAdaBoost

__all__ = [
    "GeneralisationTerms",
    "MarginRow",
    "TheoryRow",
    "generalisation_bound",
    "margin_bound",
    "margin_report",
    "margins",
    "normaliser",
    "rademacher_margin_bound",
    "rows_for_margin_bound",
    "theory",
    "theory_table",
    "uniform_margin_bound",
]


@dataclass(frozen=True)
class TheoryRow:
    """Where the boosting stands after a round, and what is known without looking."""

    number: int
    error: float  # e_t
    edge: float  # γ_t = ½ - e_t
    say: float  # β_t
    Z: float
    train_error: float  # share of rows with y f(x) ≤ 0
    product: float  # Π Z_t so far
    exponential: float  # exp(-2 Σ γ_t²) so far
    least_margin: float


@dataclass(frozen=True)
class MarginRow:
    """A point of the margin distribution next to its bound."""

    theta: float
    share: float  # of rows with margin ≤ θ
    bound: float


def normaliser(error: float, say: float | None = None) -> float:
    """Return Z = (1-e) e^(-β) + e e^(β); for the best say 2√(e(1-e)).

    >>> round(normaliser(0.2), 12), round(normaliser(0.2, 0.5), 4)
    (0.8, 0.815)
    """
    if say is None:
        return float(2 * np.sqrt(error * (1 - error)))
    return float((1 - error) * np.exp(-say) + error * np.exp(say))


def margins(model: TextbookAdaBoost, X: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return y f(x) / Σβ of every row: 1 if all agree with the label, -1 if all disagree.

    >>> from arboretum.textbook.adaboost import discrete_adaboost
    >>> margins(discrete_adaboost([[1.0], [2.0]], [1, -1]), [[0.0], [9.0]], [1, 1]).tolist()
    [1.0, -1.0]
    """
    return _staged_margins(model, X, y)[-1]


def _staged_margins(model: TextbookAdaBoost, X: ArrayLike, y: ArrayLike) -> np.ndarray:
    """The margins after every round, of shape (n_rounds, n)."""
    if model.algorithm != "discrete" or model.rules.coding == "zero_one_note":
        raise ValueError(
            "the theory is about discrete_adaboost whose weights follow its votes: coding"
            ' "signs" or "zero_one"'
        )
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    agrees = np.array([np.asarray(r.hypothesis(X)) == y for r in model.rounds])
    f = np.cumsum(model.says[:, None] * np.where(agrees, 1, -1), axis=0)
    return f / np.cumsum(model.says)[:, None]


def theory(model: TextbookAdaBoost, X: ArrayLike, y: ArrayLike) -> list[TheoryRow]:
    """Return errors and bounds round by round; X and y are the training rows."""
    w, product, squares, table = model.rounds[0].w, 1.0, 0.0, []
    for r, margin in zip(model.rounds, _staged_margins(model, X, y)):
        edge, Z = 0.5 - r.error, normaliser(r.error, r.say)
        product, squares = product * Z, squares + edge**2
        table.append(
            TheoryRow(
                number=r.number,
                error=r.error,
                edge=edge,
                say=r.say,
                Z=Z,
                train_error=float(w[margin <= 0].sum()),
                product=product,
                exponential=float(np.exp(-2 * squares)),
                least_margin=float(margin[w > 0].min()),
            )
        )
    return table


def margin_bound(errors: ArrayLike, theta: float, says: ArrayLike | None = None) -> float:
    """Return Π Z_t e^(θβ_t), for the best β_t Π 2√(e_t^(1-θ) (1-e_t)^(1+θ)).

    Every factor is below 1 once the edge γ_t reaches θ > 0: then the share of rows with a margin of
    θ or less vanishes exponentially, and that is more than being right.

    >>> round(margin_bound([0.2, 0.25], 0.0), 4), round(margin_bound([0.2, 0.25], 0.1), 4)
    (0.6928, 0.7845)
    """
    errors = np.asarray(errors, dtype=np.float64)
    if says is None:
        return float(np.prod(2 * np.sqrt(errors ** (1 - theta) * (1 - errors) ** (1 + theta))))
    says = np.asarray(says, dtype=np.float64)
    Z = [normaliser(error, say) for error, say in zip(errors.tolist(), says.tolist())]
    return float(np.prod(Z * np.exp(theta * says)))


def uniform_margin_bound(edge: float, theta: float, n_rounds: int) -> float:
    """Return ((1-2γ)^(1-θ) (1+2γ)^(1+θ))^(T/2): `margin_bound` if every edge is γ.

    Where every edge is γ at least and θ ≤ 2γ, it is no less than `margin_bound` of the errors: a factor
    2√(e^(1-θ) (1-e)^(1+θ)) grows with e up to e = (1 - θ)/2, and ½ - γ lies below that. For θ > 2γ it
    is no bound: a smaller error may have the larger factor, as the second example shows. Proofs that
    put ½ - γ for every e_t in the product have the same gap between their second and third step; the
    conclusion is not touched, because it is about θ < γ: there the base is below 1, so the share of
    rows with a margin of θ or less vanishes exponentially with the rounds.

    >>> [round(uniform_margin_bound(0.2, theta, 100), 4) for theta in (0.0, 0.1, 0.3)]
    [0.0002, 0.0113, 54.1522]
    >>> round(uniform_margin_bound(0.02, 0.3, 10), 3), round(margin_bound([0.4] * 10, 0.3), 3)
    (1.119, 1.498)
    """
    base = (1 - 2 * edge) ** (1 - theta) * (1 + 2 * edge) ** (1 + theta)
    return float(base ** (n_rounds / 2))


@dataclass(frozen=True)
class GeneralisationTerms:
    """What the error on new rows is at most, with probability 1 - δ: the sum of three terms."""

    margin_share: float  # P_S[y f ≤ θ], of the training rows
    complexity: float  # of H, a multiple of √(log|H| / m) / θ
    confidence: float  # a multiple of √(log(1/δ) / m)

    @property
    def bound(self) -> float:
        return self.margin_share + self.complexity + self.confidence


def generalisation_bound(
    margin_share: float,
    theta: float,
    n_hypotheses: int,
    n_rows: int,
    delta: float = 0.05,
    constant: float = 1.0,
) -> GeneralisationTerms:
    """Return P_S[y f ≤ θ] + C (√(log|H| / (m θ²)) + √(log(1/δ) / m)).

    The theorem in this form has O(...) and leaves the constant open: 1 is a choice, not a fact
    (`rademacher_margin_bound` has constants that are proved). No round is counted in it: what matters is
    how many rows have a large margin, and from how many hypotheses was chosen.

    Parameters
    ----------
    margin_share : float
        The share of training rows whose margin is θ or less.
    theta : float
        Above 0.
    n_hypotheses : int
        |H|; of stumps ``len(all_stumps(X))``.
    n_rows : int
        m.
    delta : float
        The chance that the training rows mislead.
    constant : float
        C.

    Examples
    --------
    >>> terms = generalisation_bound(0.1, 0.5, 2000, 10_000)
    >>> round(terms.complexity, 4), round(terms.confidence, 4), round(terms.bound, 4)
    (0.0551, 0.0173, 0.1724)
    """
    if not theta > 0 or not 0 < delta < 1:
        raise ValueError(
            f"theta must be above 0 and delta between 0 and 1, got {theta} and {delta}"
        )
    complexity = np.sqrt(np.log(n_hypotheses) / n_rows) / theta
    confidence = np.sqrt(np.log(1 / delta) / n_rows)
    return GeneralisationTerms(
        margin_share, float(constant * complexity), float(constant * confidence)
    )


def rademacher_margin_bound(
    margin_share: float,
    theta: float,
    n_hypotheses: int,
    n_rows: int,
    delta: float = 0.05,
    all_thetas: bool = False,
) -> GeneralisationTerms:
    """Return P_S[margin ≤ θ] + 2√(2 ln|H|/m)/θ + √(ln(1/δ)/(2m)), a bound with its constants.

    √(2 ln|H|/m) bounds the Rademacher complexity of H, how well its best member agrees with signs
    drawn by coin, and averages of members agree no better. The loss min(1, max(0, 1 - margin/θ)) has
    slope 1/θ, lies above the error and below P[margin ≤ θ] (Koltchinskii and Panchenko 2002, after
    Schapire and others 1998).

    Parameters
    ----------
    margin_share, theta, n_hypotheses, n_rows, delta
        As for `generalisation_bound`.
    all_thetas : bool
        Whether θ may be chosen after a look at the margins. The complexity then counts twice, and
        √(ln log2(2/θ) / m) and ln(2/δ) are added: what O(...) hides.

    Examples
    --------
    >>> terms = rademacher_margin_bound(0.1, 0.5, 2000, 10_000)
    >>> round(terms.complexity, 4), round(terms.confidence, 4), round(terms.bound, 4)
    (0.156, 0.0122, 0.2682)
    """
    if not 0 < theta <= 1 or not 0 < delta < 1:
        raise ValueError(
            f"theta must be above 0 and up to 1, delta between 0 and 1, got {theta} and {delta}"
        )
    complexity = 2 * np.sqrt(2 * np.log(n_hypotheses) / n_rows) / theta
    confidence = np.sqrt(np.log(1 / delta) / (2 * n_rows))
    if all_thetas:
        complexity *= 2
        confidence = np.sqrt(np.log(2 / delta) / (2 * n_rows))
        confidence += np.sqrt(np.log(np.log2(2 / theta)) / n_rows) if theta < 1 else 0.0
    return GeneralisationTerms(margin_share, float(complexity), float(confidence))


def rows_for_margin_bound(
    theta: float,
    n_hypotheses: int,
    delta: float = 0.05,
    margin_share: float = 0.0,
    all_thetas: bool = False,
) -> int:
    """Return the number of rows from which `rademacher_margin_bound` is below 1, and so is useful.

    >>> rows_for_margin_bound(0.5, 2000), rows_for_margin_bound(0.1, 2000)
    (283, 6274)
    >>> [round(rademacher_margin_bound(0, 0.1, 2000, m).bound, 4) for m in (6273, 6274)]
    [1.0, 0.9999]
    """
    if not margin_share < 1:
        raise ValueError(f"a margin share of {margin_share} leaves no room below 1")
    one = rademacher_margin_bound(0.0, theta, n_hypotheses, 1, delta, all_thetas).bound
    return int(np.floor((one / (1 - margin_share)) ** 2)) + 1  # every term falls as 1/√m


def margin_report(
    model: TextbookAdaBoost, X: ArrayLike, y: ArrayLike, thetas: ArrayLike
) -> list[MarginRow]:
    """Return the share of training rows with margin ≤ θ next to its bound.

    >>> from arboretum.textbook.adaboost import AdaRules, discrete_adaboost
    >>> X, y = [[1.0], [2.0], [3.0]], [1, -1, 1]
    >>> model = discrete_adaboost(X, y, rules=AdaRules(n_rounds=3))
    >>> for row in margin_report(model, X, y, [0.0, 0.2]):
    ...     print(f"θ = {row.theta}: {row.share:.3f} ≤ {row.bound:.3f}")
    θ = 0.0: 0.000 ≤ 0.609
    θ = 0.2: 0.333 ≤ 0.855
    """
    margin, w = margins(model, X, y), model.rounds[0].w
    return [
        MarginRow(
            theta,
            float(w[margin <= theta].sum()),
            margin_bound(model.errors, theta, model.says),
        )
        for theta in np.asarray(thetas, dtype=np.float64).tolist()
    ]


def theory_table(rows: list[TheoryRow]) -> str:
    """Return the rows of ``theory`` as text; the module's own example shows them."""
    lines = ["round   error    edge       Z  train error  product Z  exp(-2Σγ²)  least margin"]
    for r in rows:
        lines.append(
            f"{r.number:5}  {r.error:.4f}  {r.edge:.4f}  {r.Z:.4f}  {r.train_error:11.4f}"
            f"  {r.product:9.4f}  {r.exponential:10.4f}  {r.least_margin:12.4f}"
        )
    return "\n".join(lines)
