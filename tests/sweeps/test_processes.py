"""Threads and processes side by side: each gives the bytes that a single one gives."""

import multiprocessing
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.io.model_cases import answers, fitted, mixed_table, same_bits
from tests.sweeps.work import KINDS, SIZE, fit_bytes

pytestmark = pytest.mark.slow

FEW = ["CARTClassifier", "C45Classifier", "RandomForestRegressor", "XGBClassifier", "LGBMRegressor"]


def test_eight_threads_fit_every_kind():
    alone = {name: fit_bytes(name) for name in KINDS}
    names = KINDS * 2 * SIZE
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fit_bytes, names)) == [alone[name] for name in names]


@pytest.mark.parametrize("name", KINDS)
def test_eight_threads_share_a_model(name):
    model, table = fitted(name), mixed_table(30, seed=5)
    alone, wrong, gate = answers(model, table), [], threading.Barrier(8)

    def work(_: int) -> None:
        gate.wait()
        for _ in range(3 * SIZE):
            found = answers(model, table)
            wrong.extend(one for one in alone if not same_bits(alone[one], found[one]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forked_processes_give_the_same_bytes():
    alone = [fit_bytes(name) for name in FEW]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(fit_bytes, FEW * SIZE).get(timeout=240) == alone * SIZE
