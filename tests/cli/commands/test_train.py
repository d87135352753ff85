"""Every option of `arboretum train` changes what it says it changes."""

import re

import numpy as np
import pytest

from arboretum import CARTClassifier, CARTRegressor, load
from arboretum.boosting.second_order.booster import Booster
from tests.cli.cli_helpers import cells, fact, fails, ok, run


def test_ctrl_c_keeps_the_old_model_and_writes_what_is_finished_beside_it(
    shelf, tmp_path, monkeypatch
):
    grow, made = Booster.round, []

    def interrupted(self, most):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(grow(self))

    monkeypatch.setattr(Booster, "round", interrupted)
    output = tmp_path / "m.arb"
    output.write_bytes(b"ARBORETM of yesterday")
    how = ("--model", "xgb", "--set", "n_estimators=50")
    result = run("train", shelf / "seedlings.csv", "--target", "fate", "-o", output, *how)
    assert result.exit_code == 130
    assert output.read_bytes() == b"ARBORETM of yesterday"
    partial = load(tmp_path / "m.arb.partial")
    assert partial.interrupted_ == (3, 50, "round")
    assert partial.notes_["target"] == "fate"
    assert re.search(
        r"the 3 rounds that were finished, of 50, are in \S+m.arb.partial", result.stderr
    )
    assert "interrupted" in result.stderr


def test_ctrl_c_before_anything_is_finished_writes_nothing(shelf, tmp_path, monkeypatch):
    def interrupted(self, most):
        raise KeyboardInterrupt

    monkeypatch.setattr(Booster, "round", interrupted)
    words = ("train", shelf / "seedlings.csv", "-t", "fate", "-o", tmp_path / "m.arb")
    result = run(*words, "--model", "xgb")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (130, "interrupted")
    assert not list(tmp_path.iterdir())


def test_scores_by_the_rows_that_chose_the_round_say_so(shelf, tmp_path):
    words = (
        "train",
        shelf / "seedlings.csv",
        "-t",
        "fate",
        "-o",
        tmp_path / "m.arb",
        "--model",
        "xgb",
    )
    words = (*words, "--set", "n_estimators=5", "--test-size", "0.3")
    assert "chosen on these rows" in ok(*words, "--early-stopping", "2")
    assert "chosen on these rows" not in ok(*words)


def test_a_table_becomes_the_model_python_would_have_made(shelf, tmp_path):
    output = ok("train", shelf / "seedlings.csv", "--target", "fate", "-o", tmp_path / "m.arb")
    model = load(tmp_path / "m.arb")
    assert isinstance(model, CARTClassifier)
    assert model.notes_ == {"target": "fate", "task": "classification"}
    assert model.classes_.tolist() == ["dies", "survives", "thrives"]
    kinds = {c.name: (c.kind, c.dtype, c.has_missing) for c in model.schema_.columns}
    assert kinds == {
        "species": ("categorical", "str", False),
        "soil": ("categorical", "str", True),
        "ph": ("numeric", "float64", True),
        "sun_hours": ("numeric", "float64", True),
        "height_cm": ("numeric", "float64", False),
        "watered": ("categorical", "str", False),
        "planted": ("numeric", "datetime", False),
    }
    import pandas as pd

    frame = pd.read_csv(shelf / "seedlings.csv")
    frame["planted"] = pd.to_datetime(frame["planted"])
    by_hand = CARTClassifier(random_state=0).fit(frame.drop(columns="fate"), frame["fate"])
    assert model.tree_.node_count == by_hand.tree_.node_count
    np.testing.assert_array_equal(model.tree_.threshold, by_hand.tree_.threshold)
    # and the summary says so
    assert fact(output, "data").endswith("seedlings.csv: 600 rows")
    assert fact(output, "target") == "fate: classification, because its values are words"
    assert fact(output, "classes") == "survives 273, thrives 198, dies 129"
    assert fact(output, "model") == "DecisionTreeClassifier(random_state=0)"
    assert fact(output, "size").startswith(f"one tree of {model.get_n_leaves()} leaves, depth ")
    assert cells(output, "soil")[1:] == ["yes", "chalk, clay, loam, peat, sand"]
    assert re.fullmatch(r"\d+\.\d\d s", fact(output, "time"))
    assert "Scores" not in output


def test_the_same_command_gives_the_same_file(shelf, tmp_path):
    words = ("train", shelf / "seedlings.csv", "-t", "fate", "--set", "max_features=2", "-o")
    ok(*words, tmp_path / "a.arb")
    ok(*words, tmp_path / "b.arb")
    assert (tmp_path / "a.arb").read_bytes() == (tmp_path / "b.arb").read_bytes()


def test_set_reaches_the_estimator(shelf, tmp_path):
    settings = (
        "max_depth=2",
        "criterion=entropy",
        "class_weight={'dies': 2.5}",
        "min_samples_leaf=.1",
    )
    words = [word for setting in settings for word in ("--set", setting)]
    output = ok("train", shelf / "seedlings.csv", "-t", "fate", "-o", tmp_path / "m.arb", *words)
    model = load(tmp_path / "m.arb")
    assert (model.max_depth, model.criterion) == (2, "entropy")
    assert (model.class_weight, model.min_samples_leaf) == ({"dies": 2.5}, 0.1)
    assert model.get_depth() == 2
    assert "max_depth=2" in fact(output, "model")


def test_pruning_by_cross_validation(csv, tmp_path):
    noise = np.random.default_rng(0).normal(size=200)
    table = csv("x,y\n" + "".join(f"{i},{np.sin(i / 20) + e:.6f}\n" for i, e in enumerate(noise)))
    leaves = {}
    for name, words in {
        "no": [],
        "min": ["--prune-cv"],
        "1se": ["--prune-cv", "--rule", "1se"],
    }.items():
        ok("train", table, "-t", "y", "-o", tmp_path / f"{name}.arb", *words)
        leaves[name] = load(tmp_path / f"{name}.arb").get_n_leaves()
    assert leaves["no"] > leaves["min"] > leaves["1se"] > 1
    notes = load(tmp_path / "1se.arb").notes_
    assert notes["pruned"].startswith(f"from {leaves['no']} leaves at α = ")
    assert "within one standard error" in notes["pruned"]


def test_the_summary_tells_of_pruning(shelf, tmp_path):
    words = ("-t", "fate", "--prune-cv", "--rule", "1se", "-o", tmp_path / "m.arb")
    output = ok("train", shelf / "seedlings.csv", *words)
    assert 3 < load(tmp_path / "m.arb").get_n_leaves() < 20
    assert "cross-validation" in fact(output, "pruned")


def test_folds_are_shuffled(csv, tmp_path):
    """A sorted file: unshuffled folds would never have seen the values they are asked for."""
    text = "x,y\n" + "".join(f"{i},{i}.5\n" for i in range(100))
    ok("train", csv(text), "-t", "y", "--prune-cv", "-o", tmp_path / "m.arb")
    assert load(tmp_path / "m.arb").get_n_leaves() > 40


def test_rows_held_out(shelf, tmp_path):
    words = ("train", shelf / "seedlings.csv", "-t", "fate", "--set", "max_depth=3")
    output = ok(*words, "--test-size", "0.25", "-o", tmp_path / "a.arb")
    assert "Scores on 150 rows held out" in output
    assert fact(output, "data").endswith("600 rows, 450 of them for training")
    assert load(tmp_path / "a.arb").tree_.count[0] == 450
    # the same shares of classes on both sides
    held_out = [int(cells(output[output.index("Class by class") :], c)[3])
                for c in ("dies", "survives", "thrives")]  # fmt: skip
    assert held_out == pytest.approx([129 / 4, 273 / 4, 198 / 4], abs=1)
    # the seed decides which rows
    ok(*words, "--test-size", "0.25", "--seed", "1", "-o", tmp_path / "b.arb")
    ok(*words, "--test-size", "0.25", "--seed", "0", "-o", tmp_path / "c.arb")
    a, b, c = (load(tmp_path / f"{n}.arb").tree_.threshold for n in "abc")
    assert not np.array_equal(a, b, equal_nan=True)
    assert np.array_equal(a, c, equal_nan=True)


def test_the_seed_is_the_models_too(shelf, tmp_path):
    words = ("train", shelf / "few.csv", "-t", "fate", "-o", tmp_path / "m.arb")
    ok(*words, "--seed", "7")
    assert load(tmp_path / "m.arb").random_state == 7
    ok(*words, "--set", "random_state=9")
    assert load(tmp_path / "m.arb").random_state == 9


def test_scores_on_another_file(shelf, csv, tmp_path):
    training = csv("x,y,id\n1,a,7\n2,a,8\n3,b,9\n4,b,9\n", "train.csv")
    # columns in another order, the dropped one there, and one nobody knows
    other = csv("more,y,id,x\n0,a,1,1\n0,b,2,1\n0,b,3,4\n0,b,4,4\n", "other.csv")
    words = ("train", training, "-t", "y", "--drop", "id", "--valid", other, "-o")
    result = run(*words, tmp_path / "m.arb")
    assert result.exit_code == 0
    assert f"Scores on 4 rows of {other}" in result.stdout
    assert cells(result.stdout, "accuracy") == ["0.7500"]
    assert load(tmp_path / "m.arb").tree_.count[0] == 4  # learned from its own file only
    assert result.stderr.strip().endswith("the model does not use 'more'")


def test_a_validation_file_is_checked_before_the_training(shelf, csv, tmp_path):
    other = csv("hight_cm,fate\n1,dies\n", "other.csv")
    code, line = fails(
        "train", shelf / "few.csv", "-t", "fate", "--valid", other, "-o", tmp_path / "m.arb"
    )
    assert code == 1
    assert "lacks columns the model was trained on" in line
    assert "'height_cm' (did you mean 'hight_cm'?)" in line
    assert not (tmp_path / "m.arb").exists()


def test_weights(csv, tmp_path):
    table = csv("x,w,y\n1,1,a\n1,3,b\n2,1,a\n2,0,b\n")
    output = ok("train", table, "-t", "y", "--weight", "w", "-o", tmp_path / "m.arb")
    model = load(tmp_path / "m.arb")
    assert model.schema_.names == ("x",)
    assert model.predict(csv("x\n1\n2\n", "new.csv")).tolist() == ["b", "a"]
    assert model.tree_.weight[0] == 5
    assert model.notes_["weight"] == "w"
    assert "weighted by w" in fact(output, "data")


def test_held_out_rows_are_weighted_too(csv, tmp_path):
    training = csv("x,w,y\n1,1,a\n2,1,b\n", "a.csv")
    other = csv("x,w,y\n1,3,a\n1,1,b\n", "b.csv")
    words = ("train", training, "-t", "y", "--weight", "w", "--valid", other)
    output = ok(*words, "-o", tmp_path / "m.arb")
    assert cells(output, "accuracy") == ["0.7500"]


def test_dropped_columns(shelf, tmp_path):
    words = ("--drop", "planted", "--drop", "ph", "-o", tmp_path / "m.arb")
    output = ok("train", shelf / "few.csv", "-t", "fate", *words)
    names = load(tmp_path / "m.arb").schema_.names
    assert names == ("species", "soil", "sun_hours", "height_cm", "watered")
    assert "without 'planted', 'ph'" in fact(output, "data")


def test_categorical_columns(csv, tmp_path):
    table = csv("zip,year,y\n8001,1,a\n3000,2,b\n8001,3,a\n3000,4,b\n")
    ok("train", table, "-t", "y", "--categorical", "zip", "-o", tmp_path / "m.arb")
    first, second = load(tmp_path / "m.arb").schema_.columns
    assert (first.kind, first.categories) == ("categorical", (3000, 8001))
    assert second.kind == "numeric"


def test_jobs(shelf, tmp_path):
    ok("train", shelf / "few.csv", "-t", "fate", "--jobs", "1", "-o", tmp_path / "m.arb")
    assert load(tmp_path / "m.arb").n_jobs == 1


def test_the_task_can_be_told(csv, tmp_path):
    table = csv("x,y\n" + "".join(f"{i},{i % 3}\n" for i in range(30)))
    for task, kind in (("auto", CARTClassifier), ("regression", CARTRegressor),
                       ("classification", CARTClassifier)):  # fmt: skip
        output = ok("train", table, "-t", "y", "--task", task, "-o", tmp_path / "m.arb")
        assert type(load(tmp_path / "m.arb")) is kind
        because = "it holds only 3 different whole numbers" if task == "auto" else f"--task {task}"
        assert fact(output, "target").endswith(because)
        assert load(tmp_path / "m.arb").notes_["task"] in fact(output, "target")


def test_compressed_and_parquet_files(shelf, tmp_path):
    import pandas as pd

    frame = pd.read_csv(shelf / "few.csv")
    frame["size"] = pd.cut(frame.pop("height_cm"), [0, 20, 40, 99], labels=["S", "M", "L"])
    frame["watered"] = frame["watered"] == "yes"
    frame["planted"] = pd.to_datetime(frame["planted"])
    frame.to_parquet(tmp_path / "few.parquet")
    ok("train", tmp_path / "few.parquet", "-t", "fate", "-o", tmp_path / "p.arb")
    columns = {c.name: c for c in load(tmp_path / "p.arb").schema_.columns}
    assert (columns["size"].kind, columns["size"].categories) == ("ordinal", ("S", "M", "L"))
    assert (columns["watered"].kind, columns["watered"].dtype) == ("categorical", "bool")
    assert columns["planted"].dtype == "datetime"
    ok("train", shelf / "few.csv.gz", "-t", "fate", "-o", tmp_path / "g.arb")
    ok("train", shelf / "few.csv", "-t", "fate", "-o", tmp_path / "c.arb")
    assert (tmp_path / "g.arb").read_bytes() == (tmp_path / "c.arb").read_bytes()


def test_names_are_never_markup(csv, tmp_path):
    table = csv("[red]größe[/red],y\n1,[bold]\n2,b\n")
    output = ok("train", table, "-t", "y", "-o", tmp_path / "m.arb")
    assert cells(output, "[red]größe[/red]")[1] == "numbers"
    assert "[bold] 1" in fact(output, "classes")


def test_a_wide_table_is_summed_up(csv, tmp_path):
    names = [f"c{i}" for i in range(100)]
    rows = [",".join(map(str, [*range(k, k + 100), k % 2])) for k in range(6)]
    table = csv("\n".join([",".join([*names, "y"]), *rows]) + "\n")
    output = ok("train", table, "-t", "y", "-o", tmp_path / "m.arb")
    assert "100 columns, the 30 most important ones" in output
    assert len(re.findall(r"^  c\d+ ", output, re.MULTILINE)) == 30


# ---------------------------------------------------------------------- bad input
GOOD = "x,y,w\n1,a,1\n2,b,1\n3,a,1\n4,b,1\n"

BAD_DATA = [
    ("", [], "line 1: no header"),
    ("x,y\n", [], "holds a header but no rows"),
    ("x,y\n1,a\n2\n", [], "line 3: 1 fields where the header has 2"),
    ('x,y\n"1,a\n2,b\n', [], "line 2: .*quote"),
    ("x,x,y\n1,2,a\n", [], "these occur twice: 'x'"),
    ("x,y\ninf,a\n2,b\n", [], r"column 'x' holds an infinite value \(row 0\).*row 0 is the first"),
    ("x,y\ninf,a\n2,b\n3,a\n4,b\n5,a\n6,inf\n", ["--test-size", "0.5"], r"'x' .*\(row 0\)"),
    ("x,y\n1,\n2,\n", [], "the target 'y' of .* has no value in any row"),
    ("x,y\n1,\n2,a\ninf,b\n", [], r"column 'x' holds an infinite value \(row 2\)"),
    ("x,y\n1,$5.00\n2,$6.50\n", [], r"numbers written as words, e.g. '\$5.00': use --as-number y"),
    ("x,y\n1,1.5\n2,inf\n", [], r"target 'y': .*infinity \(row 1\)"),
    ("x,y\n1,2024-01-01\n2,2024-01-02\n", [], "target 'y': holds a datetime"),
    ("x,y\n1,0.5\n2,0.25\n", ["--task", "classification"], "target 'y': .*fractions"),
    (GOOD, ["--task", "regression"], r"target 'y' holds strings \(rows 0, 2: 'a'\)"),
    ("y\na\nb\n", [], "no column left besides the target"),
    (GOOD, ["--drop", "x", "--weight", "w"], "no column left"),
    (GOOD, ["--drop", "ww"], r"no column 'ww' for --drop \(did you mean 'w'\?\)"),
    (GOOD, ["--drop", "zzz"], "no column 'zzz' for --drop; it has 'x', 'y', 'w'"),
    (GOOD, ["--categorical", "xx"], "no column 'xx' for --categorical"),
    (GOOD, ["--weight", "ww"], "no column 'ww' for the weights"),
    ("x,y,w\n1,a,heavy\n2,b,light\n", ["--weight", "w"], "weight column 'w' .*not hold numbers"),
    ("x,y,w\n1,a,-1\n2,b,1\n", ["--weight", "w"], r"weight column 'w': Negative .*\(row 0\)"),
    ("x,y,w\n1,a,\n2,b,1\n", ["--weight", "w"], r"weight column 'w': .*NaN \(row 0\)"),
    ("x,y,w\n1,a,0\n2,b,0\n", ["--weight", "w"], "weight column 'w': .*zero in every row"),
    ("x,y\n1,a\n2,b\n", ["--test-size", "0.2"], "leaves none to evaluate on"),
    ("x,y\n1,a\n2,b\n", ["--test-size", "0.9"], "leaves none to train on"),
    ("x,y\n1,a\n2,b\n", ["--prune-cv"], "2 rows are too few"),
    (GOOD, ["--valid", "nowhere.csv"], "no such file: 'nowhere.csv'"),
]


@pytest.mark.parametrize(("text", "words", "message"), BAD_DATA)
def test_bad_data_are_one_line(csv, tmp_path, text, words, message):
    code, line = fails("train", csv(text), "-t", "y", "-o", tmp_path / "m.arb", *words)
    assert code == 1
    assert re.search(message, line), line
    assert not (tmp_path / "m.arb").exists()


BAD_COMMANDS = [
    (["--model", "crat"], "--model 'crat' is unknown: did you mean 'cart'?"),
    (["--model", "xyz"], "--model 'xyz' is unknown: it is one of cart"),
    (["--set", "max_dept=3"], "no parameter 'max_dept': did you mean 'max_depth'?"),
    (
        ["--set", "max_depth=-3"],
        "'max_depth' parameter of DecisionTreeClassifier must be a whole number ≥ 1 or None, got -3",
    ),
    (["--set", "max_depth"], "--set takes name=value, e.g. --set max_depth=4, got 'max_depth'"),
    (["--set", "=4"], "--set takes name=value"),
    (["--set", "max_depth=1", "--set", "max_depth=2"], "max_depth=… is given twice"),
    (["--set", "n_jobs=1", "--jobs", "1"], "--jobs and --set n_jobs=… mean the same"),
    (["--set", "random_state=1", "--seed", "1"], "--seed and --set random_state=…"),
    (["--rule", "1se"], "give --prune-cv too"),
    (["--test-size", "0.2", "--valid", "x.csv"], "give one of them"),
    (
        ["--test-size", "1.5"],
        "--test-size is a share of the rows between 0 and 1, or per cent, got 1.5",
    ),
    (["--test-size", "0"], "between 0 and 1, or per cent, got 0"),
    (["--weight", "y"], "'y': a column has one role"),
    (["--drop", "y"], "'y': a column has one role"),
    (["--drop", "x", "--categorical", "x"], "'x': a column has one role"),
    (["--jobs", "0"], "'n_jobs' parameter of DecisionTreeClassifier must be"),
    (["--seed", "-1"], "invalid value for '--seed'"),
    (["--task", "ranking"], "invalid value for '--task'"),
    (["--rule", "2se"], "invalid value for '--rule'"),
    (["--colour", "red"], "no such option: --colour"),
]


@pytest.mark.parametrize(("words", "message"), BAD_COMMANDS)
def test_a_wrong_command_is_one_line(csv, tmp_path, words, message):
    code, line = fails("train", csv(GOOD), "-t", "y", "-o", tmp_path / "m.arb", *words)
    assert code == 2
    assert message in line
    assert not (tmp_path / "m.arb").exists()


def test_a_target_that_is_not_there(csv, tmp_path):
    code, line = fails("train", csv(GOOD), "-t", "Y", "-o", tmp_path / "m.arb")
    assert code == 1
    assert "has no column 'Y' for the target" in line


def test_places_that_cannot_be_written_to(csv, tmp_path):
    table = csv(GOOD)
    code, line = fails("train", table, "-t", "y", "-o", tmp_path / "nowhere" / "m.arb")
    assert code == 1
    assert "nowhere' does not exist" in line
    code, line = fails("train", table, "-t", "y", "-o", tmp_path)
    assert code == 1
    assert "is a directory, add a file name" in line


def test_gaps_in_a_target_of_whole_numbers(csv, tmp_path):
    lines = [f"{i % 3 + i % 2},{'' if i % 9 == 4 else i % 3}" for i in range(90)]
    data, model = csv("x,y\n" + "\n".join(lines) + "\n"), tmp_path / "m.arb"
    output = ok("train", data, "-t", "y", "-o", model)
    assert "only 3 different whole numbers" in output
    assert load(model).classes_.tolist() == [0, 1, 2]
    assert load(model).classes_.dtype.kind == "i"
    assert fact(output, "classes") == "0 30, 2 30, 1 20"
    assert "80 rows" in ok("evaluate", model, data)
