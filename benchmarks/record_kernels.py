"""Write down anew which kernels are called with what: ``python -m benchmarks.record_kernels`` (or `make
record`).

Runs what uses the library, every process of it with ``ARBORETUM_RECORD_KERNELS`` set, and writes what
estimators at work have called to engine/compiler/signatures.json, from which wheels and
`arboretum warmup` are made:

    first    the first fit and answer of every estimator on tables of three kinds (first_use.py): the ways
             of use, by which a fit that has to compile knows what it will need next
    tour     a process per estimator: its golden cases and tables of every kind (kernel_tour.py)
    pages    the examples of README and docs, `arboretum demo`
    real     python -m benchmarks real --quick
    tests    the test suite
    quick    all other benchmarks, --quick

Only what was called while some estimator was inside one of its methods counts: tests of kernels call them
with types that no estimator has. ``--only tour pages`` runs some of these; ``--add`` keeps what the table
has (and the sources still have).
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import arboretum
from arboretum.engine.compiler.signatures import (
    TABLE,
    WAY,
    Signature,
    Ways,
    read_table,
    read_ways,
    write_table,
)
from benchmarks import BENCHMARKS
from benchmarks.first_use import KINDS

__all__ = ["main", "merge", "merge_ways"]

ROOT = Path(__file__).resolve().parents[1]


def steps() -> dict[str, list[list[str]]]:
    """Return the commands of every step, as arguments of Python."""
    quick = [name for name in BENCHMARKS if name not in ("real", "startup")]
    bench = ["-m", "benchmarks", "--quick", "--out", tempfile.gettempdir()]
    demo = Path(tempfile.gettempdir(), "arboretum-demo-of-kernels")
    first = [[name, kind] for name in arboretum.ESTIMATORS for kind in KINDS]
    return {
        "first": [["-m", "benchmarks.first_use", *words] for words in first],
        "tour": [["-m", "benchmarks.kernel_tour", name] for name in arboretum.ESTIMATORS],
        "pages": [
            ["-m", "benchmarks.page_tour"],
            ["-m", "arboretum", "demo", "-o", str(demo)],
        ],
        "real": [[*bench, "real"]],
        "tests": [["-m", "pytest", "-q", "-n", "2"]],
        "quick": [[*bench, name] for name in quick],
    }


def run(commands: Iterable[list[str]], record: Path) -> None:
    """Run commands one after another; what they call is appended to ``record``."""
    env = {**os.environ, "ARBORETUM_RECORD_KERNELS": str(record)}
    for arguments in commands:
        is_way = arguments[1] == "benchmarks.first_use"
        env[WAY] = " ".join(arguments[2:]) if is_way else ""
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        state = "" if done.returncode == 0 else f", exit code {done.returncode}"
        print(f"{' '.join(arguments)}: {time.perf_counter() - start:.0f} s{state}", flush=True)
        if done.returncode:
            print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)


def merge(lines: Iterable[Mapping], known: Iterable[Signature] = ()) -> list[Signature]:
    """Return what estimators at work have called, every signature once."""
    found = {(one.kernel, json.dumps(one.arguments)): set(one.estimators) for one in known}
    for line in lines:
        if line["estimators"] and "arguments" in line:
            key = line["kernel"], json.dumps(line["arguments"])
            found.setdefault(key, set()).update(line["estimators"])
    every = (
        Signature(kernel, tuple(json.loads(arguments)), frozenset(estimators))
        for (kernel, arguments), estimators in found.items()
    )
    return [one._replace(size=_size(one)) for one in every if _is_known(one)]


def merge_ways(lines: Iterable[Mapping], known: Ways) -> Ways:
    """Return what every first fit and answer has called, in that order; what was recorded now counts."""
    found: dict[str, dict[str, Signature]] = {}
    for line in lines:
        if line.get("way") and line["estimators"] and "arguments" in line:
            one = Signature(line["kernel"], tuple(line["arguments"]))
            found.setdefault(line["way"], {})[json.dumps(one[:2])] = one
    return {**known, **{name: list(way.values()) for name, way in found.items()}}


def _size(signature: Signature) -> int:
    """Return how many bytes a kernel has in the cache of whoever records."""
    from numba.core.registry import cpu_target

    file = signature.dispatcher()._cache.file(signature.types(), cpu_target.target_context)
    return file.stat().st_size if file is not None and file.exists() else signature.size


def _is_known(signature: Signature) -> bool:
    """Return whether the sources have such a kernel; tests define some of their own."""
    try:
        if not signature.kernel.startswith("arboretum."):
            return False
        inspect.signature(signature.dispatcher().py_func).bind(*signature.arguments)
        return bool(signature.types())
    except Exception:
        return False


def main() -> int:
    """Run the steps that were asked for and write the table."""
    every = steps()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.record_kernels")
    parser.add_argument("--only", nargs="+", choices=every, default=list(every), metavar="STEP")
    parser.add_argument("--add", action="store_true", help="keep what the table has")
    parser.add_argument("--from", dest="records", type=Path, nargs="+", help="records made before")
    parser.add_argument("--out", type=Path, default=TABLE, help="another file than the package's")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record")
        record.touch()
        for step in asked.only if asked.records is None else ():
            run(every[step], record)
        texts = [path.read_text(encoding="utf-8") for path in (record, *(asked.records or ()))]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    known = list(read_table()) if TABLE.exists() else []
    signatures = merge(lines, known if asked.add else ())
    write_table(signatures, asked.out, merge_ways(lines, read_ways() if asked.add else {}))
    names = {(one.kernel, json.dumps(one.arguments)) for one in known}
    new = sum((one.kernel, json.dumps(one.arguments)) not in names for one in signatures)
    unknown = sorted({line["unknown"] for line in lines if "unknown" in line})
    print(*unknown, sep="\n", end="\n" if unknown else "")
    print(f"{asked.out.name}: {len(signatures)} signatures, {new} of them new")
    return 0


if __name__ == "__main__":
    sys.exit(main())
