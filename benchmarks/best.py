"""Defaults beside defaults: our models without tuning and the boosters of other projects, on real tables.

    python -m benchmarks.best peers                        runs what is missing; may be stopped and resumed
    python -m benchmarks.best run LABEL MODEL [key=value]  runs MODEL (BoostedTrees, LGBM, …) as LABEL;
                                                           settings.key=value changes one of its settings
    python -m benchmarks.best compare LABEL [OTHER ...]    wins, losses, loss ratio and time of each pair
    python -m benchmarks.best table LABEL [OTHER ...]      loss ratio on every table
    python -m benchmarks.best coverage [SHARE]             how often intervals and sets hold the target (0.9)

All commands take ``--tables development`` (the default), ``held_out``, ``all`` or names, and ``--splits``.
Losses are those of real_losses.py on the third of the rows that real.py holds out; tables have at most 20,000
rows. Runs of peers are kept with their versions in best_peers.jsonl, so that they run once; ours are kept in
results/. CPU times are those of one thread; runs on a busy machine are up to twice as slow as on an idle one.

A sign test counts tables whose mean losses differ by more than 0.5 %.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # read when a library with threads is loaded

import numpy as np

from benchmarks.best_peers import PEERS, Contestant, Frame
from benchmarks.best_tables import DEVELOPMENT, HELD_OUT
from benchmarks.harness import Unavailable
from benchmarks.real import _split as split_of
from benchmarks.real_losses import guess, loss, relative_loss
from benchmarks.real_results import EVEN, geometric_mean
from benchmarks.real_tables import RealTable, load, table_names

__all__ = ["Run", "calibration_error", "sign_test"]

_HERE = Path(__file__).parent
_PEERS_FILE, _OURS_FILE = _HERE / "best_peers.jsonl", _HERE / "results" / "best.jsonl"
_MOST_ROWS, _SPLITS = 20_000, 3


@dataclass(frozen=True)
class Run:
    """One model on one split of one table."""

    model: str
    version: str
    table: str
    split: int
    rows: int
    loss: float
    guess: float
    calibration: float  # of probabilities; 0 for numbers
    fit: float  # CPU seconds
    predict: float
    error: str = ""  # why there is no result

    @property
    def key(self) -> tuple[str, str, int]:
        return self.model, self.table, self.split


# ---------------------------------------------------------------------- running
def calibration_error(y: np.ndarray, proba: np.ndarray, bins: int = 10) -> float:
    """Return the mean distance between probabilities and shares, over equal bins of all class probabilities.

    Examples
    --------
    >>> calibration_error(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]]), bins=1)
    0.0
    >>> calibration_error(np.array([0, 0]), np.array([[0.5, 0.5], [0.5, 0.5]]), bins=2)
    0.5
    """
    came = np.zeros_like(proba)
    came[np.arange(len(y)), y] = 1.0
    first = 1 if proba.shape[1] == 2 and bins > 2 else 0  # of two classes, the second is enough
    p, hit = proba[:, first:].ravel(), came[:, first:].ravel()
    parts = np.array_split(np.argsort(p, kind="stable"), bins)
    return float(sum(abs((p[part] - hit[part]).sum()) for part in parts) / len(p))


@cache
def _table(name: str) -> RealTable:
    table = load(name)
    if len(table.X) <= _MOST_ROWS:
        return table
    rows = np.sort(np.random.default_rng(0).choice(len(table.X), _MOST_ROWS, replace=False))
    X, y = table.X.iloc[rows], table.y.iloc[rows]
    return RealTable(
        table.name, X.reset_index(drop=True), y.reset_index(drop=True), table.task, table.words,
        table.source,
    )  # fmt: skip


def _run(contestant: Contestant, name: str, split: int) -> Run:
    table = _table(name)
    regression = table.task == "regression"
    part = split_of(table, split)
    y = np.asarray(part.y)
    figures = {"loss": np.nan, "calibration": 0.0, "fit": np.nan, "predict": np.nan, "error": ""}
    gc.collect()
    try:
        preparation = contestant.preparation()
        ready, ready_test = preparation.training(part.X, part.y), preparation.rows(part.X_test)
        model = contestant.make(regression, split)
        began = time.process_time()
        model.fit(ready, part.y)
        fitted = time.process_time()
        answer = model.predict(ready_test) if regression else model.predict_proba(ready_test)
        ended = time.process_time()
        answer = np.asarray(answer, dtype=float)
        figures |= {
            "loss": loss("log", part.y_test, answer),
            "calibration": 0.0 if regression else calibration_error(part.y_test, answer),
            "fit": fitted - began,
            "predict": ended - fitted,
        }
    except Exception as error:  # the others go on
        figures["error"] = f"{type(error).__name__}: {error}"[:200]
    return Run(
        model=contestant.name, version=contestant.version, table=name, split=split, rows=len(y),
        guess=guess("log", y, part.y_test, regression), **figures,
    )  # fmt: skip


def _work(
    contestants: Sequence[Contestant], tables: Sequence[str], splits: int, path: Path
) -> None:
    """Run what the file does not have, the smallest tables first."""
    known, warm = {run.key for run in _read(path)}, set[str]()
    sizes = {}
    for name in tables:
        try:
            sizes[name] = _table(name).X.size
        except Unavailable as lack:
            print(f"{name}: {lack}", file=sys.stderr)
    path.parent.mkdir(exist_ok=True)
    jobs = [(name, k) for name in sizes for k in range(splits)]
    # the first split of a large table comes before the others of a table a third its size
    for name, split in sorted(jobs, key=lambda job: (sizes[job[0]] * (1 + 2 * (job[1] > 0)), job)):
        for contestant in contestants:
            if (contestant.name, name, split) in known:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for _ in range(1 if contestant.name in warm else 2):  # a first run may compile
                    run = _run(contestant, name, split)
            warm.add(contestant.name)
            with path.open("a") as file:
                file.write(json.dumps(_rounded(asdict(run))) + "\n")
            print(f"{run.model:16} {name:18} {split} {run.fit:8.2f} s {run.error}", flush=True)


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in values.items()}


def _read(path: Path) -> list[Run]:
    if not path.exists():
        return []
    return [Run(**json.loads(line)) for line in path.read_text().splitlines()]


def _ours(label: str, stem: str, settings: dict[str, Any]) -> Contestant:
    """Return a model of ours under a label."""

    tried = {k.removeprefix("settings."): v for k, v in settings.items() if "." in k}
    own = {k: v for k, v in settings.items() if "." not in k}

    def make(regression: bool, seed: int) -> Any:
        import arboretum

        kind = getattr(arboretum, f"{stem}{'Regressor' if regression else 'Classifier'}")
        if not tried:
            return kind(n_jobs=1, random_state=seed, **own)

        class Tried(kind):
            def _settings(self, *sizes: Any) -> Any:
                return replace(super()._settings(*sizes), **tried)

        Tried.__init__ = kind.__init__
        return Tried(n_jobs=1, random_state=seed, **own)

    return Contestant(label, "arboretum-trees", Frame, make)


# ---------------------------------------------------------------------- comparing
def sign_test(won: int, lost: int) -> float:
    """Return the probability of a result at least as one-sided if either side is as likely to win.

    >>> sign_test(7, 1)
    0.0703125
    """
    n, most = won + lost, max(won, lost)
    if won == lost:
        return 1.0
    return min(2 * sum(comb(n, k) for k in range(most, n + 1)) / 2**n, 1.0)


@dataclass(frozen=True)
class _Pair:
    """Two models on the splits of one table that both have."""

    table: str
    rows: int
    loss: float  # ratio
    time: float  # ratio
    calibration: tuple[float, ...]  # of both


def _pairs(one: str, other: str, tables: Sequence[str], splits: int) -> Iterator[_Pair]:
    found = {
        run.key: run
        for run in [*_read(_PEERS_FILE), *_read(_OURS_FILE)]
        if not run.error and run.split < splits
    }
    for name in tables:
        both = [
            (found[one, name, k], found[other, name, k])
            for k in range(splits)
            if (one, name, k) in found and (other, name, k) in found
        ]
        if both:
            both_ways = ours, theirs = tuple(zip(*both))
            yield _Pair(
                name, ours[0].rows,
                relative_loss([r.loss for r in ours], [r.loss for r in theirs], [r.guess for r in ours]),
                sum(r.fit for r in ours) / max(sum(r.fit for r in theirs), 1e-9),
                tuple(float(np.mean([r.calibration for r in runs])) for runs in both_ways),
            )  # fmt: skip


_SIZES = (("all", 0, 10**9), ("< 2,000", 0, 2_000), ("2,000-", 2_000, 10**9))


def _compare(label: str, others: Sequence[str], tables: Sequence[str], splits: int) -> None:
    print("| other | rows | tables | won-lost | p | loss ratio | time ratio | calibration |")
    print("|---|---|---|---|---|---|---|---|")
    for other in others:
        every = list(_pairs(label, other, tables, splits))
        for title, least, most in _SIZES:
            some = [pair for pair in every if least <= pair.rows < most]
            if not some:
                continue
            won = sum(pair.loss < 1 - EVEN for pair in some)
            lost = sum(pair.loss > 1 + EVEN for pair in some)
            ours, theirs = np.mean([p.calibration for p in some], axis=0)
            print(
                f"| {other} | {title} | {len(some)} | {won}-{lost} | {sign_test(won, lost):.3f} | "
                f"{geometric_mean(p.loss for p in some):.4f} | "
                f"{geometric_mean(p.time for p in some):.3f} | {ours:.4f} {theirs:.4f} |"
            )


def _print_table(label: str, others: Sequence[str], tables: Sequence[str], splits: int) -> None:
    found = {o: {p.table: p for p in _pairs(label, o, tables, splits)} for o in others}
    print("| table | rows | " + " | ".join(others) + " |")
    print("|---|---|" + "---|" * len(others))
    for name in tables:
        some = [pairs.get(name) for pairs in found.values()]
        if any(some):
            rows = next(p.rows for p in some if p)
            cells = " | ".join("" if p is None else f"{p.loss:.3f} ({p.time:.2f})" for p in some)
            print(f"| {name} | {rows} | {cells} |")


def _print_coverage(wanted: float, tables: Sequence[str], splits: int) -> None:
    """Print the share of new rows that `predict_interval` and `predict_set` cover, table by table."""
    from arboretum import BoostedTreesClassifier, BoostedTreesRegressor

    print("| table | new rows | covered | size |\n|---|---|---|---|")
    covered, new_rows = [], []
    for name in tables:
        try:
            table = _table(name)
        except Unavailable:
            continue
        inside, sizes = [], []
        for split in range(splits):
            part = split_of(table, split)
            if table.task == "regression":
                number = BoostedTreesRegressor(random_state=split).fit(part.X, part.y)
                low, high = number.predict_interval(part.X_test, wanted).T
                inside.append((low <= part.y_test) & (part.y_test <= high))
                sizes.append((high - low) / np.std(part.y))
            else:
                model = BoostedTreesClassifier(random_state=split).fit(part.X, part.y)
                sets = model.predict_set(part.X_test, wanted)
                place = np.searchsorted(model.classes_, part.y_test)
                inside.append(sets[np.arange(len(sets)), place])
                sizes.append(sets.sum(axis=1))
        covered.append(float(np.mean(np.concatenate(inside))))
        new_rows.append(len(inside[0]))
        size = float(np.mean(np.concatenate(sizes)))
        print(f"| {name} | {new_rows[-1]} | {covered[-1]:.3f} | {size:.2f} |", flush=True)
    print(f"{len(covered)} tables, mean {np.mean(covered):.3f}, least {min(covered):.3f}")


# ---------------------------------------------------------------------- the command
def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def main(arguments: Sequence[str] | None = None) -> None:
    """Carry out the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.best", description=__doc__.split("\n")[0]
    )
    parser.add_argument("command", choices=("peers", "run", "compare", "table", "coverage"))
    parser.add_argument("words", nargs="*")
    parser.add_argument("--tables", nargs="+", default=["development"])
    parser.add_argument("--splits", type=int, default=_SPLITS)
    given = parser.parse_args(arguments)
    sets = {"development": DEVELOPMENT, "held_out": HELD_OUT, "all": table_names()}
    tables = [name for one in given.tables for name in sets.get(one, [one])]
    words = given.words
    if given.command == "peers":
        _work([PEERS[w] for w in words or PEERS], tables, given.splits, _PEERS_FILE)
    elif given.command == "run":
        label, stem, *settings = words
        pairs = dict(one.split("=", 1) for one in settings)
        ours = _ours(label, stem, {key: _value(text) for key, text in pairs.items()})
        _work([ours], tables, given.splits, _OURS_FILE)
    elif given.command == "coverage":
        warnings.simplefilter("ignore")
        _print_coverage(float(words[0]) if words else 0.9, tables, given.splits)
    else:
        show = _compare if given.command == "compare" else _print_table
        show(words[0], words[1:] or list(PEERS), tables, given.splits)


if __name__ == "__main__":
    main()
