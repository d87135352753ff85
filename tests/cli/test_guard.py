"""Whatever goes wrong is one line and an exit code."""

import io
import sys
import warnings

import pytest
import typer

from arboretum import __version__
from arboretum.cli import main
from arboretum.cli.guard import describe_error, in_command_words, reporting
from arboretum.errors import DataError, ModelFileError, ParameterError
from tests.cli.cli_helpers import fails, ok, run


def leave_with(error):
    """Raise an error under the guard; return the exit code."""
    with pytest.raises(typer.Exit) as end, reporting():
        raise error
    return end.value.exit_code


ERRORS = [
    (DataError("no\n such   table"), 1, "error: no such table\n"),
    (DataError("bad (row 3)"), 1, "error: bad (row 3) (row 0 is the first one below the"),
    (ModelFileError("damaged"), 1, "error: damaged\n"),
    (ParameterError("no such thing"), 2, "error: no such thing\n"),
    (PermissionError(13, "Permission denied", "a.arb"), 1, "error: 'a.arb': permission denied\n"),
    (OSError(28, "No space left on device"), 1, "error: no space left on device\n"),
    (ImportError("pip install it"), 1, "error: pip install it\n"),
    (MemoryError(), 1, "error: not enough memory\n"),
    (KeyError("x"), 1, "error: unexpected KeyError: 'x'; `arboretum --debug …`"),
    (KeyboardInterrupt(), 130, "interrupted\n"),
    (BrokenPipeError(32, "Broken pipe"), 141, ""),
]


@pytest.mark.parametrize(("error", "code", "line"), ERRORS, ids=lambda e: type(e).__name__)
def test_errors_become_lines_and_codes(error, code, line, capsys):
    assert leave_with(error) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(line)
    assert shown.err.count("\n") == (1 if line else 0)


def test_debug_shows_the_traceback(capsys):
    with pytest.raises(typer.Exit), reporting(debug=True):
        raise DataError("broken")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Traceback")
    assert lines[-1] == "error: broken"
    assert describe_error(KeyError("x"), debug=True) == "unexpected KeyError: 'x'"


def test_debug_is_an_option(tmp_path):
    words = ("describe", tmp_path / "nothing.arb")
    code, line = fails(*words)
    assert code == 1
    assert "nothing.arb': no such file or directory" in line
    result = run("--debug", *words)
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1] == line


def test_warnings_are_lines_said_once(capsys):
    with reporting():
        for text in ("look\n here", "look\n here", "and here"):
            warnings.warn(text, UserWarning, stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: look here\nwarning: and here\n"
    with reporting(debug=True):
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: old\n"


def test_the_version():
    assert ok("--version") == f"arboretum {__version__}\n"


def test_help_names_commands_and_exit_codes():
    text = ok("--help")
    for name in ("demo", "train", "evaluate", "predict", "show", "describe"):
        assert f" {name} " in text
        assert "Usage: arboretum" in ok(name, "-h") or "Usage: root" in ok(name, "-h")
    assert "Exit codes: 0 done" in text


def test_no_command_prints_the_help():
    result = run()
    assert result.exit_code == 2
    assert "Usage:" in result.output
    assert "error" not in result.output.replace("an error", "")


def test_a_mistyped_command_and_forgotten_options(tmp_path):
    code, line = fails("trian")
    assert code == 2
    assert "no such command 'trian'. Did you mean 'train'?" in line
    code, line = fails("train", "x.csv")
    assert code == 2
    assert "missing option '--target'" in line
    assert "train --help`" in line


BAD_MODELS = [
    (b"", "cannot be loaded"),
    (b"a,b\n1,2\n", "it is not an arboretum model file"),
    (b"\x80\x04K\x01.", "it is not an arboretum model file"),
]
COMMANDS = [("evaluate", "few.csv"), ("predict", "few.csv"), ("show",), ("describe",)]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_files_that_are_no_models(shelf, tmp_path, words):
    command, *rest = words
    rest = [shelf / name for name in rest]
    path = tmp_path / "bad.arb"
    good = (shelf / "fate.arb").read_bytes()
    damaged = bytearray(good)
    damaged[len(good) // 2] ^= 1
    for data, message in [
        *BAD_MODELS,
        (good[:-9], "cannot be loaded"),
        (bytes(damaged), "checksum"),
    ]:
        path.write_bytes(data)
        code, line = fails(command, path, *rest)
        assert code == 1
        assert message in line
    code, line = fails(command, tmp_path, *rest)
    assert code == 1
    assert "directory" in line


def test_main_returns_the_exit_code(capsys):
    assert main(["--version"]) == 0
    assert main(["describe", "nothing.arb"]) == 1
    assert main(["describe"]) == 2
    capsys.readouterr()


def test_a_terminal_that_knows_ascii_only(shelf, monkeypatch):
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    assert main(["evaluate", str(shelf / "height.arb"), str(shelf / "few.csv")]) == 0
    assert b"R?" in narrow.buffer.getvalue()


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("leave it out (X.drop(columns=…), --drop at the command line)", "leave it out (--drop)"),
        ("to dates (pandas.to_datetime, --as-date at the command line)", "to dates (--as-date)"),
        ("strip the blanks first (X[column].str.strip())", "strip the blanks first"),
        ("y is constant (3 in all 9 rows)", "the target is constant (3 in all 9 rows)"),
        ("target 'y': y holds strings", "target 'y' holds strings"),
        (
            "moved 0.2 standard deviations (tol=0.001)",
            "moved 0.2 standard deviations (--tol 0.001)",
        ),
        ("max_depth must be an int ≥ 1", "max_depth must be a whole number ≥ 1"),
        ("worksheet: there is no round 9", "there is no round 9"),
    ],
)
def test_messages_of_the_library_are_in_command_words(library, words):
    assert in_command_words(library) == words


def test_remedies_for_unseen_categories_are_options_of_train(csv, tmp_path):
    data, new = csv("a,y\n" + "p,1\nq,2\n" * 10), csv("a,y\np,1\nz,2\n", "new.csv")
    for unseen, code in (("missing", 0), ("error", 1), ("ignore", 0)):
        model = tmp_path / f"{unseen}.arb"
        ok("train", data, "-t", "y", "--set", f"unseen={unseen}", "-o", model)
        result = run("predict", model, new)
        assert result.exit_code == code
        assert "unseen='" not in result.stderr
        if unseen == "missing":
            assert "train with --set unseen=ignore to silence this warning" in result.stderr
            assert "(row 1)" in result.stderr
            assert "row 0 is the first one below the header" in result.stderr
        elif unseen == "error":
            assert "or train with --set unseen=missing to treat them as" in result.stderr
        else:
            assert "unseen" not in result.stderr
