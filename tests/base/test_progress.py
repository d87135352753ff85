"""The time that is left is that of the work, whatever was compiled meanwhile."""

import sys
import threading
import time
from types import SimpleNamespace

import pytest

from arboretum.base import progress
from arboretum.base.progress import Pace, ProgressLines, StepLines, describe, time_left_column
from arboretum.cli import screen
from arboretum.engine.compiler.log import CompileLog


class World:
    """A clock that is set by hand, and a log of compiling that goes by it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.log = SimpleNamespace(seconds_so_far=7.0, running=0.0)

    def work(self, seconds: float) -> None:
        self.now += seconds

    def compile(self, seconds: float) -> None:
        self.now += seconds
        self.log.seconds_so_far += seconds


@pytest.fixture
def world(monkeypatch) -> World:
    world = World()
    monkeypatch.setattr(progress, "time", SimpleNamespace(perf_counter=lambda: world.now))
    monkeypatch.setitem(sys.modules, progress._LOG, SimpleNamespace(compiled=world.log))
    return world


def test_compiling_counts_for_nothing(world):
    pace = Pace()
    world.compile(30)
    world.work(3)
    world.compile(30)
    pace.note(1)
    assert pace.seconds == pytest.approx(3)
    assert pace.left(100) == pytest.approx(297)


def test_what_is_being_compiled_now_stops_the_clock(world):
    pace = Pace()
    world.work(4)
    pace.note(2)
    world.compile(50)
    assert pace.left(4) == pytest.approx(4)
    world.work(1)
    assert pace.left(4) == pytest.approx(3)  # counted down between two reports
    world.work(60)
    assert pace.left(4) == 0


def test_no_estimate_of_nothing(world):
    pace = Pace()
    assert pace.left(10) is None
    world.compile(60)
    world.work(0.7)  # what surrounds the first tree
    pace.note(1)
    assert pace.left(100) is None


def test_without_compiled_code_the_clock_is_enough(world, monkeypatch):
    monkeypatch.delitem(sys.modules, progress._LOG)
    pace = Pace()
    world.work(5)
    pace.note(5)
    assert pace.left(15) == pytest.approx(10)


def test_a_bar_says_that_kernels_are_compiled_then_what_is_left(world):
    pace, column = Pace(), time_left_column()
    task = SimpleNamespace(finished=False, total=100, fields={"pace": pace})
    assert column.render(task).plain == ""
    world.log.running = 0.1
    assert column.render(task).plain == ""  # that short it would flicker
    world.log.running = 3.0
    assert column.render(task).plain == "compiling kernels"
    world.log.running = 0.0
    world.compile(20)
    world.work(5)
    pace.note(50)
    assert column.render(task).plain == "about 5 s left"
    task.fields["is_silent"] = True
    assert column.render(task).plain == ""
    task.finished = True
    assert column.render(task).plain == ""
    assert describe(None, None) == ""


def test_lines_of_boosting_leave_compiling_out(world, capsys):
    lines = ProgressLines(1, 11, out_of_bag=False)
    world.compile(40)
    world.work(1)
    lines.report(0, 0.5, None)
    assert capsys.readouterr().out.splitlines()[1].split() == ["1", "0.5000", "10.00s"]


def test_a_log_file_shows_work_only(world, capsys):
    lines = screen._Lines("training")
    lines.update("Model", 0, 100)
    world.compile(40)
    world.work(0.5)
    lines.update("Model", 1, 100)  # 40 s have gone by, and half a second of work
    assert capsys.readouterr().err == ""
    world.work(9.5)
    lines.update("Model", 20, 100)
    world.work(1)
    lines.update("Model", 22, 100)
    shown = capsys.readouterr().err.splitlines()
    assert shown == ["note: training …", "note: Model: 20 of 100, about 40 s left"]


def test_the_bar_of_the_command_has_a_pace_for_each_model(world):
    bar = screen._Bar("training")
    bar.update("A", 0, 10)
    world.work(4)
    bar.update("A", 1, 10)
    bar.update("B", 0, 10)  # a fold of a cross-validation
    assert [task.fields["pace"].left(10) for task in bar.bar.tasks] == [pytest.approx(36), None]
    bar.update("A", 0, 10)  # and the first again
    assert all(task.fields["pace"].left(10) is None for task in bar.bar.tasks)


def test_the_log_tells_of_what_goes_on():
    log = CompileLog()
    assert log.running == 0
    log._begin()
    assert log.seconds == 0
    assert 0 < log.running <= log.seconds_so_far
    log._end()
    assert log.running == 0
    assert log.seconds == log.seconds_so_far > 0


def _slow_work(seconds):
    with StepLines("report", 3) as lines:
        for number, name in enumerate(("figures", "curves", "trees"), start=1):
            lines.step(number, name)
            time.sleep(seconds)


def test_lines_tell_of_long_steps(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_WAIT", 0.05)
    monkeypatch.setattr(progress, "_BETWEEN", 0.05)
    _slow_work(0.2)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0] == "report: figures (1 of 3), 1 s so far"
    assert "report: trees (3 of 3), 1 s so far" in lines
    assert lines[-1] == "report: 1 s in all"


def test_short_work_writes_no_line(capsys):
    _slow_work(0.0)
    assert capsys.readouterr() == ("", "")


def test_lines_end_with_an_error(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_WAIT", 0.01)
    monkeypatch.setattr(progress, "_BETWEEN", 0.01)
    before = threading.active_count()
    with pytest.raises(ValueError, match="negative"):
        _slow_work(-1)
    assert threading.active_count() == before
