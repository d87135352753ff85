"""Recording kernels and measuring cold starts: what counts, and what is printed."""

import io

from rich.console import Console

import arboretum
from arboretum.engine.compiler.signatures import Signature
from benchmarks import cold_start, kernel_tour, record_kernels
from benchmarks.cold_start import ColdStartResult, print_cold_starts

KEYS = "arboretum.engine.random:child_keys"


def _line(kernel: str, *estimators: str, arguments=("uint64 1C", "uint64 1C")) -> dict:
    return {"kernel": kernel, "estimators": list(estimators), "arguments": list(arguments)}


def test_what_estimators_call_is_kept_once():
    lines = [
        _line(KEYS),  # by a test of the kernel
        _line(KEYS, "CARTClassifier", arguments=("uint64 1C", "uint64 1A")),
        _line(KEYS, "C45Rules", "ID3Classifier"),
        _line(KEYS, "CARTClassifier"),
        _line("arboretum.engine.random:gone", "CARTClassifier"),
        _line("tests.engine.compiler.test_decorators:mine", "CARTClassifier"),
        _line(KEYS, "CARTClassifier", arguments=("uint64 1C",)),  # as it was called once
        {"kernel": KEYS, "estimators": ["CARTClassifier"], "unknown": "a word"},
    ]
    known = [Signature(KEYS, ("uint64 1C", "uint64 1C"), frozenset({"XGBRanker"}))]
    found = {one.arguments: one.estimators for one in record_kernels.merge(lines, known)}
    assert found == {
        ("uint64 1C", "uint64 1A"): {"CARTClassifier"},
        ("uint64 1C", "uint64 1C"): {"C45Rules", "ID3Classifier", "CARTClassifier", "XGBRanker"},
    }


def test_ways_of_use_are_kept_in_the_order_of_calls():
    here = {"way": "CARTClassifier words"}
    lines = [
        {**_line("m:b", "CARTClassifier"), **here},
        {**_line("m:a", "CARTClassifier"), **here},
        {**_line("m:b", "CARTClassifier"), **here},
        {**_line("m:c"), **here},
        {**_line("m:d", "CARTClassifier"), "way": ""},
        _line("m:d", "CARTClassifier"),
    ]
    known = {"CARTClassifier words": [], "C45Rules words": [Signature("m:e", ())]}
    ways = record_kernels.merge_ways(lines, known)
    found = {name: [one.kernel for one in way] for name, way in ways.items()}
    assert found == {"CARTClassifier words": ["m:b", "m:a"], "C45Rules words": ["m:e"]}


def test_every_estimator_can_be_toured():
    for name in arboretum.ESTIMATORS:
        assert type(kernel_tour.make(name)).__name__ == name
    assert [words for words in record_kernels.steps()["tour"] if "XGBRanker" in words] == [
        ["-m", "benchmarks.kernel_tour", "XGBRanker"]
    ]


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
