"""`resume=`: a comparison that was killed goes on; the file of another one is refused."""

import pytest

from arboretum import CARTClassifier, compare
from arboretum.comparison import compare as module
from arboretum.errors import DataError
from tests.comparison.comparison_tables import table


def compared(path, **options):
    X, y, _ = table()
    options = {"models": ["CART", "LGBM"], "folds": 2, "resume": path, **options}
    return compare(options.pop("X", X), y, progress_bar=False, **options)


def test_finished_trials_are_not_done_again(tmp_path, monkeypatch):
    path = tmp_path / "work.jsonl"
    first = compared(path)
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + 6 * 2
    path.write_text("\n".join(lines[:6]) + "\n" + lines[6][:40])  # killed in the middle of a line
    second = compared(path)
    assert len(path.read_text().splitlines()) == len(lines)

    def none(*_):
        return lambda candidate, fold: pytest.fail("fitted again")

    monkeypatch.setattr(module, "trials_of", none)
    third = compared(path)
    seconds = ["fit_seconds", "predict_seconds"]
    for other in (second, third):
        assert other.to_frame().drop(columns=seconds).equals(first.to_frame().drop(columns=seconds))
        assert other.hard_rows.rows.tolist() == first.hard_rows.rows.tolist()


def test_other_parameters_are_fitted_anew(tmp_path):
    path = tmp_path / "work.jsonl"
    compared(path, models={"tree": CARTClassifier(max_depth=1)})
    deep = compared(path, models={"tree": CARTClassifier(max_depth=4)})
    assert deep.estimate("tree", "size").value > 2


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.write_text('{"a": 1}\n'), "belongs to another table"),
        (lambda path: path.write_text("hello\n"), "is not a file of a comparison"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00\n"), "is not a file of a comparison"),
        (lambda path: path.write_text(path.read_text() + '{"trial": "x"}\n'), "is not a file"),
        (lambda path: path.write_text(""), "belongs to another table"),
    ],
)
def test_a_file_of_something_else(tmp_path, spoil, message):
    path = tmp_path / "work.jsonl"
    compared(path, models=["CART"])
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(DataError, match=message):
        compared(path, models=["CART"])
    assert path.read_bytes() == before


def test_another_table_is_refused(tmp_path):
    path = tmp_path / "work.jsonl"
    compared(path, models=["CART"])
    X, _, _ = table()
    with pytest.raises(DataError, match="belongs to another table"):
        compared(path, X=X.assign(age=X["age"] + 1))
    with pytest.raises(DataError, match="does not exist"):
        compared(tmp_path / "no" / "work.jsonl")
