"""The reports of the boosting benchmark: phases of a fit, losses beside the peers'."""

import io

import pytest
from rich.console import Console

from benchmarks import boosting_losses, boosting_phases, data
from benchmarks.__main__ import main


def _told(report, **options):
    console = Console(file=io.StringIO(), width=200)
    report(console, quick=True, jobs=1, **options)
    return console.file.getvalue()


def test_phases_add_up(monkeypatch):
    monkeypatch.setattr(boosting_phases, "_TREES", 2)
    told = _told(boosting_phases.print_phases)
    for phase in ("derivatives", "histograms", "partition", "best splits", "leaf sums", "margins"):
        assert phase in told
    assert "2 trees of 31 leaves, 50,000 rows, 1 threads" in told


def test_losses_are_told_table_by_table(monkeypatch):
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    monkeypatch.setattr(boosting_losses, "_TREES", 3)
    one = {"waves": (lambda seed: data.regression(300, seed=seed), True)}
    monkeypatch.setattr(boosting_losses, "_tables", lambda n: one)
    told = _told(boosting_losses.print_losses)
    assert told.count("waves") == 3  # measured, and a line for either peer
    assert "over all tables, beside LightGBM" in told
    assert "over all tables, beside XGBoost" in told


@pytest.mark.parametrize("report", ["phases", "losses"])
def test_reports_belong_to_boosting(report, capsys):
    with pytest.raises(SystemExit):
        main(["cart", f"--{report}"])
    assert f"--{report} is told of boosting only, not of cart" in capsys.readouterr().err
