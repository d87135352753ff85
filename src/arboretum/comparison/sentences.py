"""A comparison in words: the headline, what may be chance, what was done, and a table for terminals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from arboretum.base.progress import duration
from arboretum.comparison.candidates import SMALL_TREE
from arboretum.comparison.intervals import Estimate

if TYPE_CHECKING:
    from arboretum.comparison.result import Comparison, Pair

__all__ = ["as_text", "chance", "done", "headline", "number"]

_MOST_NAMED = 4


def headline(result: Comparison) -> str:
    """Return what the winner reaches, beside the answer without columns and a tree of eight leaves."""
    judged = {entry.name for entry in result.ranked}
    names = [name for name in (result.winner, result.entries[0].name, SMALL_TREE) if name in judged]
    sentence = _of_classes if result.question.is_classes else _of_numbers
    return f"On {result.plan.judged.n_rows:,} rows {sentence(result, names)}"


def _of_classes(result: Comparison, names: list[str]) -> str:
    assert result.question.codes is not None
    rows = min(result.plan.judged.n_rows, 100)
    right = {name: round(rows * result.estimate(name, "accuracy").value) for name in names}
    most = result.question.words[int(np.bincount(result.question.codes).argmax())]
    best, none = result.winner, result.entries[0].name
    text = f"{best} is right in {right[best]} of {rows}"
    text += f"; always answering “{most}” is right in {right[none]}."
    return text + (
        f" A tree of 8 leaves reaches {right[SMALL_TREE]}." if SMALL_TREE in right else ""
    )


def _of_numbers(result: Comparison, names: list[str]) -> str:
    off = {name: result.estimate(name, "mae").value for name in names}
    spread = max(off.values())
    best, none = result.winner, result.entries[0].name
    text = f"{best} is off by {number(off[best], spread)} on average"
    text += f"; always answering the mean is off by {number(off[none], spread)}."
    if SMALL_TREE in off:
        text += f" A tree of 8 leaves is off by {number(off[SMALL_TREE], spread)}."
    return text


def chance(result: Comparison) -> str:
    """Return which models may be as good as the winner, and which one is the simplest of them."""
    best, name = result.winner, result.measure.name
    of_best = [pair for pair in result.pairs if best in (pair.first, pair.second)]
    equal = [_other(pair, best) for pair in of_best if pair.may_be_chance]
    n_beaten = len(of_best) - len(equal)
    parts = []
    if of_best and not equal:
        parts.append(
            f"By {name}, the distance of {best} to all others is more than chance explains."
        )
    elif equal:
        shown = ", ".join(equal[:_MOST_NAMED])
        shown += f" and {len(equal) - _MOST_NAMED} more" if len(equal) > _MOST_NAMED else ""
        rest = f"; that to the other {n_beaten} is not." if n_beaten else "."
        parts.append(f"By {name}, the distance of {best} to {shown} may be chance{rest}")
    if result.ranked[0].name != best:
        parts.append(f"The {result.ranked[0].name}, a baseline, is ahead of every model.")
    if result.simplest_name != best:
        parts.append(
            f"{result.simplest_name} is the simplest model within one standard error of {best}."
        )
    return " ".join(parts)


def _other(pair: Pair, name: str) -> str:
    return pair.second if pair.first == name else pair.first


def done(result: Comparison) -> str:
    """Return how the models were judged."""
    judged = len(result.ranked)
    left = len(result.entries) - judged
    text = f"{result.plan.text}; {judged} models and baselines in {duration(result.seconds)}"
    text += f", {left} without a result" if left else ""
    text += "; interrupted" if result.interrupted else ""
    return text[0].upper() + text[1:] + "."


def number(value: float, spread: float) -> str:
    """Write a number with three digits of a spread.

    >>> number(1234.567, 400.0), number(0.12345, 0.1), number(float("nan"), 1.0)
    ('1,235', '0.123', '–')
    """
    if not math.isfinite(value):
        return "–"
    if not spread or not math.isfinite(spread):
        return f"{value:,.4g}"
    places = min(max(2 - math.floor(math.log10(abs(spread))), 0), 6)
    return f"{value:,.{places}f}"


# ---------------------------------------------------------------------- a table for terminals
def as_text(result: Comparison) -> str:
    """Return the comparison as lines of at most 80 columns."""
    keys = [one.key for one in result.measures][:3]
    names = [one.name for one in result.measures][:3]
    head = ["model", *names, "fit", "leaves"]
    lines = []
    for entry in result.ranked:
        cells = [_with_reach(result.estimate(entry.name, key)) for key in keys]
        fit = result.estimate(entry.name, "fit_seconds").value
        size = result.estimate(entry.name, "size").value
        mark = "*" if entry.candidate.kind == "baseline" else ""
        size_text = "" if math.isnan(size) else f"{size:,.0f}"
        lines.append([entry.name[:24] + mark, *cells, _seconds(fit), size_text])
    widths = [max(len(row[i]) for row in [head, *lines]) for i in range(len(head))]
    table = ["  ".join(_cell(row, i, widths) for i in range(len(row))) for row in [head, *lines]]
    left = [f"{one.name}: {one.reason}" for one in result.entries if not one.is_judged]
    notes = ["* baseline; ± is half of the 95 % interval over folds"]
    suspicious = [f"Suspicious: {one}" for one in result.warnings]
    texts = [headline(result), chance(result), "", *table, *notes, *left, *suspicious, done(result)]
    return "\n".join(wrapped for text in texts if text is not None for wrapped in _wrapped(text))


def _cell(row: list[str], i: int, widths: list[int]) -> str:
    return row[i].ljust(widths[i]) if i == 0 else row[i].rjust(widths[i])


def _wrapped(text: str) -> list[str]:
    from textwrap import wrap

    return [text] if text == "" or "  " in text else wrap(text, 80)


def _with_reach(one: Estimate) -> str:
    """Return a figure with half of its interval.

    >>> _with_reach(Estimate(0.876, 0.004, 0.868, 0.884))
    '0.876 ±0.008'
    """
    if not math.isfinite(one.value):
        return "–"
    reach = (one.high - one.low) / 2
    size = max(abs(one.value), reach)
    text = number(one.value, size)
    return text if math.isnan(one.error) else f"{text} ±{number(reach, size)}"


def _seconds(value: float) -> str:
    """Return seconds in few letters.

    >>> _seconds(0.0123), _seconds(12.3)
    ('12 ms', '12.3 s')
    """
    return f"{1000 * value:.0f} ms" if value < 1 else f"{value:.1f} s"
