"""The sentence at the top of the page: how good the model is, beside a model without columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.report.judged import Judged
from arboretum.explain.report.ranked import Ranked

__all__ = ["headline"]


def headline(judged: Judged, figures: list[dict[str, Any]]) -> str:
    """Return one or two sentences that a reader without statistics can use.

    Examples
    --------
    >>> answers = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])
    >>> judged = Judged(np.array([0, 1, 1, 0]), answers, ["No", "Yes"])
    >>> headline(judged, judged.figures())
    'Right in 3 of 4 rows; always predicting “No” is right in 2. It finds 1 of 2 rows that are “Yes”.'
    """
    if isinstance(judged, Ranked):
        return _of_order(figures)
    if judged.labels is None:
        return _of_numbers(judged, figures)
    return _of_classes(judged)


def _of_classes(judged: Judged) -> str:
    assert judged.labels is not None
    actual, n = judged.actual, len(judged.actual)
    counts = np.bincount(actual[actual >= 0], minlength=len(judged.labels))
    most, right = int(counts.argmax()), judged.answers.argmax(axis=1) == actual
    share, base, whole = _shares([int(right.sum()), int(counts[most])], n)
    text = (
        f"Right in {share} of {whole} rows; always predicting “{judged.labels[most]}” is right "
        f"in {base}."
    )
    others = [k for k in range(len(counts)) if counts[k] and k != most]
    if not others:
        return text
    hits = {k: int(right[actual == k].sum()) for k in others}
    worst = min(others, key=lambda k: hits[k] / counts[k])
    found, rows = _shares([hits[worst]], int(counts[worst]))
    least = "" if len(others) == 1 else ", the class it finds least often"
    return f"{text} It finds {found} of {rows} rows that are “{judged.labels[worst]}”{least}."


def _shares(parts: list[int], n: int) -> list[int]:
    """Return parts of 100 rows, and 100; of fewer than 100 rows, the counts themselves.

    >>> _shares([150, 30], 200), _shares([7], 9)
    ([75, 15, 100], [7, 9])
    """
    if n < 100:
        return [*parts, n]
    return [*(round(100 * part / n) for part in parts), 100]


def _of_numbers(judged: Judged, figures: list[dict[str, Any]]) -> str:
    named = {one["name"]: one for one in figures}
    mae, mean = named["MAE"], float(judged.actual.mean())
    spread = max(mae["baseline"][1], abs(mae["value"]))
    text = (
        f"Predictions are off by {_number(mae['value'], spread)} on average; always predicting the mean, "
        f"{_number(mean, spread)}, would be off by {_number(mae['baseline'][1], spread)}."
    )
    if "R²" not in named:
        return text
    explained = named["R²"]["value"]
    if explained <= 0:
        return f"{text} By squared error it is no better than the mean."
    return f"{text} It explains {100 * explained:.0f} % of the variance."


def _of_order(figures: list[dict[str, Any]]) -> str:
    pairs = next(one for one in figures if one["name"] == "pairs in order")
    first = figures[0]
    return (
        f"Of 100 pairs of rows with different grades, {100 * pairs['value']:.0f} are in the right order; "
        f"a random order has 50. {first['name']} is {first['value']:.2f}, that of a random order "
        f"{first['baseline'][1]:.2f}."
    )


def _number(value: float, spread: float) -> str:
    """Write a number with three digits of a spread, thousands apart.

    >>> _number(181233.7, 40210.0), _number(12.0512, 0.2), _number(0.0, 0.0)
    ('181,234', '12.051', '0')
    """
    if not spread:
        return f"{value:,.6g}"
    places = 2 - int(np.floor(np.log10(spread)))
    if not -12 <= places <= 12:
        return f"{value:.3g}"
    text = f"{value:,.{max(places, 0)}f}"
    return "0" if float(text.replace(",", "")) == 0 else text
