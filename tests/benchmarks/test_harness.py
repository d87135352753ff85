"""The benchmarks measure what they say; no test here depends on how fast anything is."""

import json
import platform
from dataclasses import replace
from importlib import import_module
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks import BENCHMARKS, cart, data
from benchmarks.__main__ import main, run
from benchmarks.harness import Case, CaseResult, Job, Measurement, Options, Unavailable, interleave
from benchmarks.machine import facts
from benchmarks.memory import Peak, peak_growth, peak_in_fresh_process
from benchmarks.process import fresh_python
from benchmarks.report import Report, duration, print_report
from benchmarks.scaling import Curve, CurveResult
from benchmarks.startup import Script, StartUp

EXPERIMENTS = cart.experiments(1)
CASES = [e for e in EXPERIMENTS.values() if isinstance(e, Case)]


def quiet(what):
    """Tell nobody what is going on."""


def result(ours, peer, peaks=((10,), (20,))):
    """A made-up result of two contenders."""
    rows = zip(("ours", "peer"), (ours, peer), peaks)
    measured = tuple(
        Measurement(name, tuple(s), 0.9, {}, tuple(Peak(b, "polling") for b in p))
        for name, s, p in rows
    )
    return CaseResult("c", "t", 10, "accuracy", "peer", None, measured)


# ---------------------------------------------------------------------- timing
def test_contenders_take_turns_and_every_call_is_counted():
    log, ticks = [], iter([0.0, 4.0, 10.0, 30.0, 100.0, 106.0, 200.0, 240.0])
    jobs = {
        name: Job(run=lambda name=name: log.append(name), score=lambda outcome: 0.0)
        for name in ("ours", "peer")
    }
    times = interleave(jobs, rounds=2, calls=2, clock=lambda: next(ticks))
    assert log == ["ours", "ours", "peer", "peer"] * 2
    assert times == {"ours": [2.0, 3.0], "peer": [10.0, 20.0]}


def test_ratio_is_of_medians_and_spread_of_single_rounds():
    case = result(ours=[1.0, 2.0, 4.0], peer=[8.0, 8.0, 10.0])
    assert case.ratio("ours") == 4.0
    assert case.spread("ours") == (2.5, 8.0)
    assert case.ratio("peer") == 1.0


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 5])
def test_ratio_lies_within_its_spread(rounds):
    rng = np.random.default_rng(rounds)
    for _ in range(200):
        case = result(rng.lognormal(size=rounds), rng.lognormal(size=rounds))
        low, high = case.spread("ours")
        assert low * (1 - 1e-12) <= case.ratio("ours") <= high * (1 + 1e-12)


# ---------------------------------------------------------------------- memory
@pytest.mark.parametrize("poll", [False, True])
def test_peak_sees_memory_that_is_freed_again_and_forgets_older_peaks(poll):
    before = np.ones(12_500_000)  # an older peak of 100 MB
    del before

    def work():
        block = np.ones(5_000_000)  # 40 MB for a moment
        return block[:10].copy() if not poll else block

    assert 38e6 < peak_growth(work, poll=poll).n_bytes < 60e6


def test_leftovers_and_reserved_room_do_not_disturb_the_peak():
    leftovers = [np.ones(5_000) for _ in range(500)]
    kept = leftovers[::50]
    del leftovers
    assert peak_growth(lambda: [np.ones(5_000) for _ in range(500)]).n_bytes > 18e6
    assert peak_growth(lambda: np.empty(5_000_000)).n_bytes < 5e6
    assert len(kept) == 10


def test_fresh_process_does_not_inherit_the_peak_of_its_parent():
    parent = np.ones(25_000_000)  # 200 MB
    peak = peak_in_fresh_process("cart", "iris", cart.PEER, rows=120, jobs=1)
    assert peak.n_bytes < 50e6 < parent.nbytes


def test_failure_in_the_fresh_process_is_told():
    with pytest.raises(RuntimeError, match="memory run of nobody failed: KeyError"):
        peak_in_fresh_process("cart", "iris", "nobody", rows=120, jobs=1)


def test_error_of_a_fresh_process_is_the_last_one_named(tmp_path):
    # Numba's tracebacks go on after the error: the last line alone would say nothing.
    script = "import sys; print('TypingError: no such field\\nDuring: a pass', file=sys.stderr)"
    with pytest.raises(RuntimeError, match=r"^it failed: TypingError: no such field$"):
        fresh_python(["-c", script + "; sys.exit(3)"], tmp_path, "it")
    with pytest.raises(RuntimeError, match=r"^it failed: exit code 3$"):
        fresh_python(["-c", "raise SystemExit(3)"], tmp_path, "it")


def test_memory_ratio_is_of_medians():
    case = result([1.0], [1.0], peaks=((10, 30, 20), (40, 41, 39)))
    assert case.memory_ratio("ours") == 0.5
    assert result([1.0], [1.0], peaks=((10,), (0,))).memory_ratio("ours") is None


# ---------------------------------------------------------------------- data
def strongest_product(split):
    """Correlation of the target with the best product of two columns, and these columns."""
    F = split.X.shape[1]
    pairs = [(a, b) for a in range(F) for b in range(a)]
    found = [np.corrcoef(split.X[:, a] * split.X[:, b], split.y)[0, 1] for a, b in pairs]
    return max(found), pairs[int(np.argmax(found))]


@pytest.mark.parametrize("make", [data.classification, data.regression])
@pytest.mark.parametrize("n_columns", [7, 28, 56])
def test_numbers_are_the_same_for_float32_and_float64(make, n_columns):
    split = make(400, n_columns)
    assert split.X.shape == (400, n_columns)
    assert split.X_test.shape == (100, n_columns)
    assert split.X.dtype == np.float64
    assert split.X.flags.c_contiguous
    assert np.array_equal(split.X, split.X.astype(np.float32))
    assert np.array_equal(split.X, make(400, n_columns).X)
    assert not np.array_equal(split.y, make(400, n_columns, seed=1).y)


def test_classes_are_balanced_and_follow_the_columns():
    split = data.classification(4_000)
    assert 0.45 < split.y.mean() < 0.55
    assert strongest_product(split)[0] > 0.2
    assert min(len(np.unique(column)) for column in split.X.T) < 25


@pytest.mark.parametrize("make", [data.classification, data.regression])
def test_columns_that_matter_do_not_stand_in_front(make):
    # Equal splits go to the first column here: the layout of the table must not win the comparison.
    strength, pair = strongest_product(make(4_000))
    assert strength > 0.2
    assert 0 not in pair


def test_mixed_table_has_words_and_gaps():
    pytest.importorskip("pandas")
    table = data.mixed_table(1_000).X
    assert table["colour"].nunique() == 6
    gaps = table.isna().mean()
    assert ((gaps > 0.05) & (gaps < 0.15)).all()


# ---------------------------------------------------------------------- experiments
def test_every_benchmark_has_experiments_under_their_own_names():
    for module in BENCHMARKS.values():
        for name, experiment in import_module(module).experiments(2).items():
            assert experiment.name == name
            if isinstance(experiment, Case):
                assert experiment.baseline in experiment.contenders
                assert BENCHMARKS[experiment.benchmark] == module


@pytest.mark.filterwarnings("ignore:column '.*' holds categories unseen")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_contender_does_the_work_of_its_case(case):
    split = case.data(120 if case.name == "iris" else 600)
    for make in case.contenders.values():
        job = case.work(make, split)
        outcome = job.run()
        assert np.isfinite(job.score(outcome))
        assert all(count >= 1 for count in job.facts(outcome).values())


def test_case_without_its_package_is_skipped_and_failure_does_not_stop_the_rest():
    class Broken:
        def measure(self, options, say):
            raise ValueError("no such luck")

    lacking = replace(CASES[0], needs=("no_such_package_anywhere",))
    with pytest.raises(Unavailable, match="no_such_package_anywhere"):
        lacking.measure(Options(), quiet)
    blank = StartUp("blank", "t", {}, (Script("nothing", "pass"),))
    chosen = {"lacking": lacking, "broken": Broken(), "blank": blank}
    report = run(Report("cart", Options(quick=True), {}), chosen, Console(quiet=True))
    assert list(report.skipped) == ["lacking"]
    assert report.failed == {"broken": "ValueError: no such luck"}
    assert [r.name for r in report.start_ups] == ["blank"]
    out = StringIO()
    print_report(report, Console(file=out, width=100))
    text = out.getvalue()
    assert "failed broken: ValueError: no such luck" in text
    assert "nothing" in text


def test_curve_measures_every_size_and_knows_its_growth():
    fits = CASES[0].contenders
    curve = Curve("c", "t", "rows", "n·log₂ n", data.classification, (9,), (100, 200), fits)
    got = curve.measure(Options(quick=True, repeat=2), quiet)
    assert got.sizes == (100, 200)
    assert all(len(s) == 2 and min(s) > 0 for s in got.seconds.values())
    sizes = (10, 100, 1000)
    square = CurveResult("c", "t", "rows", "n", sizes, {"ours": tuple(n**2 * 1e-9 for n in sizes)})
    assert square.exponent("ours") == pytest.approx(2)
    assert square.cost("ours") == pytest.approx(sizes)


def test_cold_scripts_get_an_empty_cache_and_warm_ones_share_a_filled_one():
    code = (
        "import os, pathlib, numpy as np\n"
        "assert np.load('tiny_X.npy').shape == (120, 4)\n"
        "mark = pathlib.Path(os.environ['ARBORETUM_CACHE_DIR'], 'mark')\n"
        "mark.parent.mkdir(exist_ok=True)\n"
    )
    cold = Script("cold", code + "assert not mark.exists(); mark.touch()", cold=True)
    warm = Script("warm", code + "mark.touch()")
    table = {"tiny": lambda: data.iris(120)}
    got = StartUp("s", "t", table, (cold, warm)).measure(Options(repeat=2), quiet)
    assert [len(s.seconds) for s in got.scripts] == [2, 2]
    wrong = StartUp("s", "t", {}, (Script("wrong", "raise OSError('gone')"),))
    with pytest.raises(RuntimeError, match="'wrong' failed: OSError: gone"):
        wrong.measure(Options(), quiet)


# ---------------------------------------------------------------------- the command
@pytest.mark.slow
def test_command_writes_json_and_picture(tmp_path, capsys):
    asked = "cart --quick --repeat 2 --jobs 1 --case iris --out"
    assert main([*asked.split(), str(tmp_path)]) == 0
    assert {p.name for p in tmp_path.iterdir()} == {"cart-part-quick.json", "cart-part-quick.png"}
    text = (tmp_path / "cart-part-quick.json").read_text(encoding="utf-8")
    (case,) = json.loads(text)["cases"]
    assert [m["contender"] for m in case["measurements"]] == [cart.OURS, cart.PEER]
    assert all(len(m["seconds"]) == 2 and m["score"] > 0.8 for m in case["measurements"])
    assert str(tmp_path) not in text
    assert (tmp_path / "cart-part-quick.png").read_bytes().startswith(b"\x89PNG")
    assert "scikit-learn" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cart", "--case", "irsi"], "unknown case 'irsi': did you mean iris?"),
        (["cart", "--repeat", "0"], "must be at least 1, got 0"),
        (["cart", "--jobs", "two"], "invalid"),
        (["crat"], "invalid choice"),
    ],
)
def test_wrong_arguments_are_one_clear_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_machine_facts_tell_versions_but_no_names_or_paths():
    machine = facts()
    assert machine["cores"] >= 1
    assert {"arboretum", "scikit-learn", "numpy"} <= set(machine["versions"])
    assert platform.node() not in [machine["processor"], machine["system"]]
    assert str(Path.home()) not in json.dumps(machine)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (4.2e-8, "42 ns"),
        (0.000123, "123 µs"),
        (0.0456, "45.6 ms"),
        (1.0, "1 s"),
        (78.94, "78.9 s"),
        (431.2, "431 s"),
    ],
)
def test_duration_has_three_digits(seconds, text):
    assert duration(seconds) == text
