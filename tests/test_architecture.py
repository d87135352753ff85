"""The house rules that a program can check: who may import whom, what kernels may contain, what is
loaded when, and that every example in the documentation is true.
"""

import ast
import doctest
import functools
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import arboretum

ROOT = Path(arboretum.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(arboretum.__path__, "arboretum.")
    if not info.name.endswith("__main__")
)
KNOWN = {"arboretum", *MODULES}


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _room(module: str) -> str:
    """Return the part of the house a module stands in: the second word of its name."""
    return [*module.split("."), ""][1]


# ---------------------------------------------------------------------- imports point one way
# A room may import from rooms of lower rank, and from itself.
_ORDER = [
    "errors html atomic_file lazy registry",
    "engine",
    "data",
    "io",
    "structure",
    "predict",
    "grow",
    "base",
    "cart c45",
    "forest",
    "boosting",
    "combine callback",
    "distributed streams",
    "explain",
    "comparison",
    "tree ensemble",
    "inspection",
    "cli",
]
RANK = {room: rank for rank, rooms in enumerate(_ORDER) for room in rooms.split()}

# Files are arrays and words: they need nothing compiled, though the engine stands below them.
APART = {("io", "engine")}


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _imports(tree: ast.AST, module: str, *, is_package: bool) -> Iterator[str]:
    """Yield what a module imports, anywhere in it, but for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if _is_type_checking(node):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                up = module.split(".")[: len(module.split(".")) - node.level + is_package]
                source = ".".join([*up, source] if source else up)
            yield from (_resolve(source, alias.name) for alias in node.names)
        else:
            yield from _imports(node, module, is_package=is_package)


def _resolve(source: str, name: str) -> str:
    """Return the module that really provides a name: public names have a home elsewhere."""
    if source == "arboretum" and name in arboretum._HOME:
        return arboretum._HOME[name]
    return f"{source}.{name}" if f"{source}.{name}" in KNOWN else source


@functools.cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@functools.cache
def _imports_of(path: Path) -> set[str]:
    module = _module_name(path)
    is_package = path.name == "__init__.py"
    return set(_imports(_parsed(path), module, is_package=is_package))


def test_the_import_reader_reads_all_kinds_of_imports():
    source = """
import numpy as np, arboretum.errors
from arboretum import CARTClassifier, __version__, errors as e
from arboretum.data.schema import Schema
from . import pruning
from .tree import Tree
from ..data import matrix
if TYPE_CHECKING:
    from arboretum.cli import app
def f():
    from arboretum.io.native import save
"""
    found = set(_imports(ast.parse(source), "arboretum.structure.state", is_package=False))
    assert found == {
        "numpy", "arboretum.errors", "arboretum.cart.cart", "arboretum", "arboretum.data.schema",
        "arboretum.structure.pruning", "arboretum.structure.tree", "arboretum.data.matrix",
        "arboretum.io.native",
    }  # fmt: skip


def _points_up(module: str, name: str) -> bool:
    """Whether a module may import another."""
    room, other = _room(module), _room(name)
    if room == "textbook" or other == "textbook":  # it stands alone; worksheets show its figures
        sheets = ("worksheet", "outline")
        return room == other or module.startswith(
            tuple(f"arboretum.explain.{one}." for one in sheets)
        )
    return other == room or (RANK[other] < RANK[room] and (room, other) not in APART)


def test_imports_point_up_the_house():
    modules = {_module_name(path): path for path in FILES}
    inside = {module for module in modules if _room(module) and not module.endswith("__main__")}
    assert {_room(module) for module in inside} - {"textbook"} <= set(RANK), "give rooms a rank"
    wrong = [
        f"{module} imports {name}"
        for module in sorted(inside)
        for name in sorted(_imports_of(modules[module]))
        if name.startswith("arboretum.") and not _points_up(module, name)
    ]
    assert wrong == []


# The methods `report`, `partial_dependence` and the like of every estimator call the public functions.
MAY_IMPORT_ALL = {"arboretum.base.estimator"}


def test_the_package_itself_is_no_way_around_the_order():
    """`import arboretum` reaches every room, and only the command line is above all."""
    importers = {
        _module_name(path) for path in FILES if "arboretum" in _imports_of(path)
    } - MAY_IMPORT_ALL
    assert [name for name in sorted(importers) if _room(name) not in ("cli", "__main__")] == []


# ---------------------------------------------------------------------- rooms one can look around in
def test_no_path_has_more_than_three_words():
    """Below the worksheets, families have rooms of their own."""
    short = {m: m.replace("explain.worksheet.families.", "families.") for m in MODULES}
    assert [module for module in MODULES if len(short[module].split(".")) > 4] == []


# ---------------------------------------------------------------------- one class, one name
def test_a_class_has_a_name_of_its_own():
    homes: dict[str, list[str]] = {}
    for path in FILES:
        if "textbook" in path.parts:
            continue
        for node in ast.walk(_parsed(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    twice = {name: files for name, files in homes.items() if len(files) > 1}
    assert twice == {}


def test_the_textbook_needs_nothing_of_the_package():
    """Not even its version or its errors: it can be read, and copied, by itself."""
    for path in (ROOT / "textbook").rglob("*.py"):
        for name in _imports_of(path):
            assert name != "arboretum", path.name
            assert not name.startswith("arboretum.") or _room(name) == "textbook", path.name


# What makes and keeps compiled code; kernels themselves know `jit` only.
MAKE_CODE = [ROOT / "engine" / "atomic.py", ROOT / "engine" / "simd.py"]
MAKE_CODE += (ROOT / "engine" / "compiler").glob("*.py")


def test_only_the_engine_compiles():
    users = [path for path in FILES if any(n.split(".")[0] == "numba" for n in _imports_of(path))]
    assert set(users) <= set(MAKE_CODE)


# ---------------------------------------------------------------------- what kernels may contain
def test_kernels_stay_plain():
    """No jitclass, no prange, no parallel=True, no fastmath: see CONTRIBUTING."""
    refused = {"jitclass", "prange", "vectorize", "guvectorize"}
    for path in (ROOT / "engine").rglob("*.py"):
        for node in ast.walk(_parsed(path)):
            word = getattr(node, "id", None) or getattr(node, "attr", None)
            assert word not in refused, f"{path}: {word}"
            if isinstance(node, ast.keyword):
                assert node.arg not in ("parallel", "fastmath"), f"{path}: {node.arg}"


def test_no_file_unpickles():
    """But for compiled code, of the package and of the user's own: to read it is to run it anyway."""
    loads = re.compile(r"\b(c?pickle|dill|joblib|marshal|shelve)\s*\.\s*(loads?|open)\b", re.I)
    modules = {"pickle", "dill", "marshal", "shelve", "cloudpickle"}
    readers = [
        path for path in FILES if loads.search(path.read_text()) or _imports_of(path) & modules
    ]
    assert set(readers) <= {ROOT / "engine" / "compiler" / "compiled_code.py"}


# ---------------------------------------------------------------------- what is loaded when
HEAVY = ("numba", "pandas", "polars", "pyarrow", "matplotlib", "narwhals", "rich", "typer")


def _loaded(statement: str) -> tuple[set[str], float]:
    """Run a statement in a new Python; return the top-level modules it loads, and its seconds."""
    script = f"import sys, time; t = time.perf_counter(); {statement}; t = time.perf_counter() - t"
    script += "; print(t, *{name.partition('.')[0] for name in sys.modules})"
    env = {**os.environ, "PYTHONPATH": str(ROOT.parent)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=env, check=True
    )
    seconds, *names = done.stdout.split()
    return set(names), float(seconds)


def test_importing_the_package_loads_almost_nothing():
    loaded, seconds = _loaded("import arboretum")
    print(f"import arboretum: {seconds:.3f} s")
    assert "arboretum" in loaded
    assert not loaded & {*HEAVY, "sklearn", "scipy", "joblib", "numpy"}


@pytest.mark.parametrize("name", ["load", "export_text", "plot_tree", "to_rules"])
def test_a_public_name_loads_only_what_it_is_made_of(name):
    loaded, seconds = _loaded(f"import arboretum; arboretum.{name}")
    print(f"arboretum.{name}: {seconds:.3f} s")
    assert not loaded & {*HEAVY, "sklearn"}


def test_an_estimator_loads_scikit_learn_and_nothing_heavy_besides():
    theirs, _ = _loaded("import sklearn.base")  # which loads pandas if it is there
    loaded, seconds = _loaded("import arboretum; arboretum.CARTClassifier()")
    print(f"arboretum.CARTClassifier: {seconds:.3f} s")
    assert not (loaded - theirs) & set(HEAVY)
    assert "numba" not in loaded


# ---------------------------------------------------------------------- public names
def test_public_names_resolve_and_are_documented():
    assert re.fullmatch(r"\d+\.\d+\.\d+\w*", arboretum.__version__)
    assert set(arboretum.__all__) <= set(dir(arboretum))
    for name in set(arboretum.__all__) - {"__version__"}:
        assert len(inspect.getdoc(getattr(arboretum, name)) or "") > 20, name


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'arboretum' has no attribute 'XTree'"):
        arboretum.XTree
    assert not hasattr(arboretum, "nonsense")


def test_modules_are_documented_and_their_names_exist():
    for module in MODULES:
        loaded = importlib.import_module(module)
        assert loaded.__doc__, module
        for name in getattr(loaded, "__all__", ()):
            found = getattr(loaded, name)
            if callable(found):
                assert inspect.getdoc(found), f"{module}.{name} has no docstring"


# ---------------------------------------------------------------------- documentation is true
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _examples(module) -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder()
    found = finder.find(module)
    for name, value in vars(module).items():
        function = getattr(value, "py_func", None)  # what a kernel was before it was compiled
        if function is not None and function.__module__ == module.__name__:
            found += finder.find(function, f"{module.__name__}.{name}", module=module)
    unique = {(test.name, test.lineno): test for test in found if test.examples}
    return list(unique.values())


# `_examples` looks for the same sign; a module without it need not be imported to be passed over.
WITH_EXAMPLES = [
    _module_name(path)
    for path in FILES
    if ">>> " in path.read_text() and _module_name(path) in MODULES
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_in_docstrings(module, monkeypatch, tmp_path):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    output: list[str] = []
    for test in _examples(importlib.import_module(module)):
        runner.run(test, out=output.append)
    assert runner.failures == 0, "".join(output)


def test_there_are_examples_to_run():
    documented = [m for m in WITH_EXAMPLES if _examples(importlib.import_module(m))]
    assert len(documented) >= 20
    for home in set(arboretum._HOME.values()) - {"arboretum.errors"}:
        assert home in documented, f"{home} shows no example of its public names"
