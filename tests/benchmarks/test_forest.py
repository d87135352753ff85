"""The forest benchmark: its work does what it says, and imputation is measured on what was lost."""

import json
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from benchmarks import data, forest
from benchmarks.__main__ import main
from benchmarks.harness import Case, Options, Unavailable

EXPERIMENTS = forest.experiments(1)
CASES = [e for e in EXPERIMENTS.values() if isinstance(e, Case)]


def quiet(what):
    """Tell nobody what is going on."""


# ---------------------------------------------------------------------- cases
@pytest.mark.filterwarnings("ignore:.*:UserWarning")  # ten trees leave rows without OOB score
@pytest.mark.parametrize("case", [c for c in CASES if c.name != "ydf"], ids=lambda case: case.name)
def test_every_contender_does_the_work_of_its_case(case):
    split = case.data(120 if case.name == "iris" else 150)
    for make in case.contenders.values():
        small = make().set_params(n_estimators=10)
        job = case.work(lambda small=small: small, split)
        outcome = job.run()
        assert -0.5 < job.score(outcome) <= 1
        assert all(count >= 1 for count in job.facts(outcome).values())


@pytest.mark.parametrize(
    ("name", "rows", "columns", "goal", "n_estimators"),
    [
        ("random-forest", 100_000, 28, 5.0, 100),
        ("extra-trees", 100_000, 28, 4.0, 100),
        ("random-forest-1m", 1_000_000, 28, None, 20),
        ("wide", 20_000, 500, None, 100),
        ("small", 5_000, 20, None, 100),
        ("iris", 120, 4, 1.0, 100),
        ("regression", 20_000, 28, None, 100),
        ("ydf", 100_000, 28, 5.0, 100),
        ("predict", 100_000, 28, 3.0, 100),
        ("proximity", 50_000, 28, None, 100),
    ],
)
def test_cases_are_of_the_size_that_was_asked_for(name, rows, columns, goal, n_estimators):
    case = EXPERIMENTS[name]
    assert (case.rows, case.goal) == (rows, goal)
    assert case.data(120).X.shape[1] == columns
    assert case.quick_rows <= 10_000
    assert next(iter(case.contenders)) == forest.OURS != case.baseline
    assert {make().n_estimators for make in case.contenders.values()} == {n_estimators}


def test_both_sides_get_the_same_threads():
    for case in forest.experiments(3).values():
        if isinstance(case, Case) and case.name != "ydf":
            pair = [case.contenders[name]().n_jobs for name in (forest.OURS, forest.PEER)]
            assert pair == [3, 3]


@pytest.mark.parametrize("side", [forest.OURS, forest.PEER])
def test_size_counts_the_leaves_of_all_trees_and_the_bytes_of_the_model(side):
    split = data.iris(120)
    sizes = []
    for n in (1, 20):
        model = EXPERIMENTS["iris"].contenders[side]().set_params(n_estimators=n)
        job = forest.growing(lambda model=model: model, split)
        sizes.append(job.facts(job.run()))
    one, twenty = sizes
    assert 2 <= one["leaves"] < 30 < twenty["leaves"] < 400
    assert one["model kB"] < twenty["model kB"]
    assert 1 <= one["depth"] <= twenty["depth"] <= 20


# ---------------------------------------------------------------------- YDF
def test_without_ydf_its_case_is_skipped_with_the_reason(monkeypatch):
    monkeypatch.setattr("benchmarks.harness.find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"^needs ydf$"):
        EXPERIMENTS["ydf"].measure(Options(quick=True), quiet)


def test_ydf_is_asked_for_the_same_forest_and_judged_on_held_out_rows(monkeypatch):
    asked = {}

    class Model:
        def label_classes(self):
            return ["0", "1"]

        def predict(self, columns):
            assert "y" not in columns
            return np.where(columns["x0"] > 0, 0.9, 0.1)

    class Learner:
        def __init__(self, **parameters):
            asked.update(parameters)

        def train(self, table):
            assert [len(table), len(table["y"])] == [3, 2]
            return Model()

    fake = ModuleType("ydf")
    fake.RandomForestLearner, fake.verbose = Learner, lambda level: None
    monkeypatch.setitem(sys.modules, "ydf", fake)
    X = np.array([[1.0, 5.0], [-1.0, 5.0]])
    job = forest.growing(
        lambda: forest.YDFForest(3), data.Split(X, np.array([1, 0]), X, np.array([1, 1]))
    )
    outcome = job.run()
    assert job.score(outcome) == 0.5
    assert job.facts(outcome) == {}
    assert (asked["num_trees"], asked["num_threads"], asked["max_depth"]) == (100, 3, -1)


# ---------------------------------------------------------------------- proximity
@pytest.mark.parametrize("top_k", [1, 5, 100])
def test_the_peer_by_product_finds_the_proximities_of_the_definition(monkeypatch, top_k):
    monkeypatch.setattr(forest, "_BLOCK", 7)  # several blocks, the last one shorter
    leaves = np.random.default_rng(0).integers(0, 4, (30, 9))
    P = (leaves[:, None] == leaves[None]).mean(axis=2)
    found = forest._nearest_by_product(leaves, top_k).toarray()
    kept = found > 0
    assert found[kept] == pytest.approx(P[kept])
    assert np.diag(found) == pytest.approx(1)
    others = P - 2 * np.eye(30)
    for i in range(30):
        best = np.sort(others[i][others[i] > 0])[::-1][:top_k]
        mine = np.sort(found[i][kept[i] & (np.arange(30) != i)])[::-1]
        assert mine == pytest.approx(best)


def test_both_ways_to_neighbours_agree_on_one_forest():
    split = data.iris(120)
    model = forest._ours("RandomForestClassifier", 1, n_estimators=20)().fit(split.X, split.y)
    ours = model.proximity(split.X, top_k=200).toarray()
    assert forest._nearest_by_product(model.apply(split.X), 200).toarray() == pytest.approx(ours)


# ---------------------------------------------------------------------- imputation
def test_values_are_knocked_out_in_every_column_and_others_stay():
    X = np.random.default_rng(0).normal(size=(50, 4))
    holes = forest.knocked_out(X, 0.3, seed=1)
    assert np.isnan(holes).sum(axis=0).tolist() == [15] * 4
    assert np.array_equal(holes[~np.isnan(holes)], X[~np.isnan(holes)])
    assert not np.array_equal(np.isnan(holes), np.isnan(forest.knocked_out(X, 0.3, seed=2)))
    assert not np.isnan(X).any()


def test_error_is_of_the_lost_values_in_standard_deviations(monkeypatch):
    def fillers(task, options):
        def off_by(distance, holes, y):
            X = whole[: len(holes), : holes.shape[1]]
            assert np.allclose(holes[~np.isnan(holes)], X[~np.isnan(holes)])
            return np.where(np.isnan(holes), X + distance, X)

        names = (forest.OURS, forest.MEDIAN, forest.MISS_FOREST)
        return {n: lambda h, y, d=d: off_by(d, h, y) for n, d in zip(names, (0.5, 2.0, 1.0))}

    experiment = EXPERIMENTS["impute-wine-20"]
    whole, _ = experiment._load(None)
    assert whole.std(axis=0) == pytest.approx(1)
    monkeypatch.setattr(forest, "_fillers", fillers)
    got = experiment.measure(Options(repeat=2), quiet)
    assert [m.score for m in got.measurements] == pytest.approx([0.5, 2.0, 1.0])
    assert [len(m.seconds) for m in got.measurements] == [2, 2, 2]
    assert "wine, 20% missing" in got.title
    assert "25% of the median's" in got.title


def test_every_table_loses_every_share():
    found = {(e.table, e.share) for e in EXPERIMENTS.values() if not isinstance(e, Case)}
    tables, shares = ("breast_cancer", "diabetes", "wine"), (0.05, 0.1, 0.2, 0.3)
    assert found == {(table, share) for table in tables for share in shares}


@pytest.mark.filterwarnings("ignore:the guesses have not come to rest")
@pytest.mark.parametrize("name", ["impute-wine-30", "impute-diabetes-5"])
def test_every_filler_leaves_no_hole_and_keeps_what_was_there(name):
    experiment = EXPERIMENTS[name]
    X, y = experiment._load(60)
    holes = forest.knocked_out(X[:, :4], experiment.share, seed=0)
    there = ~np.isnan(holes)
    fillers = forest._fillers(experiment.task, Options(quick=True, jobs=1))
    assert len(fillers) == 6
    for fill in fillers.values():
        filled = np.asarray(fill(holes, y))
        assert np.isfinite(filled).all()
        assert np.array_equal(filled[there], holes[there])


# ---------------------------------------------------------------------- the command
@pytest.mark.slow
def test_command_writes_the_imputation_beside_the_cases(tmp_path, capsys, monkeypatch):
    quicker = replace(EXPERIMENTS["impute-wine-30"], quick_rows=60)
    few = {"impute-wine-30": quicker, "iris": EXPERIMENTS["iris"]}
    monkeypatch.setattr(forest, "experiments", lambda jobs: few)
    asked = "forest --quick --repeat 1 --jobs 1 --case iris impute-wine-30 --out"
    assert main([*asked.split(), str(tmp_path)]) == 0
    text = (tmp_path / "forest-part-quick.json").read_text(encoding="utf-8")
    filling, iris = json.loads(text)["cases"]
    assert iris["measurements"][0]["facts"]["model kB"] >= 1
    assert filling["score_name"] == "RMSE in standard deviations"
    assert [m["contender"] for m in filling["measurements"]] == [
        forest.OURS,
        forest.OURS_UNLABELLED,
        forest.MEDIAN,
        forest.KNN,
        forest.ITERATIVE,
        forest.MISS_FOREST,
    ]
    assert all(0.2 < m["score"] < 2 for m in filling["measurements"])
    printed = capsys.readouterr().out
    assert "wine, 30% missing" in printed
    assert "KNNImputer" in printed
