"""Editors and type checkers know every public name: `__init__.pyi` says what `__init__.py` imports when
asked."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import arboretum

STUB = Path(arboretum.__file__).with_suffix(".pyi")
USAGE = Path(__file__).parent / "typing" / "usage.py"


def stub_names():
    """Return public name -> module, as the stub says."""
    found = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            found |= {
                alias.asname: node.module for alias in node.names if alias.asname == alias.name
            }
    return found


def test_the_stub_has_exactly_the_public_names():
    names = stub_names()
    assert {names.pop(module) for module in arboretum._MODULES} == {"arboretum"}
    assert names == arboretum._HOME
    assert {*names, *arboretum._MODULES, "__version__"} == set(arboretum.__all__)


@pytest.mark.parametrize("name", sorted(arboretum._HOME))
def test_every_name_is_where_the_stub_says(name):
    assert getattr(importlib.import_module(stub_names()[name]), name) is getattr(arboretum, name)


def test_mypy_reads_the_usage():
    import tomllib

    settings = tomllib.loads((USAGE.parents[2] / "pyproject.toml").read_text())["tool"]["mypy"]
    assert "tests/typing" in settings["files"]


def test_pyright_accepts_the_usage():
    pytest.importorskip("pyright", reason="pyright is not installed")
    try:
        run = subprocess.run(
            [sys.executable, "-m", "pyright", "--outputjson", "--level", "error", str(USAGE)],
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        found = json.loads(run.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        pytest.skip("pyright cannot run here: it needs node and its package")
    errors = [each["message"] for each in found["generalDiagnostics"]]
    assert errors == []


def test_editors_complete():
    jedi = pytest.importorskip("jedi", reason="jedi is not installed")
    source = "import arboretum as ar\nar.XGB"
    names = [found.name for found in jedi.Script(source).complete(2, 6)]
    known = [
        "XGBClassifier",
        "XGBModel",
        "XGBRanker",
        "XGBRegressor",
        "XGBRFClassifier",
        "XGBRFRegressor",
    ]
    assert sorted(names) == sorted(known)
    source = "from arboretum import CARTClassifier\nmodel = CARTClassifier()\nmodel.pred"
    names = [found.name for found in jedi.Script(source).complete(3, 10)]
    assert {"predict", "predict_proba", "predict_log_proba"} <= set(names)
