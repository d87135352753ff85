"""The time of a command is that of its work; compiling is told apart."""

import time

import pytest

from arboretum.cli import stopwatch
from arboretum.cli.stopwatch import Stopwatch, working
from arboretum.engine.compiler.cache import compiled


def test_compiling_is_not_counted_as_work():
    start = time.perf_counter()
    with working("nothing much") as watch:
        time.sleep(0.05)
        compiled.seconds += 0.04  # as if a kernel had been compiled meanwhile
    assert 0.005 < watch.seconds <= time.perf_counter() - start - 0.04
    assert watch.compile_seconds == pytest.approx(0.04)
    compiled.seconds -= 0.04


def test_what_was_compiled_is_a_line_of_the_report():
    watch = Stopwatch()
    watch.seconds = 1.234
    assert watch.facts() == [("time", "1.23 s")]
    watch.n_compiled, watch.compile_seconds = 14, 9.87
    assert watch.facts()[1] == ("compiled", "14 kernels in 9.9 s, once per machine")


def test_without_a_terminal_it_is_one_note(capsys):
    stopwatch._note_once.cache_clear()
    for _ in range(2):
        with working("nothing"):
            compiled.show("compiling …")
            compiled.show(None)
    assert compiled.show is None
    assert capsys.readouterr().err == "note: compiling …\n"
