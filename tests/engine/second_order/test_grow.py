"""The kernels as plain Python functions make the same model, bit for bit."""

from __future__ import annotations

from tests.engine.processes import run_script

FITS = """
import hashlib
import numpy as np
import arboretum
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
X[rng.random(X.shape) < 0.1] = np.nan
y = (np.nansum(X[:, :2], axis=1) > 0).astype(int)
for method in ("hist", "exact"):
    model = arboretum.XGBClassifier(n_estimators=2, max_depth=3, tree_method=method, n_jobs=1)
    print(hashlib.sha256(model.fit(X, y).predict_proba(X).tobytes()).hexdigest())
"""


def test_interpreted_kernels_make_the_same_trees():
    assert run_script(FITS, NUMBA_DISABLE_JIT="1") == run_script(FITS)
