"""Why splits that would gain as much as the winner, or more, were not taken: a sentence with numbers each.

Every reason is told once, by the split that it cost most. At a leaf that found no split, the reasons are
those of the best that was refused.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from arboretum.explain.worksheet.candidates import RIVALS, NodeCandidates
from arboretum.explain.worksheet.rendering import number
from arboretum.textbook.splits import UNBOUNDED, Candidate, Rules

__all__ = ["both_numbers", "least_rows", "refusal_notes", "why_refused"]

_LOOKED_AT = 12  # refused splits whose reason is worked out
_TIES = "of equals the first column is taken, then the lowest cut, then missing values to the right"


def refusal_notes(looked: NodeCandidates) -> list[str]:
    """Return a sentence for every reason that kept a split of at least the winner's gain from winning."""
    winner, found = looked.winner, {}
    assert winner is not None
    for c in _better(looked, winner):
        verdict = looked.verdict(c)
        why = _why(looked, c, verdict)
        if not why or verdict in found:
            continue
        if verdict.startswith("tie"):
            text = f"gains as much, {number(c.gain)}: {why}"
        else:
            more = number(c.gain - winner.gain)
            text = f"would gain {number(c.gain)}, {more} more than the winner, but {why}"
        found[verdict] = f"{looked.words(c)} {text}."
    return list(found.values())


def why_refused(looked: NodeCandidates) -> str:
    """Return of a leaf where no split is admissible what refuses the best, for every rule that does."""
    found: dict[str, str] = {}
    for c in looked.refused(_LOOKED_AT):
        if c.verdict not in found:
            text = (
                f"{looked.words(c)} would gain {number(c.gain)}, but {_refused_because(looked, c)}"
            )
            found[c.verdict] = text
    return "".join(f"; {text}" for text in found.values())


def _refused_because(looked: NodeCandidates, c: Candidate) -> str:
    """Return the rule that refuses a split, with the numbers it goes by."""
    rules, sample = looked.sample.rules, looked.sample
    if c.verdict == "min_samples_leaf":
        sides = both_numbers(c.n_left, c.n_right)
        return f"its sides have {sides} rows, {least_rows(rules)}"
    if c.verdict == "min_weight_leaf":
        sides = both_numbers(c.weight_left, c.weight_right)
        return f"its sides weigh {sides}, min_weight_fraction_leaf asks for {number(rules.min_weight_leaf)}"
    if c.verdict.startswith("poisson"):
        sums = (float((sample.w[s] @ sample.y[s]).min()) for s in looked.sides(c))
        return (
            f"its sides sum to {both_numbers(*sums)}, and poisson needs a positive sum on each: the "
            "logarithm of a mean of 0 is not finite"
        )
    if c.verdict == "monotone constraint":
        return _against_the_order(looked, c)
    return c.verdict


def least_rows(rules: Rules) -> str:
    """Return by which parameter a side must have so many rows; where rows weigh 1, a weight is that too.

    >>> least_rows(Rules(min_samples_leaf=5)), least_rows(Rules(min_samples_leaf=5, min_weight_leaf=4.2))
    ('min_samples_leaf=5', 'min_weight_fraction_leaf asks for 5')
    """
    least = rules.min_samples_leaf
    if ceil(rules.min_weight_leaf) >= least > 1:
        return f"min_weight_fraction_leaf asks for {least}"
    return f"min_samples_leaf={least}"


def both_numbers(left: float, right: float) -> str:
    """Write what two sides have.

    >>> both_numbers(3, 97.25)
    '3 and 97.25'
    """
    return f"{number(left)} and {number(right)}"


def _better(looked: NodeCandidates, winner: Candidate) -> list[Candidate]:
    """Return splits of the winner's gain or more, the largest first: refused, charged, not drawn or tied."""
    least = winner.gain - looked.slack
    others = [*looked.rivals(RIVALS), *looked.best.values()]
    found = looked.refused(_LOOKED_AT)
    found += [c for c in others if c is not None and c.verdict == "admissible" and c.gain >= least]
    return sorted((c for c in found if looked.verdict(c) != "wins"), key=lambda c: -c.gain)


def _why(looked: NodeCandidates, c: Candidate, verdict: str) -> str:
    """Return the second half of the sentence; empty if there is nothing to say."""
    winner, name = looked.winner, looked.grown.tree.column(c.feature).name
    assert winner is not None
    if c.verdict != "admissible" and looked.looked_at(c.feature):
        return _refused_because(looked, c)
    if verdict.startswith("not drawn"):
        return f"{name} was not among the columns that the node drew"
    if verdict.startswith("not a cut"):
        return f"its cut does not lie between two of the bins (max_bins={looked.grown.binned})"
    if verdict.startswith("missed"):
        return "only divisions along the order of the categories were tried"
    if verdict.startswith("tie"):
        return _TIES
    if c.worth < winner.worth and c.charge:
        return (
            f"is charged {number(c.charge)} for the order of its categories: {number(c.worth)} is left, of "
            f"the winner's {number(winner.worth)}"
        )
    return ""


def _against_the_order(looked: NodeCandidates, c: Candidate) -> str:
    sample = looked.sample
    left, right = (sample.number(side) for side in looked.sides(c))
    name, sign = looked.grown.tree.column(c.feature).name, sample.signs[c.feature]
    answers = f"its sides would answer {both_numbers(left, right)}"
    if sign * (left - right) > 0:
        return f"{answers}, which may only {'rise' if sign > 0 else 'fall'} with {name} (monotonic_cst)"
    assert sample.bounds != UNBOUNDED
    low, high = sample.bounds
    within = f"[{number(low)}, {number(high)}]" if np.isfinite(low) and np.isfinite(high) else ""
    within = within or (f"above {number(low)}" if np.isfinite(low) else f"below {number(high)}")
    return f"{answers}, and monotonic_cst of a split further up keeps answers {within}"
