"""The kernels of bit tables are ordinary Python, and every index is within its array."""

import json

from tests.engine.processes import run_script

SCRIPT = """
import json, numpy as np
from arboretum import XGBRegressor
from arboretum.engine.predict.bit_tables import MOST_BITS, find_splits
from arboretum.predict.engines.bit_tables import BitTableEngine
from arboretum.structure.joined import join_trees

rng = np.random.default_rng(0)
X = rng.integers(0, 5, (150, 3)).astype(float)
X[rng.random(X.shape) < 0.2] = np.nan
how = {"grow_policy": "symmetric", "max_depth": 3, "n_estimators": 3, "base_score": 0.0, "n_jobs": 1}
model = XGBRegressor(**how, feature_types=["q", "q", "c"]).fit(X, np.nansum(X, axis=1) % 4)
terms = model.ensemble_.terms
rows = model.predictor().encode(X)
rows[0], rows[1], rows[2, 2] = np.inf, -np.inf, 77.0
total = np.zeros((150, 1))
engine = BitTableEngine.lay_out(terms)
engine.add(rows, total)
nodes = join_trees(terms.trees)
parts = nodes.kind, nodes.feature, nodes.threshold, nodes.first_child, nodes.missing_child
first = np.full((3, MOST_BITS), -1)
most = find_splits(
    (*parts, nodes.bits_start, nodes.bits), nodes.n_codes, nodes.start,
    np.zeros(len(nodes.kind), np.int64), first,
)
print(json.dumps([most, first.tolist(), bool(engine.layout.is_set.any()), total.tolist()]))
"""


def test_the_same_in_plain_python():
    compiled = json.loads(run_script(SCRIPT))
    assert compiled == json.loads(run_script(SCRIPT, NUMBA_DISABLE_JIT="1"))
    most, first, has_sets, _ = compiled
    assert most == 3
    assert has_sets
    assert all(len({node for node in tree if node >= 0}) <= 3 for tree in first)


def test_every_index_is_within_its_array(tmp_path):
    checked = run_script(SCRIPT, NUMBA_BOUNDSCHECK="1", ARBORETUM_CACHE_DIR=str(tmp_path))
    assert checked == run_script(SCRIPT)
