"""The kernels of the tournament are ordinary Python, and every index is within its array."""

import json

from tests.engine.processes import run_script

SCRIPT = """
import json, numpy as np
from arboretum.engine.simd import WIDE, add_chosen, choose, guess
from arboretum.engine.predict.tournament import CELLS, ROWS, play, write_questions, Tournament, TournamentWork
from arboretum.predict.engines.tournament import lay_grid

rng = np.random.default_rng(0)
cuts, start = np.array([-1.0, 0.5, 2.0, 0.0]), np.array([0, 3, 4])  # of two columns
grid, table, look = lay_grid(cuts, start)
layout = Tournament(
    np.array([0, 2]), cuts, start, grid, table, look, np.array([[0, 1], [2, -1]]), 3,
    np.zeros(4, np.uint64), np.zeros(3, np.int64), 3, rng.normal(size=(2, 1, 3)), np.array([0, 1]),
)
nodes = (
    np.array([1, 0, 1, 0, 0, 1, 0, 1, 0, 0], np.uint8),
    np.array([0.5, 0, 0.0, 0, 0, 2.0, 0, -1.0, 0, 0]),
    np.array([1, -1, 3, -1, -1, 1, -1, 3, -1, -1], np.int32),
    np.array([1, 0, 0, 0, 0, 0, 0, 1, 0, 0], np.int8),
)
leaves = np.zeros((2, 3), np.int64)
write_questions(layout, nodes, np.array([0, 0, 1, 0, 0, 0, 0, 0, 0, 0]), np.array([0, 5, 10]), leaves)
X = rng.normal(size=(ROWS + 5, 3))
X[rng.random(X.shape) < 0.3] = np.nan
X[0] = np.inf
X[1] = -np.inf
total = np.zeros((len(X), 2))
slots = np.zeros((5, ROWS), np.uint8)
slots[:3] = np.arange(3)[:, None]
work = TournamentWork(
    np.zeros(ROWS), np.zeros(ROWS, np.uint64), np.zeros(3 * ROWS, np.uint8), slots.ravel(), np.zeros(2 * ROWS)
)
play(layout, X, work, total)
print(json.dumps([layout.questions.tolist(), leaves.tolist(), total.tolist()]))
"""


def test_the_same_in_plain_python():
    compiled = json.loads(run_script(SCRIPT))
    assert compiled == json.loads(run_script(SCRIPT, NUMBA_DISABLE_JIT="1"))
    questions, leaves, _ = compiled
    assert all(questions)
    assert leaves == [[4, 3, 1], [9, 8, 6]]  # the last nodes first


def test_every_index_is_within_its_array(tmp_path):
    checked = run_script(SCRIPT, NUMBA_BOUNDSCHECK="1", ARBORETUM_CACHE_DIR=str(tmp_path))
    assert checked == run_script(SCRIPT)
