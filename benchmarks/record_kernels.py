"""Record which kernels are called with what: ``python -m benchmarks.record_kernels`` (or `make record`).

Runs what uses the library with ``ARBORETUM_RECORD_KERNELS`` set and writes what it called to
engine/compiler/signatures.json, from which wheels and `arboretum warmup` are made:

    XGBClassifier, …   a tour per estimator: its golden cases and tables of every kind (kernel_tour.py)
    demo               arboretum demo
    pages              the examples of README and docs
    real               python -m benchmarks real --quick

The table keeps a hash of the kernels that each of these calls, and only those are run whose kernels have
changed since; ``--all`` runs all of them, ``XGBClassifier demo`` these two. A change outside the engine that
calls other kernels than before is not noticed: name the estimators, or take ``--all``.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import arboretum
from arboretum.engine.compiler.signatures import (
    DEMO,
    TABLE,
    Signature,
    read_table,
    stale_users,
    write_table,
)

__all__ = ["commands", "main", "merge"]

ROOT = Path(__file__).resolve().parents[1]


def commands() -> dict[str, list[str]]:
    """Return what is run for every user of kernels, as arguments of Python."""
    tours = {name: ["-m", "benchmarks.kernel_tour", name] for name in arboretum.ESTIMATORS}
    folder = tempfile.gettempdir()
    demo = ["-m", "arboretum", "demo", "--force", "-o", str(Path(folder, "arboretum-demo"))]
    real = ["-m", "benchmarks", "--quick", "--out", folder, "real"]
    return {**tours, DEMO: demo, "pages": ["-m", "benchmarks.page_tour"], "real": real}


def run(user: str) -> list[Mapping]:
    """Run a command; return the calls it recorded."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record")
        record.touch()
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *commands()[user]],
            cwd=ROOT,
            env={**os.environ, "ARBORETUM_RECORD_KERNELS": str(record)},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    state = "" if done.returncode == 0 else f", exit code {done.returncode}"
    print(f"{user}: {time.perf_counter() - start:.0f} s{state}", flush=True)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
    return lines


def merge(calls: Mapping[str, Iterable[Mapping]], known: Iterable[Signature]) -> list[Signature]:
    """Return the signatures of a table: ``calls`` of the users that were run, what is known of others."""
    found: dict[tuple[str, str], set[str]] = {}
    for one in known:
        users = one.users - calls.keys()
        found.setdefault((one.kernel, json.dumps(one.arguments)), set()).update(users)
    for user, lines in calls.items():
        for line in lines:
            if "arguments" in line:
                key = line["kernel"], json.dumps(line["arguments"])
                found.setdefault(key, set()).add(user)
    every = (
        Signature(kernel, tuple(json.loads(arguments)), frozenset(users))
        for (kernel, arguments), users in found.items()
        if users
    )
    return [one for one in every if _is_known(one)]


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
    """Run what has changed, or what was asked for, and write the table."""
    every = commands()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.record_kernels")
    parser.add_argument("users", nargs="*", metavar="user", help="default: whose kernels changed")
    parser.add_argument("--all", action="store_true", help="run all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    asked = parser.parse_args()
    unknown = set(asked.users) - every.keys()
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(every)}")
    users = list(every) if asked.all else asked.users or stale_users(every)
    with ThreadPoolExecutor(asked.jobs) as pool:
        calls = dict(zip(users, pool.map(run, users)))
    known = list(read_table()) if TABLE.exists() else []
    signatures = merge(calls, [one for one in known if one.users & every.keys()])
    write_table(signatures, recorded=users)
    names = {(one.kernel, json.dumps(one.arguments)) for one in known}
    new = sum((one.kernel, json.dumps(one.arguments)) not in names for one in signatures)
    lines = (line for lines in calls.values() for line in lines)
    print(*sorted({line["unknown"] for line in lines if "unknown" in line}), sep="\n")
    print(f"{len(users)} run; {TABLE.name}: {len(signatures)} signatures, {new} of them new")
    return 0


if __name__ == "__main__":
    sys.exit(main())
