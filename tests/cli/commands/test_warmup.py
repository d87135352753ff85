"""`arboretum warmup` compiles what it is asked for and says what it did."""

import pytest

from arboretum.engine.compiler import warmup as engine
from arboretum.engine.compiler.signatures import Signature
from tests.cli.cli_helpers import fact, fails, ok, run


@pytest.fixture
def _tiny_table(monkeypatch):
    one = Signature(
        "arboretum.engine.random:child_keys", ("uint64 1C", "uint64 1C"), frozenset({"C45Rules"})
    )
    gone = Signature("arboretum.engine.random:gone", (), frozenset({"ID3Classifier"}))
    monkeypatch.setattr(engine, "read_table", lambda: [one, gone])


@pytest.mark.usefixtures("_tiny_table")
def test_it_says_what_it_did():
    ok("warmup", "C45Rules", "--jobs", 1)
    output = ok("warmup", "C45Rules")
    assert fact(output, "kernels") == "nothing to compile, 1 were ready"
    assert "kernels-" in fact(output, "kept in")


@pytest.mark.usefixtures("_tiny_table")
def test_what_cannot_be_compiled_is_a_note():
    result = run("warmup", "ID3Classifier")
    assert result.exit_code == 0
    assert "note: not compiled: arboretum.engine.random:gone" in result.stderr


def test_unknown_estimators_are_errors():
    code, line = fails("warmup", "XTree")
    assert code == 2
    assert "there is no estimator 'XTree'" in line
