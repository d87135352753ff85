"""Weka's J48, the best known C4.5 in Java, as a contender: one training run from the command line.

    arrays  →  a table in a temporary folder  →  java …J48 -t table -no-cv  →  leaves, size, times

Weka is not a Python package. Debian has it as ``weka``; elsewhere the environment variable
``WEKA_JAR`` says where the jar lies. Without it a benchmark goes on and tells the reason. Two times
come back: Weka's own for building the tree, and the clock's for the whole command, which also starts
Java, reads the table and classifies the training rows once. Writing the table is timed apart.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["J48", "Weka", "find_weka", "run_j48", "train_j48", "write_arff"]

_CLASS = "weka.classifiers.trees.J48"
_TARGET = "class"
_ROWS_AT_ONCE = 65_536  # rows turned into text together: fast, and little memory
_STACK = "64m"  # J48 descends its trees by recursion, and noisy data make them deep


@dataclass(frozen=True)
class Weka:
    """Where Java and Weka are."""

    java: str
    jar: str


@dataclass(frozen=True)
class J48:
    """What one training run of J48 told."""

    leaves: int
    size: int  # all nodes, leaves included
    accuracy: float  # on the training rows, or on those of the option -T
    build_seconds: float  # by Weka's own clock: building the tree, pruning included
    seconds: float  # by ours: the whole command
    write_seconds: float  # turning the arrays into a table beforehand
    text: str  # the tree as Weka prints it, without the heading


def find_weka() -> tuple[Weka | None, str]:
    """Return Weka and an empty string; or None and what is missing.

    The jar is the one that ``WEKA_JAR`` names, else ``share/java/weka.jar`` (Debian's place) beside
    the ``bin`` folder of a ``weka`` or ``java`` program.

    Examples
    --------
    >>> weka, reason = find_weka()
    >>> (weka is None) == bool(reason)
    True
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java") or (home and shutil.which("java", path=str(Path(home, "bin"))))
    if not java:
        return None, "Java is not installed: no program java on the path"
    named = os.environ.get("WEKA_JAR")
    if named:
        if Path(named).is_file():
            return Weka(java, named), ""
        return None, "Weka is not there: WEKA_JAR does not name a file"
    for program in (shutil.which("weka"), java):
        if program:
            jar = Path(program).parent.parent / "share" / "java" / "weka.jar"
            if jar.is_file():
                return Weka(java, str(jar)), ""
    return None, "Weka is not installed: install the package weka, or set WEKA_JAR to its jar"


def _quoted(value: object) -> str:
    """Return a name or a category as ARFF writes it."""
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def _missing(value: Any) -> bool:
    return value is None or value != value


def _is_numeric(column: np.ndarray) -> bool:
    return column.dtype.kind in "iuf"


def _domain(column: np.ndarray) -> list[Any]:
    """Return the categories of a column that has no given ones: the values it holds, sorted."""
    return sorted({value for value in column.tolist() if not _missing(value)})


def _numbers(column: np.ndarray) -> list[str]:
    return ["?" if value != value else repr(value) for value in column.tolist()]


def _words(name: str, column: np.ndarray, tokens: Mapping[Any, str]) -> list[str]:
    try:
        return ["?" if _missing(value) else tokens[value] for value in column.tolist()]
    except KeyError as error:
        raise ValueError(
            f"column {name!r} holds {error.args[0]!r}, which is not among its categories: add it"
        ) from None


def _lines(
    columns: Mapping[str, np.ndarray], domains: Mapping[str, Sequence[Any]]
) -> Iterator[str]:
    """Yield the rows as text, many at a time."""
    tokens = {name: {value: _quoted(value) for value in domain} for name, domain in domains.items()}
    n_rows = len(next(iter(columns.values())))
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        cells = [
            _words(name, column[part], tokens[name]) if name in tokens else _numbers(column[part])
            for name, column in columns.items()
        ]
        yield "\n".join(map(",".join, zip(*cells, strict=True))) + "\n"


def write_arff(
    path: Path,
    columns: Mapping[str, Any],
    target: str,
    categories: Mapping[str, Sequence[Any]] | None = None,
) -> None:
    """Write columns of equal length as Weka's table format; NaN and None are missing.

    Columns of numbers stay numbers; all others, and the target, are categories. ``categories`` gives
    the values of a column in order (a column of numbers named here becomes one of categories); else
    they are the sorted values that occur. The target is written last, where J48 looks for it.

    Raises
    ------
    ValueError
        For an infinite number, which Weka cannot read, or a value outside the given categories.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.arff")
    ...     write_arff(path, {"x": [1.5, np.nan], "y": ["no", "yes"]}, target="y")
    ...     print(path.read_text().replace("\\n\\n", "\\n"))
    @relation table
    @attribute 'x' numeric
    @attribute 'y' {'no','yes'}
    @data
    1.5,'no'
    ?,'yes'
    <BLANKLINE>
    """
    given = dict(categories or {})
    order = [name for name in columns if name != target] + [target]
    arrays = {name: np.asarray(columns[name]) for name in order}
    domains: dict[str, Sequence[Any]] = {}
    for name, column in arrays.items():
        if name in given or name == target or not _is_numeric(column):
            domains[name] = given.get(name) or _domain(column)
        elif np.isinf(column).any():
            raise ValueError(f"column {name!r} holds an infinite number: Weka cannot read it")
    with path.open("w", encoding="utf-8") as file:
        file.write("@relation table\n\n")
        for name in order:
            values = ",".join(map(_quoted, domains[name])) if name in domains else None
            kind = "numeric" if values is None else f"{{{values}}}"
            file.write(f"@attribute {_quoted(name)} {kind}\n")
        file.write("\n@data\n")
        file.writelines(_lines(arrays, domains))


def _number(pattern: str, text: str) -> float:
    found = re.findall(pattern, text)
    if not found:
        raise RuntimeError(f"J48 printed nothing like {pattern!r}")
    return float(found[-1])  # figures of held-out rows come last


def _complaint(printed: str) -> str:
    """Return the line that names the error: Weka prints its manual after it, Java a trace."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    named = [line for line in lines if re.search(r"exception|error", line, re.IGNORECASE)]
    return (named or lines or ["it printed nothing"])[0]


def _read(printed: str, seconds: float) -> J48:
    correct = _number(r"Correctly Classified Instances\s+([\d.]+)", printed)
    return J48(
        leaves=int(_number(r"Number of Leaves\s*:\s*(\d+)", printed)),
        size=int(_number(r"Size of the tree\s*:\s*(\d+)", printed)),
        accuracy=correct / _number(r"Total Number of Instances\s+([\d.]+)", printed),
        build_seconds=_number(r"Time taken to build model:\s*([\d.]+)", printed),
        seconds=seconds,
        write_seconds=0.0,
        text=re.split("-{9,}", printed, maxsplit=1)[1].split("Number of Leaves")[0].strip(),
    )


def run_j48(
    X: Mapping[str, Any] | np.ndarray,
    y: Any,
    options: Sequence[str] = (),
    *,
    categories: Mapping[str, Sequence[Any]] | None = None,
    heap: str = "2g",
) -> tuple[J48 | None, str]:
    """Train J48 once, end to end; return what it told and an empty string, or None and a reason.

    Parameters
    ----------
    X
        Named columns, or an array whose columns are numbers.
    y
        The classes, in a column of their own.
    options
        J48's options, such as ``("-C", "0.1", "-M", "5")``.
    categories
        The values of columns that are categories, in order; the target's under ``"class"``.
    heap
        Memory for Java, in Java's own words.

    Raises
    ------
    RuntimeError
        If J48 fails: the line in which it names the error.
    ValueError
        If a column of ``X`` is called like the target, or as `write_arff` says.

    Examples
    --------
    >>> run, reason = run_j48(np.array([[0.0], [0.1], [1.0], [1.1]]), ["a", "a", "b", "b"])
    >>> (run.leaves, run.size, run.accuracy) if run else (2, 3, 1.0)
    (2, 3, 1.0)
    """
    weka, reason = find_weka()
    if weka is None:
        return None, reason
    named = X if isinstance(X, Mapping) else {f"x{k}": X[:, k] for k in range(X.shape[1])}
    if _TARGET in named:
        raise ValueError(f"a column of X is called {_TARGET!r}, like the target: rename it")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.arff")
        start = time.perf_counter()
        write_arff(table, {**named, _TARGET: y}, _TARGET, categories)
        written = time.perf_counter() - start
        return replace(train_j48(weka, table, options, heap=heap), write_seconds=written), ""


def train_j48(weka: Weka, table: Path, options: Sequence[str] = (), *, heap: str = "2g") -> J48:
    """Train J48 on a table that is written already; raise RuntimeError if it fails."""
    command = [weka.java, f"-Xmx{heap}", f"-Xss{_STACK}", "-Djava.awt.headless=true"]
    command += ["-cp", weka.jar, _CLASS, "-t", str(table), "-no-cv", *options]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0 or "Number of Leaves" not in done.stdout:
        raise RuntimeError(f"J48 failed: {_complaint(done.stderr + done.stdout)}")
    return _read(done.stdout, seconds)
