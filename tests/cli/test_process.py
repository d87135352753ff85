"""The command as a shell starts it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arboretum import __version__

COMMAND = [sys.executable, "-m", "arboretum"]


def start(*words: object, **options) -> subprocess.Popen:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(COMMAND + [str(w) for w in words], text=True, **pipes | options)


def test_python_m_and_the_script():
    script = Path(sys.executable).with_name("arboretum")
    commands = [COMMAND, [str(script)]] if script.exists() else [COMMAND]
    for command in commands:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout == f"arboretum {__version__}\n"
        assert done.stderr == ""
    done = subprocess.run([*COMMAND, "describe", "no.arb"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: 'no.arb': no such file or directory\n"


def test_help_loads_nothing_heavy():
    program = (
        "import sys; from arboretum.cli import main; main(['--help']); "
        "heavy = {'numpy', 'numba', 'sklearn', 'pandas', 'polars', 'pyarrow', 'matplotlib'}; "
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_predictions_can_be_piped(shelf):
    process = start("predict", shelf / "fate.arb", shelf / "few.csv")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.splitlines()[0] == "prediction"
    assert len(out.splitlines()) == 41
    assert err == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("arboretum tr", {"train"}),
        ("arboretum train --model extra", {"extratree", "extratrees"}),
        ("arboretum show --dec", {"--decimals"}),
    ],
)
def test_the_shell_completes_commands_options_and_models(words, expected):
    how = {"_ARBORETUM_COMPLETE": "complete_bash", "COMP_WORDS": words}
    how["COMP_CWORD"] = str(len(words.split()) - 1)
    program = [sys.executable, "-c", "from arboretum.cli import main; main()"]
    done = subprocess.run(program, capture_output=True, text=True, env={**os.environ, **how})
    assert set(done.stdout.split()) == expected, done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_reader_that_goes_away(shelf):
    """Like `| head -1`, but the reader is gone before the first line."""
    reading, writing = os.pipe()
    os.close(reading)
    process = start("show", shelf / "fate.arb", stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 141
    slow = [line for line in err.splitlines() if line.startswith("note: loading")]
    assert err.splitlines() == slow  # a busy machine may tell what it is at, and nothing else


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_ctrl_c(tmp_path):
    """The data come through a pipe nobody writes to, so that the command is caught reading."""
    fifo = tmp_path / "data.csv"
    os.mkfifo(fifo)
    process = start("train", fifo, "--target", "y", "-o", tmp_path / "m.arb")
    with open(fifo, "w"):  # returns when the command has opened its end
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "interrupted\n"
    assert not (tmp_path / "m.arb").exists()
