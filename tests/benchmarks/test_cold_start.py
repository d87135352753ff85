"""Recording kernels and measuring cold starts: what counts, and what is printed."""

import io

from rich.console import Console

import arboretum
from arboretum.engine.compiler.signatures import Signature
from benchmarks import cold_start, kernel_tour, record_kernels
from benchmarks.cold_start import ColdStartResult, print_cold_starts

KEYS = "arboretum.engine.random:child_keys"


def _line(kernel: str, arguments=("uint64 1C", "uint64 1C")) -> dict:
    return {"kernel": kernel, "arguments": list(arguments)}


def test_what_was_recorded_replaces_what_was_known_of_the_same_users():
    calls = {
        "CARTClassifier": [
            _line(KEYS, ("uint64 1C", "uint64 1A")),
            _line(KEYS),
            _line("arboretum.engine.random:gone"),
            _line("tests.engine.compiler.test_decorators:mine"),
            _line(KEYS, ("uint64 1C",)),  # as it was called once
            {"kernel": KEYS, "unknown": "a word"},
        ],
        "demo": [_line(KEYS)],
    }
    known = [
        Signature(KEYS, ("uint64 1C", "uint64 1C"), frozenset({"XGBRanker"})),
        Signature(KEYS, ("uint64 1A", "uint64 1C"), frozenset({"CARTClassifier"})),
    ]
    found = {one.arguments: one.users for one in record_kernels.merge(calls, known)}
    assert found == {
        ("uint64 1C", "uint64 1A"): {"CARTClassifier"},
        ("uint64 1C", "uint64 1C"): {"CARTClassifier", "XGBRanker", "demo"},
    }


def test_every_estimator_can_be_toured():
    for name in arboretum.ESTIMATORS:
        assert type(kernel_tour.make(name)) is getattr(arboretum, name)
    tour = record_kernels.commands()["XGBRanker"]
    assert tour == ["-m", "benchmarks.kernel_tour", "XGBRanker"]


def test_goals_are_told_per_estimator():
    ways = {"source": 9.0, "wheel": 0.9, "warm": 0.3, "peer": 0.1}
    result = ColdStartResult(
        "CARTClassifier", ways, {"warm": 1.3, "peer": 1.2}, dict.fromkeys(ways, 0)
    )
    tour = ColdStartResult("tour", {}, {}, {"README and docs": 3})
    console = Console(file=io.StringIO(), width=200, force_terminal=True)
    print_cold_starts([result, tour], console)
    told = console.file.getvalue()
    assert "\x1b[31m3.00×" in told, "a missed goal is red"
    assert "\x1b[32m0.10 s" in told, "one that was met is green"
    assert "README and docs" in told
    assert "compiled" in told


def test_peers_are_found_by_name():
    assert cold_start._peer("XGBRegressor") == "HistGradientBoostingRegressor"
    assert cold_start._peer("C45Classifier") == cold_start._peer("XGBRanker") == ""
