"""The kernels of symmetric trees are ordinary Python, and every index is within its array."""

from __future__ import annotations

import json

from tests.engine.processes import run_script

SCRIPT = """
import json, numpy as np
from tests.grow.gradients import grow
from tests.grow.test_histogram import features, gradients, make_grower, table
from tests.grow.test_symmetric import symmetric

found = []
groups = np.array([[1], [3], [2], [3], [2]], np.uint64)
for how in ({}, {"min_rows": 3.0, "l1": 0.5}, {"node_columns": 3, "level_columns": 4, "max_onehot": 9},
            {"noise": 1.0}):
    for wide in (False, True):
        rng = np.random.default_rng(3)
        X, codes = table(rng, 120, 5, 7, 0.2)
        g, h = gradients(rng, 120)
        kinds = features(5, 7, (2, 3), (0, 1, 0, 0, 0))
        grower = make_grower(codes, kinds, symmetric(max_depth=4, **how), wide=wide)
        grower.groups = groups
        tree = grow(grower, g, h, key=5)
        found.append([tree.feature.tolist(), tree.bin.tolist(), tree.gain.tolist(), tree.value.tolist()])
print(json.dumps(found))
"""


def test_the_same_in_plain_python():
    compiled = json.loads(run_script(SCRIPT))
    assert compiled == json.loads(run_script(SCRIPT, NUMBA_DISABLE_JIT="1"))
    assert all(len(features) > 9 for features, *_ in compiled)
    assert compiled[0] == compiled[1]  # codes of one byte, and of two


def test_every_index_is_within_its_array(tmp_path):
    checked = run_script(SCRIPT, NUMBA_BOUNDSCHECK="1", ARBORETUM_CACHE_DIR=str(tmp_path))
    assert checked == run_script(SCRIPT)
