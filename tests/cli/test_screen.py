"""What is printed fits a screen of 80 columns, and numbers are written for people."""

import time

import pytest

from arboretum.cli import screen
from arboretum.cli.screen import Stopwatch, number, working
from arboretum.engine.compiler.cache import compiled
from tests.cli.cli_helpers import cells, fact, ok, run


@pytest.fixture(scope="module")
def streets(tmp_path_factory):
    """A table with long names, long words and 844 categories."""
    path = tmp_path_factory.mktemp("streets") / "d.csv"
    pay = ["Bank transfer (automatic)", "Credit card (automatic)", "Electronic check"]
    lines = ["street,payment_method,the_monthly_charges_of_last_year,area,price"]
    for i in range(1688):
        charges = "" if i % 9 == 0 else str(i * 7 % 100)
        lines.append(f"street number {i % 844},{pay[i % 3]},{charges},{i % 50},{i % 50 * 5000 + i}")
    path.write_text("\n".join(lines) + "\n")
    return path


def _assert_narrow(text):
    assert max(map(len, text.splitlines())) <= 80, text


def test_the_columns_of_a_model_fit_and_the_most_important_is_first(streets, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = "m.arb"
    for text in (ok("train", streets, "-t", "price", "-o", model), ok("describe", model)):
        _assert_narrow(text)
        assert cells(text, "area")[1] == "numbers"
        assert float(cells(text, "area")[0]) > 0.9
        assert cells(text, "street")[1].startswith("844: street number 0, ")
        assert cells(text, "payment_method")[1].startswith("Bank transfer")
        header = next(line for line in text.splitlines() if "importance" in line)
        assert header.split() == ["name", "importance", "missing", "values"]
        names = ["area", "street", "payment_method", "the_monthly_charges_of_l"]
        assert all(f"\n  {name} " in text for name in names)
        assert min(names, key=text.index) == "area"


def test_lists_of_categories_are_shortened(streets, tmp_path):
    model = tmp_path / "m.arb"
    ok("train", streets, "-t", "price", "--drop", "area", "--set", "max_depth=2", "-o", model)
    assert max(map(len, ok("show", model).splitlines())) < 400
    assert "more}" in ok("show", model)


def test_large_and_small_scores(streets, tmp_path):
    text = ok("train", streets, "-t", "price", "--test-size", 20, "-o", tmp_path / "m.arb")
    assert "e+0" not in text
    assert number(25240.4) == "25,240"
    assert number(0.00031) == "0.0003100"
    assert number(2.2e-16) == "0.0000"


def test_a_confusion_matrix_wider_than_the_screen_is_a_list(csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [f"a rather long class {k}" for k in range(6)]
    rows = [f"{i * 37 % 11},{names[i % 6]}" for i in range(60)]
    data, model = csv("x,y\n" + "\n".join(rows) + "\n"), tmp_path / "m.arb"
    ok("train", data, "-t", "y", "-o", model)
    text = ok("evaluate", model, data.name)
    _assert_narrow(text)
    assert "Most frequent confusions among 6 classes" in text
    assert "Confusion matrix" not in text


def test_the_best_round_is_named_and_the_booster_prints_nothing_else(shelf, tmp_path):
    data, model = shelf / "seedlings.csv", tmp_path / "m.arb"
    for kind in ("xgb", "lgbm"):
        words = ["--model", kind, "--valid", shelf / "few.csv", "--early-stopping", 2]
        result = run("train", data, "-t", "height_cm", *words, "-o", model, "--set", "eta=1.0")
        assert result.exit_code == 0, result.stderr
        assert "best round" in result.stdout
        assert "iteration" not in result.output
        assert "validation scores" not in result.output
        _assert_narrow(result.stdout)
        best = fact(result.stdout, "best round").split()[0]
        assert fact(ok("describe", model), "best round").startswith(f"{best};")
        assert f"best round: {best};" in ok("show", model)


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
    screen._note_once.cache_clear()
    for _ in range(2):
        with working("nothing"):
            compiled.show("compiling …")
            compiled.show(None)
    assert compiled.show is None
    assert capsys.readouterr().err == "note: compiling …\n"
