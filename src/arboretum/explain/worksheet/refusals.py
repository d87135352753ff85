"""Why splits that would gain as much as the winner, or more, were not taken: a sentence with numbers each.

Every reason is named once, with the split that it cost most. At a leaf that found no split, the reasons are
those of the best that was refused.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from arboretum.explain.worksheet.rendering import number
from arboretum.textbook.splits import UNBOUNDED, Candidate, Rules

if TYPE_CHECKING:
    from arboretum.explain.worksheet.candidates import NodeCandidates

__all__ = ["EQUALS", "both_numbers", "least_rows", "reason", "refusal_notes", "why_refused"]

_LOOKED_AT = 12  # refused splits whose reason is worked out
_RIVALS = 12
EQUALS = "of equal splits the first column is taken"
# A rule, and the sentence that refuses a split by it: what its sides have, and the limit.
_REASONS = {
    "rows": "its sides have {}, {}",
    "cover": "its sides have ΣH = {}, {}",
    "weight": "its sides weigh {}, {}",
    "sums": "its sides sum to {}, and {}",
    "order": "its sides would answer {}, which may only {}",
    "bounds": "its sides would answer {}, and {}",
}


def reason(rule: str, sides: str, limit: str) -> str:
    """Return why a rule refuses a split, with the numbers of its sides.

    >>> reason("weight", both_numbers(3, 9), "min_weight_fraction_leaf requires 4")
    'its sides weigh 3 and 9, min_weight_fraction_leaf requires 4'
    """
    return _REASONS[rule].format(sides, limit)


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
    """Return what refuses the best splits of a leaf without an admissible one, for every rule that does."""
    found: dict[str, str] = {}
    for c in looked.refused(_LOOKED_AT):
        if c.verdict not in found:
            gain, why = number(c.gain), _refused_because(looked, c)
            found[c.verdict] = f"{looked.words(c)} would gain {gain}, but {why}"
    return "".join(f"; {text}" for text in found.values())


def _refused_because(looked: NodeCandidates, c: Candidate) -> str:
    """Return the rule that refuses a split, with its numbers."""
    rules, sample = looked.sample.rules, looked.sample
    if c.verdict == "min_samples_leaf":
        return reason("rows", f"{both_numbers(c.n_left, c.n_right)} rows", least_rows(rules))
    if c.verdict == "min_weight_leaf":
        limit = f"min_weight_fraction_leaf requires {number(rules.min_weight_leaf)}"
        return reason("weight", both_numbers(c.weight_left, c.weight_right), limit)
    if c.verdict.startswith("poisson"):
        sums = (float((sample.w[s] @ sample.y[s]).min()) for s in looked.sides(c))
        why = "poisson needs a positive sum on each: the logarithm of a mean of 0 is not finite"
        return reason("sums", both_numbers(*sums), why)
    if c.verdict == "monotone constraint":
        return _against_the_order(looked, c)
    return c.verdict


def least_rows(rules: Rules) -> str:
    """Return which parameter sets the least rows of a side; where rows weigh 1, a weight does it too.

    >>> least_rows(Rules(min_samples_leaf=5)), least_rows(Rules(min_samples_leaf=5, min_weight_leaf=4.2))
    ('min_samples_leaf=5', 'min_weight_fraction_leaf requires 5')
    """
    least = rules.min_samples_leaf
    if ceil(rules.min_weight_leaf) >= least > 1:
        return f"min_weight_fraction_leaf requires {least}"
    return f"min_samples_leaf={least}"


def both_numbers(left: float, right: float) -> str:
    """Write the numbers of both sides.

    >>> both_numbers(3, 97.25)
    '3 and 97.25'
    """
    return f"{number(left)} and {number(right)}"


def _better(looked: NodeCandidates, winner: Candidate) -> list[Candidate]:
    """Return splits of the winner's gain or more, the largest first: refused, charged, not drawn or tied."""
    least = winner.gain - looked.slack
    others = [*looked.rivals(_RIVALS), *looked.best.values()]
    found = looked.refused(_LOOKED_AT)
    found += [c for c in others if c is not None and c.verdict == "admissible" and c.gain >= least]
    return sorted((c for c in found if looked.verdict(c) != "wins"), key=lambda c: -c.gain)


def _why(looked: NodeCandidates, c: Candidate, verdict: str) -> str:
    """Return the second half of the sentence; empty if there is none."""
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
        return f"{EQUALS}, then the lowest cut, then missing values to the right"
    if c.worth < winner.worth and c.charge:
        left, wins = number(c.worth), number(winner.worth)
        charge = f"is charged {number(c.charge)} for the order of its categories"
        return f"{charge}: {left} is left, of the winner's {wins}"
    return ""


def _against_the_order(looked: NodeCandidates, c: Candidate) -> str:
    sample = looked.sample
    left, right = (sample.number(side) for side in looked.sides(c))
    name, sign = looked.grown.tree.column(c.feature).name, sample.signs[c.feature]
    if sign * (left - right) > 0:
        way = f"{'rise' if sign > 0 else 'fall'} with {name} (monotonic_cst)"
        return reason("order", both_numbers(left, right), way)
    assert sample.bounds != UNBOUNDED
    low, high = sample.bounds
    within = f"[{number(low)}, {number(high)}]" if np.isfinite(low) and np.isfinite(high) else ""
    within = within or (f"above {number(low)}" if np.isfinite(low) else f"below {number(high)}")
    limit = f"monotonic_cst of a split further up keeps answers {within}"
    return reason("bounds", both_numbers(left, right), limit)
