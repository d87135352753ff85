"""What the sources weigh: lines, rooms, kernels, and how many ways lead to one result.

    python -m benchmarks.weight                 this checkout
    python -m benchmarks.weight ../before       another one, by the lists of this one
    python -m benchmarks.weight --static        without the traced fits and the report

Sources are read as syntax trees; only the traced fits import them. Grow loops, split scans, walks and
the predicates that choose between them cannot be recognised by a program: they are listed by name below. A
name that is gone is an error, so the lists stay true: a change that removes a way removes its line here.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

__all__ = ["code_lines", "measure", "missing_names"]

HERE = Path(__file__).resolve().parent.parent
KERNELS = {"addressed", "inline", "kernel", "subkernel"}
MOST_PARAMETERS = 9
MOST_FILES = 16  # a fuller room may hold two ideas

# file -> functions; "Class.method" for methods. Paths are below src/arboretum.
GROW_LOOPS = {
    "c45/growing.py": "grow",
    "engine/second_order/exact_levels.py": "_grow",
    "engine/second_order/grow.py": "grow",
    "engine/second_order/rounds.py": "grow_rounds",
    "grow/sharded/batches.py": "BatchGrower._grow",
    "engine/presorted/grow.py": "grow_tree",
    "engine/depth_first/grow.py": "grow_trees",
    "grow/exact/levels.py": "grow_levels",
    "grow/presorted/grower.py": "PresortedGrower._grow_shared",
    "grow/cart.py": "_CartTree.grow",
    "grow/stumps.py": "StumpGrower.grow",
}
SPLIT_SCANS = {
    "engine/cases/cases.py": "scan_thresholds scan_values",
    "engine/cases/grouping.py": "scan_groups",
    "engine/second_order/categories.py": "_scan_single _scan_by_ratio _scan_by_answer",
    "engine/second_order/exact.py": "_scan_list _score_plain _score_any",
    "engine/second_order/numbers.py": "scan_number scan_packed",
    "engine/second_order/symmetric.py": "best_of_level",
    "engine/presorted/categories.py": "scan_categories",
    "engine/presorted/counted.py": "scan_counted",
    "engine/presorted/search.py": "_scan_plain _scan_full",
    "engine/presorted/weighted.py": "_walk_cuts _walk_node",
    "engine/depth_first/best_cut.py": "_walk_keys",
    "engine/depth_first/counts.py": "walk_counts",
    "engine/depth_first/random_cut.py": "_score_cut",
    "engine/depth_first/toss.py": "toss",
    "engine/split/absolute.py": "_best_cut",
    "engine/split/categories.py": "scan_categories",
    "engine/split/class_counts.py": "_scan",
    "engine/split/counts.py": "walk_codes",
    "engine/split/many_sums.py": "_walk",
    "engine/split/one_sum.py": "_walk",
    "engine/stump/classes.py": "_walk",
    "engine/stump/two_classes.py": "_walk_cuts _walk_categories",
}
WALKS = {
    "engine/cases/cases.py": "answer",
    "engine/cases/propagate.py": "spread_proba",
    "engine/second_order/decode.py": "walk_codes",
    "engine/predict/bit_tables.py": "add_tables",
    "engine/predict/bitmask.py": "add_answers add_vectors",
    "engine/predict/open_codes.py": "add_states",
    "engine/predict/open_walk.py": "_next_leaf",
    "engine/predict/packed_walk.py": "_walk_sets _walk_side_by_side _walk_row",
    "engine/predict/tournament.py": "play",
    "engine/predict/walk.py": "walk_general _walk_rows",
}
CHOOSERS = {
    "grow/choose.py": "choose_grower trees_of_a_call",
    "grow/depth_first/grid.py": "share_a_grid",
    "predict/engines/choose.py": "choose",
}


# ---------------------------------------------------------------------- reading
def _sources(root: Path) -> dict[str, str]:
    folder = root / "src" / "arboretum"
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.py"))
    }


def code_lines(text: str) -> int:
    """Count the lines that hold code: no blank lines, comments or docstrings.

    >>> code_lines('"About."\\n\\nx = 1  # one\\n# two\\ndef f():\\n    "Three."\\n    return x\\n')
    3
    """
    lines = set()
    skipped = (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if ast.get_docstring(node, clean=False) is not None and first is not None:
                lines.difference_update(range(first.lineno, (first.end_lineno or 0) + 1))
    return len(lines)


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        else:
            yield from _functions(node, prefix)


def _decorators(function: ast.FunctionDef) -> set[str]:
    calls = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return {d.id for d in calls if isinstance(d, ast.Name)}


# ---------------------------------------------------------------------- counting
def missing_names(trees: dict[str, ast.Module], named: dict[str, str]) -> list[str]:
    """Return the functions of a list above that are not in the sources."""
    missing = []
    for file, names in named.items():
        found = {name for name, _ in _functions(trees[file])} if file in trees else set()
        missing += [f"{file}:{name}" for name in names.split() if name not in found]
    return missing


def _depth_of_classes(trees: dict[str, ast.Module]) -> int:
    """Return the longest chain of classes of the package, estimators and errors aside."""
    bases: dict[str, list[str]] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [b.id for b in node.bases if isinstance(b, ast.Name)]

    def depth(name: str) -> int:
        return 1 + max((depth(b) for b in bases[name] if b in bases and b != name), default=0)

    def is_apart(name: str) -> bool:
        apart = {"Estimator", "Declared", "Exception", "ArboretumError"}
        return name in apart or any(is_apart(b) for b in bases.get(name, []) if b != name)

    return max(depth(name) for name in bases if not is_apart(name))


def _private_reaches(trees: dict[str, ast.Module]) -> int:
    """Count reads of ``thing._name`` in explain whose name explain does not define itself.

    `_anatomy` is what explain is meant to read (base/anatomy.py); `_asdict` and `_replace` are methods
    of tuples.
    """
    rooms = {file: tree for file, tree in trees.items() if file.startswith("explain/")}
    own = {
        node.attr
        for tree in rooms.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("self", "cls")
    }
    own |= {"_anatomy", "_asdict", "_replace"}
    own |= {name.split(".")[-1] for tree in rooms.values() for name, _ in _functions(tree)}
    reads = (
        node
        for tree in rooms.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
    )
    return sum(node.attr not in own for node in reads)


def _replaced(trees: dict[str, ast.Module]) -> int:
    """Count attributes of other packages' classes and modules that `replaced` exchanges."""
    return sum(
        len(node.keywords)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "replaced"
    )


def _imports_internals(tree: ast.Module) -> bool:
    internal = ("numba.core", "numba.np", "numba.typed", "numba.cpython", "llvmlite")
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return any(name.startswith(internal) for name in names)


def measure(root: Path) -> dict[str, int]:
    """Return every figure that the sources alone give, by its name.

    Raises
    ------
    LookupError
        If a function of the lists above is gone.
    """
    sources = _sources(root)
    trees = {file: ast.parse(text) for file, text in sources.items()}
    lists = {
        "grow loops": GROW_LOOPS,
        "split scans": SPLIT_SCANS,
        "walks": WALKS,
        "predicates that choose": CHOOSERS,
    }
    gone = [name for named in lists.values() for name in missing_names(trees, named)]
    if gone:
        raise LookupError(f"remove or rename in benchmarks/weight.py: {', '.join(gone)}")
    kernels = [
        (node, _decorators(node) & KERNELS)
        for tree in trees.values()
        for _, node in _functions(tree)
    ]
    kernels = [(node, used) for node, used in kernels if used]
    explain = [tree for file, tree in trees.items() if file.startswith("explain/")]
    lines = {file: code_lines(text) for file, text in sources.items()}
    rooms = Counter(Path(file).parent for file in sources if "/" in file)
    book = sum(n for file, n in lines.items() if file.startswith("textbook/"))
    return {
        "code lines without textbook": sum(lines.values()) - book,
        "code lines of the textbook": book,
        "files": len(sources),
        "rooms": len(rooms),
        "rooms of more than 16 files": sum(n > MOST_FILES for n in rooms.values()),
        "compiled functions": len(kernels),
        "kernel decorators": len(set().union(*(used for _, used in kernels))),
        "kernels with more than nine parameters": sum(
            len(node.args.args) > MOST_PARAMETERS for node, _ in kernels
        ),
        **{what: sum(len(n.split()) for n in named.values()) for what, named in lists.items()},
        "replaced attributes of Numba and llvmlite": _replaced(trees),
        "files that import their internals": sum(map(_imports_internals, trees.values())),
        "inheritance depth outside estimators": _depth_of_classes(trees),
        "getattr and hasattr in explain": sum(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "hasattr")
            for tree in explain
            for node in ast.walk(tree)
        ),
        "private attributes of models that explain reads": _private_reaches(trees),
    }


_TRACED = """
import warnings
warnings.simplefilter("ignore")
from benchmarks.files_entered import count, fits, report
for name, call in {**fits(), "report": report}.items():
    files, turns = count(call)
    print(name, len(files), len(turns), flush=True)
"""


def traced(root: Path) -> dict[str, int]:
    """Return the files entered and upward turns of fits and of a report with the sources of ``root``."""
    environment = os.environ | {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{HERE}"}
    done = subprocess.run(
        [sys.executable, "-c", _TRACED],
        env=environment,
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        check=True,
    )
    found = {}
    for line in done.stdout.splitlines():
        name, files, turns = line.split()
        found[f"files entered, {name}"] = int(files)
        found[f"upward turns, {name}"] = int(turns)
    return found


def main() -> None:
    """Print the figures of a checkout."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", nargs="?", type=Path, default=HERE)
    parser.add_argument("--static", action="store_true", help="only what the sources give")
    options = parser.parse_args()
    root = options.checkout.resolve()
    for name, figure in {**measure(root), **({} if options.static else traced(root))}.items():
        print(f"{name:50s}{figure:>10,}")


if __name__ == "__main__":
    main()
