"""Make or check the golden set: a hash of every model file and of its answers, for some 200 small fits.

    python -m tests.golden.make                      renew golden.txt, and say what changed
    python -m tests.golden.make --check              say what differs from golden.txt
    python -m tests.golden.make --bytes before.txt   keep the hashes of every bit in a file
    python -m tests.golden.make --bytes before.txt --check
                                                     say what differs from them
    python -m tests.golden.make --only xgb "lgbm/goss"
                                                     some families or cases only

golden.txt is what tests/golden/test_golden.py checks. Its hashes are of floats cut to nine digits, so that
they are the same on every machine (see `fingerprint`). A refactoring that must not change a bit is held
against ``--bytes``: made before the change, checked after it, on one machine, and not committed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import arboretum
from tests.golden.cases import Case, all_cases
from tests.golden.fingerprint import of_answers, of_model, saved

GOLDEN = Path(__file__).with_name("golden.txt")
NO_FILE = "-"  # in place of a hash: this model cannot be saved natively
_HEADER = """\
# What every fit of the golden set gives: hash of its model file | hash of its answers | name.
# Made by `python -m tests.golden.make`; a changed line is a changed model: its commit says why.
"""


class Line(NamedTuple):
    """The two hashes of a case."""

    model: str
    answers: str


def run(case: Case, *, exact: bool = False) -> Line:
    """Fit, save, load and ask: what is loaded must be what was saved."""
    model = case.fitted()
    answers = case.answers(model)
    line = Line(NO_FILE, of_answers(answers, exact=exact))
    if not case.saves:
        return line
    again = arboretum.load(saved(model))
    assert saved(again) == saved(model), f"{case.name}: the loaded model is saved differently"
    same = of_answers(answers, exact=True) == of_answers(case.answers(again), exact=True)
    assert same, f"{case.name}: the loaded model answers differently"
    return line._replace(model=of_model(model, exact=exact))


def differences(before: dict[str, Line], after: dict[str, Line]) -> Iterator[str]:
    """Yield a sentence for every case of ``after`` that is new or has changed."""
    for name, line in after.items():
        if name not in before:
            yield f"{name}: is new"
            continue
        parts = [
            what
            for what, old, new in zip(("the model file", "the answers"), before[name], line)
            if old != new
        ]
        if parts:
            yield f"{name}: {' and '.join(parts)} changed"


def read_lines(path: Path = GOLDEN) -> dict[str, Line]:
    """Return the kept hashes by the names of cases."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = (line.split(maxsplit=2) for line in lines if line and not line.startswith("#"))
    return {name: Line(model, answers) for model, answers, name in rows}


def write_lines(lines: dict[str, Line], path: Path = GOLDEN) -> None:
    rows = [f"{line.model:16}  {line.answers}  {name}\n" for name, line in lines.items()]
    path.write_text(_HEADER + "".join(rows), encoding="utf-8")


def chosen(only: Iterable[str]) -> list[Case]:
    """Return the cases of these names or families; all if there are none."""
    cases = all_cases()
    wanted = set(only)
    unknown = wanted - {case.name for case in cases} - {case.family for case in cases}
    if unknown:
        families = ", ".join(dict.fromkeys(case.family for case in cases))
        raise SystemExit(f"no case or family is called {sorted(unknown)}: families are {families}")
    return [c for c in cases if not wanted or c.name in wanted or c.family in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden.make", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--bytes", type=Path, metavar="FILE", help="every bit, kept in this file")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="families or cases")
    options = parser.parse_args()

    path = options.bytes or GOLDEN
    before = read_lines(path) if path.exists() else {}
    after = {}
    for case in chosen(options.only):
        after[case.name] = run(case, exact=options.bytes is not None)
        for sentence in differences(before, {case.name: after[case.name]}):
            print(sentence, flush=True)
    names = [case.name for case in all_cases()]
    gone = [name for name in before if name not in names]
    for name in gone:
        print(f"{name}: is no case any more")
    changed = [*differences(before, after), *gone]
    print(f"{len(after)} cases, {len(changed)} differ from {path.name}")
    if options.check:
        return int(bool(changed))
    merged = {**before, **after}
    write_lines({name: merged[name] for name in names if name in merged}, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
