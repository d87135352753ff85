"""What Weka's J48 made of the tables in tests/data/c45, and the tables themselves in codes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from tests.c45.c45_walk import Problem

DATA = Path(__file__).parents[1] / "data" / "c45"
FACTS = json.loads((DATA / "j48.json").read_text())["sets"]

# J48's setting -> what C45Classifier calls it
SETTINGS = {
    "default": {},
    "-S": {"subtree_raising": False},
    "-O": {"collapse": False},
    "-U": {"pruning": None},
    "-O -U": {"pruning": None, "collapse": False},
    "-C 0.1": {"confidence": 0.1},
    "-M 5": {"min_cases": 5},
    "-R -N 3": {"collapse": False},  # pruned on the rows of `held_out`
}


@cache
def frame_of(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the table with its categories as words, and the class of every row in J48's order."""
    facts = FACTS[name]
    words = dict.fromkeys([*facts["categories"], facts["target"]], str)
    frame = pd.read_csv(DATA / facts["file"], dtype=words, keep_default_na=False, na_values=[""])
    labels = pd.Categorical(frame.pop(facts["target"]), categories=facts["classes"])
    return frame, labels.codes.astype(np.int64)


@cache
def problem_of(name: str, setting: str = "default") -> Problem:
    """Return the table in codes; categories that never occur count, as they do for J48."""
    facts = FACTS[name]
    frame, y = frame_of(name)
    declared = [facts["categories"].get(column, ()) for column in frame.columns]
    X = np.empty(frame.shape)
    for f, (column, values) in enumerate(zip(frame.columns, declared)):
        if values:
            codes = pd.Categorical(frame[column], categories=values).codes
            X[:, f] = np.where(codes < 0, np.nan, codes)
        else:
            X[:, f] = frame[column]
    options = {"error_limit": "weka", **SETTINGS[setting]}
    sizes = tuple(len(values) for values in declared)
    return Problem(X, y, sizes, None, len(facts["classes"]), options)


def held_out(name: str, setting: str) -> np.ndarray | None:
    if setting != "-R -N 3":
        return None
    return np.array([mark == "1" for mark in FACTS[name]["held_out"]])


def fold_of(name: str) -> np.ndarray:
    """Return the fold, of J48's first cross-validation, in which each row is tested."""
    return np.array([int(digit) for digit in FACTS[name]["cv"]["seed_1"]["folds"]])


def some_rows(problem: Problem, rows: np.ndarray) -> Problem:
    return replace(problem, X=problem.X[rows], y=problem.y[rows])


# ---------------------------------------------------------------------- trees as J48 prints them
@dataclass
class Printed:
    """A line of a printed tree: what it asks of its branch, and (at a leaf) what it answers."""

    depth: int
    column: str = ""
    operator: str = ""
    value: str = ""
    answer: str = ""  # class, at a leaf
    weight: float = 0.0
    errors: float = 0.0


def parse_tree(text: str, columns: list[str]) -> list[Printed]:
    """Return the lines of a printed tree.

    >>> parse_tree("a b <= 2: yes (3.0/1.0)", ["a", "a b"])[0].column
    'a b'
    """
    lines = []
    for line in text.split("\n"):
        depth = 0
        while line.startswith("|   "):
            line, depth = line[4:], depth + 1
        question, colon, leaf = line.rpartition(": ")
        if not colon:
            question, leaf = line, ""
        printed = Printed(depth, *_question(question.removeprefix(":"), columns))
        if leaf:
            answer, _, figures = leaf.rpartition(" (")
            weight, _, errors = figures.rstrip(")").partition("/")
            printed.answer = answer
            printed.weight, printed.errors = float(weight), float(errors or 0)
        lines.append(printed)
    return lines


def _question(text: str, columns: list[str]) -> tuple[str, str, str]:
    for column in sorted(columns, key=len, reverse=True):
        for operator in ("<=", ">", "="):
            if text.startswith(f"{column} {operator} "):
                return column, operator, text[len(column) + len(operator) + 2 :]
    assert not text, text
    return "", "", ""
