"""How kernels are compiled: where they are kept, and the two ways to check them.

Three tests start a Python of their own, because Numba reads its settings when it is imported.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from arboretum.engine import jit

SOURCE = str(Path(jit.__file__).parents[2])


def _run(script: str, **environment: str) -> str:
    """Run a script in a new Python; return what it prints."""
    inherited = {name: v for name, v in os.environ.items() if not name.startswith("NUMBA_")}
    env = {**inherited, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", script],
        env=env,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


# ---------------------------------------------------------------------- where compiled code is kept
def test_the_directory_changes_with_the_sources(monkeypatch, tmp_path):
    (tmp_path / "jit.py").write_text("x = 1")
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "jit.py"))
    names = [jit.cache_directory().name]
    (tmp_path / "other.py").write_text("y = 1")
    names.append(jit.cache_directory().name)
    (tmp_path / "other.py").write_text("y = 2")
    names.append(jit.cache_directory().name)
    (tmp_path / "notes.txt").write_text("not a source")
    assert jit.cache_directory().name == names[-1]
    assert len(set(names)) == 3


def test_the_directory_changes_with_the_version(monkeypatch):
    before = jit.cache_directory().name
    monkeypatch.setattr(jit.arboretum, "__version__", "99.0")
    assert jit.cache_directory().name == before.replace(before.split("-")[1], "99.0")


def test_checked_code_is_kept_apart(monkeypatch):
    monkeypatch.setattr(jit.numba.config, "BOUNDSCHECK", 1)
    checked = jit.cache_directory().name
    monkeypatch.setattr(jit.numba.config, "BOUNDSCHECK", None)
    assert checked == jit.cache_directory().name + "-checked"


def test_environment_variables_move_the_directory(monkeypatch, tmp_path):
    for name in ("ARBORETUM_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert jit.cache_directory().parent.name in ("arboretum", "cache")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert jit.cache_directory().parent == tmp_path / "xdg" / "arboretum"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert jit.cache_directory().parent == tmp_path / "numba"
    monkeypatch.setenv("ARBORETUM_CACHE_DIR", str(tmp_path / "mine"))
    assert jit.cache_directory().parent == tmp_path / "mine"


def test_numbas_own_setting_is_lent_not_changed():
    before = jit.numba.config.CACHE_DIR
    jit.kernel(lambda x: x)
    assert before == jit.numba.config.CACHE_DIR


@pytest.fixture
def _no_user_cache(monkeypatch, tmp_path):
    """A cache that cannot be written (below a file), and a temporary directory of our own."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("ARBORETUM_CACHE_DIR", str(blocked / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.usefixtures("_no_user_cache")
def test_a_private_temporary_directory_stands_in(tmp_path):
    found = Path(jit._writable_cache())
    assert found.is_relative_to(tmp_path)
    assert found.name == jit.cache_directory().name
    assert found.is_dir()
    if hasattr(os, "getuid"):
        assert found.parent.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("_no_user_cache")
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no user numbers")
@pytest.mark.parametrize("trap", ["link", "open to all"])
def test_a_directory_others_could_have_prepared_is_not_used(tmp_path, trap):
    """Compiled code is executed: never read it from where somebody else could have put it."""
    private = tmp_path / f"arboretum-{os.getuid()}"
    if trap == "link":
        (tmp_path / "elsewhere").mkdir()
        private.symlink_to(tmp_path / "elsewhere")
    else:
        private.mkdir()
        private.chmod(0o777)
    assert jit._writable_cache() is None


def test_a_user_without_a_home_gets_a_temporary_directory(monkeypatch, tmp_path):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("ARBORETUM_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(jit.Path, "home", staticmethod(no_home))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert Path(jit._writable_cache()).is_relative_to(tmp_path)


def test_without_any_place_kernels_compile_all_the_same(monkeypatch):
    monkeypatch.setattr(jit, "_CACHE", None)

    @jit.kernel
    def double(x):
        return 2 * x

    assert double(21) == 42


READ_ONLY_HOME = """
import numpy as np
from arboretum.engine import jit
from arboretum.engine.random import child_keys
keys = np.empty(2, np.uint64)
child_keys(np.array([0], np.uint64), keys)
print(jit._CACHE)
print(f"{keys[0]:x}")
"""


def test_a_read_only_home_falls_back_to_the_temporary_directory(tmp_path):
    blocked = tmp_path / "home"
    blocked.write_text("a file, in which no directory can be made")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    where, key = _run(
        READ_ONLY_HOME,
        HOME=str(blocked),
        USERPROFILE=str(blocked),
        LOCALAPPDATA=str(blocked),
        XDG_CACHE_HOME=str(blocked),
        ARBORETUM_CACHE_DIR="",
        NUMBA_CACHE_DIR="",
        TMPDIR=str(temporary),
        TEMP=str(temporary),
    ).split()
    assert Path(where).is_relative_to(temporary)
    assert key == "e220a8397b1dcdaf"
    assert list(Path(where).rglob("*.nbi"))  # compiled code was kept there


# ---------------------------------------------------------------------- kernels as plain Python
SMALL_FITS = """
import json, numpy as np, pandas as pd
from arboretum import CARTClassifier, CARTRegressor

rng = np.random.default_rng(0)
n = 60
X = pd.DataFrame({
    "number": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
    "few": rng.integers(0, 4, n).astype(float),
    "word": rng.choice(np.array(["u", "v", "w", None]), n),
})
y = rng.integers(0, 3, n)
models = [
    CARTClassifier(), CARTClassifier(criterion="entropy"), CARTClassifier(surrogates=2),
    CARTClassifier(splitter="random", random_state=0), CARTClassifier(max_leaf_nodes=6),
    CARTRegressor(), CARTRegressor(criterion="absolute_error"), CARTRegressor(criterion="poisson"),
    CARTRegressor(max_features=1, random_state=0), CARTRegressor(max_bins=4),
]
answers = []
for model in models:
    weight = np.linspace(0.5, 2, n) if isinstance(model, CARTRegressor) else None
    tree = model.fit(X, y, weight).tree_
    answers.append([
        tree.feature.tolist(), np.nan_to_num(tree.threshold).tolist(), tree.bits.tolist(),
        tree.missing_child.tolist(), tree.impurity.tolist(), model.predict(X).tolist(),
        model.decision_path(X).indices.tolist(),
    ])
many = rng.normal(size=(700, 2))  # more rows than a byte counts
tree = CARTRegressor(max_depth=3).fit(many, np.sin(many.sum(axis=1))).tree_
answers.append([tree.feature.tolist(), tree.count.tolist(), [], [], tree.impurity.tolist(), [], []])
print(json.dumps(answers))
"""


def test_kernels_are_ordinary_python_and_give_the_same_trees():
    compiled = json.loads(_run(SMALL_FITS))
    interpreted = json.loads(_run(SMALL_FITS, NUMBA_DISABLE_JIT="1"))
    assert len(compiled) == 11
    for mine, theirs in zip(compiled, interpreted):
        assert mine[:4] == theirs[:4]
        np.testing.assert_allclose(mine[4], theirs[4], rtol=1e-12)
        assert mine[5:] == theirs[5:]


# ---------------------------------------------------------------------- with every index checked
CHECKED_FITS = """
import itertools, numpy as np, pandas as pd, scipy.sparse as sp
from arboretum import CARTClassifier, CARTRegressor
from arboretum.engine.jit import _CACHE, inline

@inline
def beyond(a):
    return a[7]

assert _CACHE.endswith("-checked"), _CACHE
try:
    beyond(np.zeros(3))
    raise SystemExit("indices are not checked")
except IndexError:
    pass

rng = np.random.default_rng(0)
n = 150
numbers = np.where(rng.random((n, 3)) < 0.2, np.nan, rng.normal(size=(n, 3)))
table = pd.DataFrame(numbers, columns=list("abc"))
table["few"] = rng.integers(0, 4, n).astype(float)
table["word"] = rng.choice(np.array([*"uvwxyz", None]), n)
table["many"] = [f"w{i}" for i in rng.integers(0, 40, n)]
table["rank"] = pd.Categorical(rng.choice(["lo", "mid", "hi"], n), ["lo", "mid", "hi"], ordered=True)
table["none"] = np.nan
few, two, number = rng.integers(0, 4, n), rng.integers(0, 2, n), rng.exponential(size=n)
several = np.column_stack([few, two])
weight = rng.exponential(size=n)
sparse = sp.random(n, 6, 0.3, format="csr", random_state=0)
ways = [
    {}, {"surrogates": 3}, {"splitter": "random", "random_state": 0},
    {"max_features": 2, "random_state": 0}, {"max_bins": 5}, {"max_leaf_nodes": 9},
]
for way in ways:
    for criterion, y in itertools.product(("gini", "entropy"), (few, several)):
        model = CARTClassifier(criterion=criterion, **way).fit(table, y)
        model.predict(table), model.decision_path(table)
    alike = "max_leaf_nodes" in way or "splitter" in way  # but for what one criterion shows
    for criterion in ("squared_error", *([] if alike else ["friedman_mse", "absolute_error", "poisson"])):
        model = CARTRegressor(criterion=criterion, **way).fit(table, number, weight)
        model.predict(table), model.decision_path(table)
    CARTClassifier(**way).fit(sparse, few, weight).predict(sparse)
    if not alike:
        CARTClassifier(**way).fit(table, two, weight).predict(table)
    CARTRegressor(min_samples_leaf=20, min_weight_fraction_leaf=0.1, **way).fit(sparse, number)
for Model, y in ((CARTClassifier, few), (CARTRegressor, number)):
    Model().prune_cv(table, y, cv=3)
    for rows in (1, 2, 3):
        Model(surrogates=2, unseen="missing").fit(table[:rows], y[:rows]).predict(table)
CARTClassifier(monotonic_cst={"a": 1, "rank": -1}, criterion="entropy").fit(table, two)
CARTRegressor(monotonic_cst={"a": 1, "rank": -1}).fit(table, number)
print("done")
"""


def test_no_kernel_reads_or_writes_outside_its_arrays(tmp_path):
    """All kernels are compiled anew, with bounds checks and, to save time, little optimisation.

    Two classes always come with weights: without them the kernels are those of regression with
    another dtype, which would only take longer to compile.
    """
    out = _run(
        CHECKED_FITS, NUMBA_BOUNDSCHECK="1", NUMBA_OPT="0", ARBORETUM_CACHE_DIR=str(tmp_path)
    )
    assert out.split() == ["done"]
