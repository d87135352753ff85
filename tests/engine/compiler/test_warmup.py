"""Kernels are compiled ahead, in several processes, and nothing after that."""

import re
from pathlib import Path

import pytest

import arboretum
from arboretum.engine.compiler import warmup as module
from arboretum.engine.compiler.signatures import Signature, is_current
from arboretum.engine.compiler.warmup import Warmup, wanted, warmup
from arboretum.errors import ParameterError
from tests.engine.processes import run_script

ROOT = Path(__file__).resolve().parents[3]


def test_signatures_are_chosen_by_estimators():
    every, some = wanted(), wanted(["CARTClassifier", "XGBClassifier"])
    assert 0 < len(wanted(["CARTClassifier"])) < len(some) < len(every)
    assert all(one.users & {"CARTClassifier", "XGBClassifier"} for one in some)


def test_an_unknown_estimator_is_said():
    with pytest.raises(ParameterError, match="no estimator 'XTree' to warm up: there are CART"):
        warmup("XTree")


@pytest.mark.parametrize("n_jobs", [0, "two"])
def test_a_wrong_number_of_processes_is_said(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs must be"):
        warmup("CARTClassifier", n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("done", "text"),
    [
        (Warmup(3, 2, (), 4.2), "3 kernels compiled in 4 s, 2 were ready"),
        (Warmup(0, 5, (), 0.1), "nothing to compile, 5 were ready"),
        (Warmup(1, 0, ("m:f: gone",), 9.0), "1 kernel compiled in 9 s, 0 were ready, 1 failed"),
    ],
)
def test_it_says_what_it_did(done, text):
    assert str(done) == text


def test_what_the_sources_no_longer_have_fails_alone(monkeypatch):
    table = [
        Signature("arboretum.engine.random:no_such_kernel", ("int64",)),
        Signature("arboretum.engine.no_such_module:f", ()),
    ]
    monkeypatch.setattr(module, "read_table", lambda: table)
    done = warmup(verbose=False)
    assert (done.compiled, done.ready) == (0, 0)
    assert [line.partition(": ")[0] for line in done.failed] == [one.kernel for one in table]


TINY = """
import numpy as np
from arboretum.engine.compiler import warmup as module
from arboretum.engine.compiler.cache import compiled
from arboretum.engine.random import child_keys
from arboretum.engine.compiler.signatures import Signature

table = [
    Signature("arboretum.engine.random:child_keys", ("uint64 1C", "uint64 1C")),
    Signature("arboretum.engine.predict.walk:is_complete", ("float64 2C",)),
    Signature("arboretum.engine.predict.walk:is_complete", ("none",)),
]
module.read_table = lambda: table
print(*[(done.compiled, done.ready, len(done.failed)) for done in (module.warmup(n_jobs=2), module.warmup())])
child_keys(np.array([0], np.uint64), np.empty(2, np.uint64))
print(compiled.n_kernels)
"""


def test_processes_compile_into_the_cache_of_the_user(tmp_path):
    told, n_compiled = run_script(TINY, ARBORETUM_CACHE_DIR=str(tmp_path)).splitlines()
    assert told == "(2, 0, 1) (0, 2, 1)"
    assert n_compiled == "0"
    names = {re.sub("-.*", "", path.name) for path in tmp_path.rglob("*.kernel")}
    assert names >= {"child_keys", "is_complete"}


def test_without_compiling_there_is_nothing_to_do():
    script = "import arboretum; print(arboretum.warmup().compiled)"
    assert run_script(script, NUMBA_DISABLE_JIT="1").strip() == "0"


FITS = """
import sys, warnings
warnings.simplefilter("ignore")
from arboretum.engine.compiler.cache import compiled
from tests.golden.cases import all_cases
for case in all_cases():
    if type(case.make()).__name__ == "{name}":
        case.answers(case.fitted())
print(compiled.n_kernels, sorted({{one.kernel for one in compiled.functions}}))
"""


@pytest.mark.skipif(not is_current(), reason="kernels have changed: make record")
@pytest.mark.parametrize("name", ["CARTRegressor", "RandomForestClassifier", "XGBClassifier"])
def test_nothing_is_compiled_after_a_warmup(name):
    """The golden set in a fresh process."""
    warmup(name, verbose=False)
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})" + FITS.format(name=name)
    assert run_script(script).strip() == "0 []"


def test_the_public_name_is_the_function():
    assert arboretum.warmup is warmup
