"""``--help``: examples, options in people's words, 80 columns."""

import re

import pytest

from arboretum.cli.app import app
from tests.cli.cli_helpers import ok

_COMMANDS = [command.name for command in app.registered_commands]


def test_all_commands_are_here():
    assert len(_COMMANDS) == 11


@pytest.mark.parametrize("words", [[], *([name] for name in _COMMANDS)], ids=" ".join)
def test_help_is_plain_text_of_80_columns(words):
    text = ok(*words, "--help")
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(rf"^  arboretum .*{' '.join(words)}", text, re.MULTILINE), "no example"
    for python in ("<", "x>=", "bool", "list[", "{", "[default", "[required]", "None", "│"):
        assert python not in text
    assert not re.search(r"^ {31,}\S", text, re.MULTILINE), "texts beside options are too narrow"


def test_usage_names_what_must_be_given():
    usage = "Usage: arboretum train DATA -t COLUMN -o MODEL.arb [options]\n"
    assert ok("train", "-h").startswith(usage)
    text = ok("impute", "--help")
    assert "--as-number COLUMN" in text
    assert "--as-date COLUMN[=FORM]" in text
    assert re.search(r"--trees N +Trees of the forest. Default: 100.", text)
