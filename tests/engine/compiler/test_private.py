"""What a kernel calls is compiled into it: same answers, less to compile, and Numba left as it was."""

import gc
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numba
import numpy as np
import pytest

from arboretum.engine.compiler import private
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.compiler.private import LINKED
from tests.engine.processes import SOURCE, run_script

ROOT = Path(__file__).resolve().parents[3]
needs_parts = pytest.mark.skipif(
    not LINKED, reason="functions are not compiled into their callers here"
)


@inline
def doubled(x):
    return 2.0 * x


@subkernel(makes_arrays=True)
def doubled_all(values):
    made = np.empty(len(values))
    for i in range(len(values)):
        made[i] = doubled(values[i])
    return made


@subkernel
def total(values):
    found = 0.0
    for i in range(len(values)):
        found += values[i]
    return found


@kernel(makes_arrays=True)
def total_of_doubled(values):
    return total(doubled_all(values))


@kernel(makes_arrays=True)
def twice_that(values):
    return 2.0 * total_of_doubled(values)


@needs_parts
def test_only_kernels_that_python_calls_become_machine_code():
    values = np.arange(5.0)
    assert twice_that(values) == 40.0
    assert not total_of_doubled.overloads  # it was compiled into the other
    assert total_of_doubled(values) == 20.0
    assert len(total_of_doubled.overloads) == 1


def test_python_runs_the_text_of_a_part():
    assert doubled(1.5) == 3.0
    assert total(np.array([1.0, 2.0])) == 3.0


@needs_parts
def test_numba_is_left_as_it_was():
    generator = private.cpu_target.target_context.codegen()
    twice_that(np.arange(3.0, dtype=np.float32))
    assert "_library_class" not in vars(generator)
    assert gc.isenabled()

    @numba.njit
    def of_a_user(values):
        return np.empty(len(values)).size + total(values)

    assert of_a_user(np.ones(3)) == 6.0


@needs_parts
def test_an_error_while_compiling_leaves_numba_as_it_was():
    @kernel
    def impossible(values):
        return values.no_such_attribute

    with pytest.raises(numba.TypingError):
        impossible(np.ones(2))
    assert numba.njit(lambda x: x + 1)(1) == 2
    assert gc.isenabled()


@needs_parts
def test_garbage_is_not_collected_while_a_kernel_is_compiled():
    gc.disable()
    try:
        with private._no_garbage_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
    with private._no_garbage_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


# ---------------------------------------------------------------------- versions of Numba
def test_the_range_of_versions_is_the_one_that_was_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (bounds,) = (line for line in project["dependencies"] if line.startswith("numba"))
    last = int(private.TESTED[-1].partition(".")[2])
    assert bounds == f"numba>={private.TESTED[0]},<0.{last + 1}"
    pins = project["optional-dependencies"]["kernels"]
    numba_pin, llvmlite_pin = (re.fullmatch(r"(\w+)==([\d.]+)", pin) for pin in pins)
    assert (numba_pin[1], llvmlite_pin[1]) == ("numba", "llvmlite")
    assert numba_pin[2].rpartition(".")[0] in private.TESTED


# run before the package is imported
PRETEND = """
import sys, numba
numba.__version__ = "99.1.0"
sys.path.insert(0, ROOT)
from arboretum.engine.compiler.private import LINKED, UNTESTED
assert UNTESTED and not LINKED
""".replace("ROOT", repr(str(ROOT)))
KERNELS = """
import numpy as np
from tests.engine.compiler import test_by_address, test_by_reference, test_private
test_by_address.test_a_kernel_is_called_by_its_address()
test_by_address.test_a_kernel_that_is_not_needed_is_not_called()
test_by_reference.test_a_kernel_reads_every_field_and_writes_into_its_arrays(True)
print(test_private.twice_that(np.arange(5.0)))
"""
GOLDEN = """
from tests.golden import make
names = ["cart/gini", "forest/words", "gradient/two classes", "xgb/two classes"]
kept = make.read_lines()
for case in make.chosen(names):
    assert make.run(case) == kept[case.name], case.name
print(len(names))
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled here")
def test_with_an_untested_numba_kernels_are_what_numba_makes_of_them(tmp_path):
    assert run_script(PRETEND + KERNELS, ARBORETUM_CACHE_DIR=str(tmp_path)).strip() == "40.0"
    assert not list(tmp_path.rglob("*"))


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled here")
def test_with_an_untested_numba_models_are_the_same():
    assert run_script(PRETEND + GOLDEN).strip() == "4"


def test_an_untested_numba_is_worth_a_line():
    script = PRETEND + "import arboretum.engine.compiler.decorators"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = done.stderr.splitlines()
    assert "pip install 'arboretum-trees[kernels]'" in line
