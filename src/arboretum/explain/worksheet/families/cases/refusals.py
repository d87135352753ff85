"""Why columns of a node of C4.5 did not win: a sentence for every reason, with its numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arboretum.explain.worksheet.rendering import number
from arboretum.textbook.c45_splits import C45Candidate, C45Settings, least_cases
from arboretum.textbook.id3 import Cases

__all__ = ["CaseRefusals"]


@dataclass(frozen=True, eq=False)
class CaseRefusals:
    """The best tests of a node's columns, and the limits they were judged by."""

    table: list[C45Candidate]
    winner: C45Candidate | None
    average: float  # the gate
    cases: Cases
    settings: C45Settings
    words: Callable[[C45Candidate], str]  # a test in the words of the table

    def notes(self) -> list[str]:
        """Return a sentence for every reason that kept a column out which did not simply gain less.

        Where several columns share a reason, the one that lost most by it is named.
        """
        by_ratio = self.settings.criterion == "gain_ratio"
        found: dict[str, list[C45Candidate]] = {}
        for c in sorted(self.table, key=lambda c: -c.ratio if by_ratio else -c.gain):
            if c.verdict != "chosen" and not c.verdict.startswith("smaller"):
                found.setdefault(c.verdict, []).append(c)
        notes = []
        for some in found.values():
            text, others = self._sentence(some[0]), len(some) - 1
            if text:
                more = f"; so {'is' if others == 1 else 'are'} {others} more" if others else ""
                notes.append(f"{text}{more}.")
        return notes

    def _sentence(self, c: C45Candidate) -> str:
        test, least = self.words(c), f"min_cases={number(self.settings.min_cases)}"
        branches = " | ".join(number(w, 4) for w in c.weights[:6])
        branches += " | …" if len(c.weights) > 6 else ""
        known = float(self.cases.w.sum()) - c.missing
        reason, _, _ = c.verdict.partition(",")
        match reason:
            case "gain below average":
                return f"{test} is out by the gate: {self._below(c)}"
            case "fewer than two branches with min_cases":
                return f"{test} is out, its branches have {branches} cases: two must have {least}"
            case "fewer than twice min_cases known":
                return (
                    f"{test} is out, {number(known)} cases have a value: a cut needs twice {least}"
                )
            case "no cut with enough cases on both sides":
                needed = number(least_cases(known, self.cases.n_classes, self.settings))
                return f"{test} is out, no cut leaves {needed} cases on both sides"
            case "gain does not cover the charge":
                gained = f"{test} is out, its gain {number(c.gain + c.charge)} does not cover"
                return f"{gained} the charge of {number(c.charge)} for the cuts that were tried"
            case "split information too small":
                info = f"its split information is {number(c.split_information)}"
                return f"{test} is out, it hardly separates the cases ({branches}): {info}"
            case "same ratio" | "same gain":
                same = reason.removeprefix("same ")
                worth = f"has the same {same}, {number(c.ratio if same == 'ratio' else c.gain)}"
                return f"{test} {worth}: of equal splits the first column is taken"
            case "ratio not above epsilon" | "gain not above epsilon":
                figure = reason.split()[0]
                worth = f"{figure} is {number(c.ratio if figure == 'ratio' else c.gain)}"
                return f"{test} is out, its {worth}, not more than epsilon={number(self.settings.epsilon)}"
        return ""

    def _below(self, c: C45Candidate) -> str:
        """Return how far a gain is below the average, and whether its ratio would have won."""
        text = f"its gain {number(c.gain)} is below the average {number(self.average)}"
        if self.winner is not None and c.ratio > self.winner.ratio:
            more = f"{number(c.ratio)} is more than the winner's {number(self.winner.ratio)}"
            text += f", though its ratio {more}"
        return text
