"""The C4.5 benchmark: programs as contenders, and the table of categories."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from benchmarks import c45, data
from benchmarks.harness import Case, Job, Options, Unavailable
from benchmarks.plots import write_plots
from benchmarks.report import Report, print_report, write_json
from benchmarks.weka import find_weka

EXPERIMENTS = c45.experiments(1)


def quiet(what):
    """Tell nobody what is going on."""


def test_a_program_runs_once_per_round_and_its_memory_is_unknown(tmp_path):
    runs = []

    def job(split):
        return Job(lambda: runs.append(1) or 0.75, score=lambda outcome: outcome, program=True)

    case = replace(
        EXPERIMENTS["numbers"],
        contenders={c45.OURS: c45._ours(n_jobs=1), "program": lambda: c45.Program(job)},
        baseline="program",
        quick_rows=300,
    )
    # a fresh process finds the case by its name, and the first contender in it
    got = case.measure(Options(quick=True, repeat=2, jobs=1), quiet)
    assert len(runs) == 2
    ours, program = got.measurements
    assert (program.score, program.peaks, program.peak_bytes) == (0.75, (), None)
    assert ours.peak_bytes >= 0
    assert ours.facts["leaves"] >= 1
    assert got.memory_ratio(c45.OURS) is None
    report = Report("c45", Options(quick=True), {}, [got])
    out = StringIO()
    print_report(report, Console(file=out, width=200))
    assert "program" in out.getvalue()
    write_json(report, tmp_path / "c45.json")
    assert '"median_peak_bytes": null' in (tmp_path / "c45.json").read_text(encoding="utf-8")
    assert [path.name for path in write_plots(report, tmp_path, "c45")] == ["c45.png"]


def test_without_weka_the_case_is_skipped_with_the_reason(monkeypatch):
    monkeypatch.setattr(c45, "find_weka", lambda: (None, "Weka is not installed: do this"))
    with pytest.raises(Unavailable, match=r"^Weka is not installed: do this$"):
        replace(EXPERIMENTS["numbers"], quick_rows=200).measure(Options(quick=True), quiet)


def test_without_chefboost_the_case_is_skipped_with_the_reason(monkeypatch):
    monkeypatch.setattr(c45, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="needs chefboost"):
        EXPERIMENTS["small"].measure(Options(quick=True), quiet)


@pytest.mark.skipif(find_weka()[0] is None, reason="Weka is not installed")
def test_j48_is_judged_on_the_held_out_rows():
    job = c45._j48(data.iris(100))
    found = job.run()
    assert job.score(found) * 50 == pytest.approx(round(job.score(found) * 50))
    assert job.facts(found)["leaves"] >= 3


def test_categories_follow_the_same_law_whatever_their_number():
    pytest.importorskip("pandas")
    split = data.categories(4_000, 4, 6)
    assert split.X.shape == (4_000, 4)
    assert {len(split.X[name].cat.categories) for name in split.X} == {6}
    rate = split.y.mean()
    assert 0.3 < rate < 0.7
    larger = data.categories(40_000, 4, 6)
    for name in split.X:
        few, many = (
            np.array([s.y[(s.X[name] == word).to_numpy()].mean() for word in ("v00", "v01", "v02")])
            for s in (split, larger)
        )
        assert np.abs(few - many).max() < 0.12
    spread = max(larger.y[(larger.X[name] == "v00").to_numpy()].mean() for name in larger.X) - min(
        larger.y[(larger.X[name] == "v01").to_numpy()].mean() for name in larger.X
    )
    assert spread > 0.1


@pytest.mark.parametrize("name", ["numbers", "categories", "small"])
def test_cases_have_our_estimator_first(name):
    case = EXPERIMENTS[name]
    assert isinstance(case, Case)
    assert next(iter(case.contenders)) == c45.OURS
    assert case.baseline != c45.OURS
