"""What is written down of compiling, and when a line says so."""

import io
import logging
import warnings

import numpy as np
import pytest

from arboretum.engine.compiler import log as module
from arboretum.engine.compiler.log import LINE, CompileLog, quiet


def _pretend(log: CompileLog, inside=(), module="arboretum.engine.x", *, long=False) -> None:
    """Have the log note that a kernel is compiled, and others inside it; longer than its patience."""

    def f():
        pass

    f.__module__, f.__qualname__ = module, "f"
    log.begin(f)
    if long:
        log._timer.join(60)  # it ends when the line was logged
    for other in inside:
        _pretend(log, module=other)
    log.end(f, (1,))


@pytest.fixture
def log(monkeypatch) -> CompileLog:
    monkeypatch.setattr(module, "PATIENCE", 0.02)
    fresh = CompileLog()
    monkeypatch.setattr(module, "compiled", fresh)
    return fresh


def test_kernels_are_counted_and_timed(log):
    _pretend(log, inside=["arboretum.engine.y", "arboretum.engine.y"], long=True)
    _pretend(log, module="somebody.elses")
    assert log.n_kernels == 1
    assert [one.is_outermost for one in log.functions] == [False, False, True]
    assert log.functions[-1].kernel == "arboretum.engine.x:f"
    assert log.seconds >= 0.02


def test_one_line_is_logged_when_it_takes_long(log, caplog):
    for _ in range(3):
        _pretend(log, long=True)
    assert [record.getMessage() for record in caplog.records] == [LINE]
    assert caplog.records[0].name == "arboretum"
    assert caplog.records[0].levelno == logging.WARNING


def test_short_ones_are_long_together(log, caplog, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 1000.0)
    log.seconds = 1000.0  # of kernels before
    _pretend(log, long=True)
    assert len(caplog.records) == 1


def test_nothing_is_said_when_it_is_quick(log, caplog, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 1000.0)
    _pretend(log)
    log._timer.join(60)
    assert not caplog.records


def test_warnings_that_are_filtered_out_silence_it(log, caplog):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="compiling kernels")
        _pretend(log, long=True)
    assert not caplog.records


def test_warnings_that_are_errors_do_not_end_a_fit(log, caplog):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _pretend(log, long=True)
    assert len(caplog.records) == 1


def test_a_model_that_shall_be_silent_is(log, caplog):
    with quiet(), quiet(False):
        _pretend(log, long=True)
    assert not caplog.records
    _pretend(log, long=True)
    assert len(caplog.records) == 1


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_it_while_it_lasts(log, caplog, monkeypatch):
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    _pretend(log, long=True)
    assert "compiling kernels" in terminal.getvalue()
    assert log._status is None
    assert not caplog.records


def test_somebody_else_can_show_it(log, caplog):
    told = []
    log.show = told.append
    _pretend(log, long=True)
    assert told == [LINE, None]
    assert not caplog.records


@pytest.mark.parametrize(("name", "silent"), [("XGBClassifier", 0), ("LGBMClassifier", -1)])
def test_boosters_are_silent_if_asked(name, silent, monkeypatch):
    import arboretum

    seen = []
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    cls = getattr(arboretum, name)
    its_own = cls._fit
    watch = lambda self, request: (  # noqa: E731
        seen.append(module.compiled._is_quiet),
        its_own(self, request),
    )[1]
    monkeypatch.setattr(cls, "_fit", watch)
    for verbosity in (1, silent):
        cls(n_estimators=1, verbosity=verbosity).fit(X, y)
    assert seen == [False, True]
