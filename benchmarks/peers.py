"""How far do the peers' own tests pass with arboretum's classes?

    python -m benchmarks peers sklearn [--files test_tree test_forest] [--list]
    python -m benchmarks peers xgboost --source ../xgboost/tests/python
    python -m benchmarks peers lightgbm --source ../LightGBM/tests/python_package_test

The test files are copied to a temporary folder, and a plugin puts arboretum's classes in place of the peer's
in the modules that the tests import. All else stays the peer's:

    test_tree.py ──copy──►  temporary folder  ──pytest──►  passed, failed, first line of each error
                            conftest.py: sklearn.tree.DecisionTreeClassifier = arboretum's

scikit-learn installs its tests; the others' are read from ``--source``. A test that makes none of arboretum's
models, such as one of the peer's native classes, is counted apart. A failure that `docs/peers.md` lists is
deliberate, and a listed test that passes is named, so that the list stays true.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import NamedTuple
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "peers.md"

_SKLEARN = """
tree/tests/test_tree tree/tests/test_monotonic_tree tree/tests/test_export tree/tests/test_split
ensemble/tests/test_forest ensemble/tests/test_bagging ensemble/tests/test_weight_boosting
ensemble/tests/test_gradient_boosting ensemble/tests/test_stacking ensemble/tests/test_voting
ensemble/tests/test_common ensemble/tests/test_base ensemble/tests/test_iforest
ensemble/_hist_gradient_boosting/tests/test_gradient_boosting
ensemble/_hist_gradient_boosting/tests/test_warm_start
ensemble/_hist_gradient_boosting/tests/test_monotonic_constraints
ensemble/_hist_gradient_boosting/tests/test_compare_lightgbm
inspection/tests/test_partial_dependence inspection/tests/test_permutation_importance
inspection/_plot/tests/test_plot_partial_dependence inspection/_plot/tests/test_boundary_decision_display
"""

# The modules whose names the tests import; arboretum's take their place where it has them.
_PLUGIN = '''
"""Put arboretum's names into the modules of the peer, and note which tests make a model of arboretum's."""
import importlib

import pytest

import arboretum
from arboretum.base.estimator import Estimator

for name in arboretum.ESTIMATORS:
    getattr(arboretum, name)


def _ours(path, names):
    same = names is None or path in {mirrored!r}
    return importlib.import_module(path.replace({peer!r}, "arboretum") if same else "arboretum")


{more}
swaps = [  # all are imported before a name is swapped
    (importlib.import_module(path), _ours(path, names), names) for path, names in {swaps!r}.items()
]
for module, ours, names in swaps:
    for name in ours.__all__ if names is None else names:
        if name in ours.__all__ and hasattr(module, name):
            setattr(module, name, getattr(ours, name))

made = 0


def _count(cls, *args, **kwargs):
    global made
    made += 1
    return object.__new__(cls)


Estimator.__new__ = _count
for module, ours, names in swaps:  # objects of callbacks count, too
    for name in ("early_stopping", "log_evaluation", "record_evaluation", "reset_parameter"):
        if names is not None and name in names:
            getattr(ours, name).__new__ = _count


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    before = made
    item._made = lambda: made - before
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    if item._made():
        item.user_properties[:] = [("reached", "arboretum")]
    return (yield)
'''


# LightGBM's tests read names of its earlier versions, such as PANDAS_INSTALLED, pd_Series and pa_array, and
# leave out those checks of scikit-learn that a private method of its classes lists.
_COMPAT = """
from importlib.util import find_spec

import lightgbm.compat

Estimator._more_tags = lightgbm.LGBMModel._more_tags


def _former(name):
    short, _, rest = name.partition("_")
    if name.endswith("_INSTALLED"):
        return find_spec(short.lower()) is not None
    if short in ("pa", "pd"):
        return getattr(importlib.import_module("pyarrow" if short == "pa" else "pandas"), rest)
    raise AttributeError(name)


lightgbm.compat.__getattr__ = _former
"""


@dataclass(frozen=True)
class Suite:
    """The tests of a peer: its modules with the names that are swapped in them, and the test files.

    Names may be missing in arboretum. None: all of the module of arboretum that has the same name.
    ``more`` is code that runs before the tests.

    ``mirrored``: modules whose names, listed here, also come from that module.
    ``left_out``: tests that change the peer for those after them.
    """

    modules: Mapping[str, tuple[str, ...] | None]
    files: tuple[
        str, ...
    ] = ()  # below the folder of the tests, without .py; all test files if empty
    more: str = ""
    mirrored: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


_XGBOOST = (
    *(f"XGB{kind}" for kind in ("Model", "Classifier", "Regressor", "Ranker", "RFClassifier", "RFRegressor")),
    "plot_importance", "plot_tree", "to_graphviz",
)  # fmt: skip
_XGBOOST_CALLBACKS = (
    "EarlyStopping",
    "EvaluationMonitor",
    "LearningRateScheduler",
    "TrainingCheckPoint",
)
_LIGHTGBM = (
    *(f"LGBM{kind}" for kind in ("Model", "Classifier", "Regressor", "Ranker")),
    "plot_importance", "plot_tree", "plot_metric", "plot_split_value_histogram", "create_tree_digraph",
    "early_stopping", "log_evaluation", "record_evaluation", "reset_parameter",
)  # fmt: skip
SUITES = {
    "sklearn": Suite(
        dict.fromkeys(("sklearn.tree", "sklearn.ensemble", "sklearn.inspection")),
        tuple(_SKLEARN.split()),
    ),
    "xgboost": Suite(
        {
            **dict.fromkeys(("xgboost", "xgboost.sklearn", "xgboost.plotting"), _XGBOOST),
            # not TrainingCallback: the peer's own functions accept its class only, and so must ours
            "xgboost.callback": _XGBOOST_CALLBACKS,
        },
        mirrored=("xgboost.callback",),
        left_out=("test_with_sklearn.py::test_data_initialization",),
    ),
    "lightgbm": Suite(
        {
            **dict.fromkeys(
                ("lightgbm", "lightgbm.sklearn", "lightgbm.plotting", "lightgbm.callback"),
                _LIGHTGBM,
            ),
            "lightgbm.basic": ("LightGBMError",),
        },
        more=_COMPAT,
    ),
}
DATA = ("demo", "examples")  # folders two levels above the tests


class Outcome(NamedTuple):
    """One test: its file, its name, the first line of its error ("" if it passed), and if it made a model."""

    file: str
    test: str
    error: str
    reached: bool = True

    @property
    def listed_as(self) -> str:
        """The name of the test in the list of deliberate differences."""
        return f"{self.file}::{self.test}"


def run(suite: Suite, folder: Path, files: Sequence[str], jobs: int) -> list[Outcome]:
    """Run the tests of a suite with arboretum's classes."""
    with tempfile.TemporaryDirectory() as temporary:
        tests = Path(temporary) / "tests" / "python"
        copytree(
            folder, tests, ignore=ignore_patterns("*.so", "*.pyx", "__pycache__", "__init__.py")
        )
        for path in tests.glob("test_*.py"):  # the copy is a folder of modules, no package
            path.write_text(re.sub(r"^from \.(\w)", r"from \1", path.read_text(), flags=re.M))
        for beside in (folder.resolve().parents[1] / name for name in DATA):
            if beside.is_dir():
                (Path(temporary) / beside.name).symlink_to(beside)
        swaps = {name: names for name, names in suite.modules.items() if find_spec(name)}
        peer = next(iter(suite.modules)).partition(".")[0]
        plugin = Path(temporary) / "swapped_names.py"
        code = _PLUGIN.format(swaps=swaps, peer=peer, mirrored=suite.mirrored, more=suite.more)
        plugin.write_text(code)
        wanted = suite.files or sorted(path.stem for path in tests.glob("test_*.py"))
        paths = [f"{name}.py" for name in wanted if not files or Path(name).stem in files]
        report = Path(temporary) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "swapped_names", "-p", "no:cacheprovider",
                   "--import-mode=importlib", f"--junitxml={report}", f"--rootdir={tests}", "--tb=short",
                   "--continue-on-collection-errors", *(f"--deselect={name}" for name in suite.left_out),
                   *(["-n", str(jobs)] if jobs > 1 else []), *paths]  # fmt: skip
        given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        path = os.pathsep.join([temporary, str(ROOT / "src"), str(tests), *filter(None, given)])
        env = {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
        subprocess.run(command, cwd=tests, env=env, check=False, stdout=sys.stderr)
        return list(outcomes(report))


def outcomes(report: Path) -> Iterable[Outcome]:
    """Read the report that pytest has written; skipped tests are left out."""
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is not None:
            continue
        wrong = case.find("failure") if case.find("failure") is not None else case.find("error")
        file = file_name(case.get("classname", ""))
        error = "" if wrong is None else first_line(wrong.get("message", "") or "no message")
        reached = case.find("properties/property[@name='reached']") is not None
        yield Outcome(file, case.get("name", ""), error, reached)


def file_name(module: str) -> str:
    """Return the short name of a test file: the name of its module, after that of a private package.

    The name of a class of tests may follow that of the module.

    >>> file_name("tree.tests.test_tree.TestTree"), file_name("ensemble._hist.tests.test_warm_start")
    ('test_tree', '_hist/test_warm_start')
    """
    *packages, name = module.split(".")
    while packages and not name.startswith("test_"):
        name = packages.pop()
    return "/".join([*(one for one in packages if one.startswith("_")), name])


def first_line(message: str) -> str:
    """Return the line of a message that says what went wrong, without numbers and names of one test.

    >>> first_line("AttributeError: 'Tree' object has no attribute 'apply'")
    "AttributeError: 'Tree' object has no attribute 'apply'"
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    told = next(
        (line for line in lines if re.match(r"[\w.]+(Error|Warning|Exception)\b", line)), lines[0]
    )
    return told[:150]


def deliberate(text: str, peer: str) -> dict[str, str]:
    """Return the listed differences of a peer, test → reason.

    >>> deliberate("| sklearn | `test_tree::test_big_input` | float64 |", "sklearn")
    {'test_tree::test_big_input': 'float64'}
    """
    rows = re.findall(r"^\| (\w+) \| `([^`]+)` \| (.+) \|$", text, re.M)
    return {test: reason for name, test, reason in rows if name == peer}


def print_tables(found: list[Outcome], reasons: dict[str, str], *, every: bool) -> None:
    """Print passed and failed by file, then the causes, most frequent first.

    A share counts the failures that are not deliberate, among the tests that made a model of arboretum's.
    """
    console = Console(width=190)
    files = Table("file", "passed", "failed", "of them deliberate", "other failures", "not reached")
    causes: Counter[str] = Counter()
    for file in [*dict.fromkeys(one.file for one in found), "all"]:
        inside = [one for one in found if file in (one.file, "all")]
        here = [one for one in inside if one.reached]
        failed = [one for one in here if one.error]
        listed = sum(reason_of(one, reasons) != "" for one in failed)
        share = f"{(len(failed) - listed) / max(len(here), 1):.1%}"
        counts = len(here) - len(failed), len(failed), listed, share, len(inside) - len(here)
        files.add_row(file, *map(str, counts))
    console.print(files)
    found = [one for one in found if one.reached]
    for one in found:
        if one.error and not reason_of(one, reasons):
            causes[f"{one.file}: {one.error}"] += 1
            if every:
                console.print(f"{one.listed_as}  {one.error}", markup=False)
    table = Table("tests", "cause")
    for cause, n in causes.most_common():
        table.add_row(str(n), cause.replace("[", r"\["))
    console.print(table)
    passing = {one.listed_as.partition("[")[0] for one in found if not one.error}
    broken = {one.listed_as.partition("[")[0] for one in found if one.error}
    for name in reasons:
        if name.partition("[")[0] in passing - broken:
            console.print(f"{name} passes: take it off the list in docs/peers.md", markup=False)


def reason_of(one: Outcome, reasons: dict[str, str]) -> str:
    """Return why a test fails on purpose: listed by its full name or without its parameters."""
    name = one.listed_as
    return reasons.get(name) or reasons.get(name.partition("[")[0], "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a peer's tests and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks peers")
    parser.add_argument("peer", choices=sorted(SUITES))
    parser.add_argument("--source", type=Path, help="folder with the peer's test files")
    parser.add_argument("--files", nargs="+", metavar="NAME", default=[], help="only these files")
    parser.add_argument("--jobs", type=int, default=1, help="processes of pytest")
    parser.add_argument("--list", action="store_true", help="also name every failed test")
    asked = parser.parse_args(arguments)
    folder = asked.source
    if folder is None:
        spec = find_spec(asked.peer)
        if asked.peer != "sklearn" or spec is None or spec.origin is None:
            parser.error(f"{asked.peer} installs no tests: give their folder, --source <folder>")
        folder = Path(spec.origin).parent
    found = run(SUITES[asked.peer], folder, asked.files, asked.jobs)
    print_tables(
        found, deliberate(LIST.read_text() if LIST.exists() else "", asked.peer), every=asked.list
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
