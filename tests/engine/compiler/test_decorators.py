"""The two ways to check kernels: as plain Python, and with every index checked.

These tests start a Python of their own, because Numba reads its settings when it is imported.
"""

import json

import numpy as np
import pytest

from tests.engine.processes import run_script

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
    compiled = json.loads(run_script(SMALL_FITS))
    interpreted = json.loads(run_script(SMALL_FITS, NUMBA_DISABLE_JIT="1"))
    assert len(compiled) == 11
    for mine, theirs in zip(compiled, interpreted):
        assert mine[:4] == theirs[:4]
        np.testing.assert_allclose(mine[4], theirs[4], rtol=1e-12)
        assert mine[5:] == theirs[5:]


# ---------------------------------------------------------------------- with every index checked
CHECKED_FITS = """
import itertools, numpy as np, pandas as pd, scipy.sparse as sp
from arboretum import CARTClassifier, CARTRegressor
from arboretum.engine.compiler.decorators import _CACHE, inline

@inline
def beyond(a):
    return a[7]

assert _CACHE.name.endswith("-checked"), _CACHE
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


@pytest.mark.slow
def test_no_kernel_reads_or_writes_outside_its_arrays(tmp_path):
    """All kernels are compiled anew, with bounds checks and, to save time, little optimisation.

    Two classes always come with weights: without them the kernels are those of regression with
    another dtype, which would only take longer to compile.
    """
    out = run_script(
        CHECKED_FITS, NUMBA_BOUNDSCHECK="1", NUMBA_OPT="0", ARBORETUM_CACHE_DIR=str(tmp_path)
    )
    assert out.split() == ["done"]
