"""One ensemble for all models of trees: every rule, every way of asking, every bit the same."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import C45Classifier, CARTClassifier, CARTRegressor
from arboretum.data.schema import encode
from arboretum.errors import DataError
from arboretum.predict import sum as asking
from arboretum.predict.additive import NoAdditiveForm
from arboretum.predict.engines import choose
from arboretum.predict.ensemble import Ensemble, weighted_median
from arboretum.predict.leaf_values import READINGS, read_leaves
from arboretum.predict.link import Link
from arboretum.predict.walk import leaves_of, paths_of, run_blocks

WORDS = np.array([f"word{k}" for k in range(40)], object)
COUNTING = ("value", "vote", "SAMME", "SAMME.R")  # readings of trees that answer for all classes


def frame_of(n: int, seed: int = 0) -> pd.DataFrame:
    """Return numbers and words, both with gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "age": rng.integers(0, 9, n).astype(float),
            "word": WORDS[rng.integers(0, 40, n)],
            "sort": WORDS[rng.integers(0, 3, n)],
        }
    )
    for name in frame:
        frame.loc[rng.random(n) < 0.15, name] = None
    return frame


def grown(make, targets, n=300):
    """Return a tree for each target, over one schema, and rows they have not seen."""
    frame, trees = frame_of(n), []
    for y in targets:
        model = make().fit(frame, y)
        trees.append(model.tree_)
    new = encode(model.schema_, frame_of(777, 1), unseen="missing", estimator_name="test")
    return trees, new


@pytest.fixture(scope="module")
def of_classes():
    """Nine trees of three classes."""
    rng = np.random.default_rng(3)
    return grown(
        lambda: CARTClassifier(max_depth=4, min_samples_leaf=3),
        [rng.integers(0, 3, 300) for _ in range(9)],
    )


@pytest.fixture(scope="module")
def of_outputs():
    """Six trees of two outputs, of two and of four classes."""
    rng = np.random.default_rng(4)
    return grown(
        lambda: CARTClassifier(max_depth=5),
        [np.column_stack([rng.integers(0, k, 300) for k in (2, 4)]) for _ in range(6)],
    )


@pytest.fixture(scope="module")
def of_numbers():
    """Twelve trees of one number."""
    rng = np.random.default_rng(5)
    return grown(lambda: CARTRegressor(max_depth=3), [rng.normal(size=300) for _ in range(12)])


def by_hand(model: Ensemble, matrix) -> np.ndarray:
    """Return the sums of an ensemble, one tree after the other."""
    total = np.empty((matrix.n_rows, model.base.size))
    total[:] = model.base.ravel()
    weights = model.weights / (model.n_rounds if model.averaged else 1)
    for t, tree in enumerate(model.trees):
        said = weights[t] * read_leaves(tree.value, model.reading)[leaves_of(tree, matrix)]
        first = t % model.per_round // model.n_parallel
        total[:, first : first + said.shape[1]] += said
    if model.rule == "mean":
        total /= model.weights.sum()
    return total.reshape(matrix.n_rows, *model.base.shape)


def ensembles(of_classes, of_outputs, of_numbers) -> dict[str, tuple[Ensemble, object]]:
    rng = np.random.default_rng(6)
    some = rng.random(12)
    trees, matrix = of_classes
    found = {
        f"classes, {reading}": (
            Ensemble(trees, some[:9], np.zeros(3), 1, "mean", reading, Link("softmax", 0.5)), matrix
        )
        for reading in COUNTING
    }  # fmt: skip
    found["one tree"] = Ensemble(trees[:1], np.ones(1), np.zeros((1, 3)), 1, "mean"), matrix
    trees, matrix = of_outputs
    for reading in ("value", "vote"):
        one = Ensemble(trees, np.ones(6), np.zeros((2, 4)), 1, "mean", reading)
        found[f"outputs, {reading}"] = one, matrix
    trees, matrix = of_numbers
    for outputs, parallel in ((1, 1), (1, 3), (3, 1), (2, 2)):
        base = rng.normal(size=outputs)
        for rule in ("sum", "average"):
            one = Ensemble(trees, some, base, parallel, rule, link=Link("logit"))
            found[f"numbers, {rule}, {outputs} × {parallel}"] = one, matrix
    return found


NAMES = [
    *(f"classes, {reading}" for reading in COUNTING),
    "one tree",
    "outputs, value",
    "outputs, vote",
    *(
        f"numbers, {rule}, {outputs} × {parallel}"
        for outputs, parallel in ((1, 1), (1, 3), (3, 1), (2, 2))
        for rule in ("sum", "average")
    ),
]


@pytest.fixture
def case(request, of_classes, of_outputs, of_numbers):
    return ensembles(of_classes, of_outputs, of_numbers)[request.param]


every_case = pytest.mark.parametrize("case", NAMES, indirect=True)


def fresh(model: Ensemble) -> Ensemble:
    """Return the same model without anything that was laid out."""
    return pickle.loads(pickle.dumps(model))


# ---------------------------------------------------------------------- sums
@every_case
def test_answers_are_the_sums_made_by_hand(case):
    model, matrix = case
    assert_allclose(model.answers(matrix), by_hand(model, matrix), rtol=1e-14, atol=1e-15)
    if model.rule != "average":  # the mean over rounds multiplies in another order
        assert_array_equal(model.answers(matrix), by_hand(model, matrix))


@every_case
def test_every_way_gives_the_same_bits(case, monkeypatch):
    model, matrix = case
    expected = fresh(model).answers(matrix)
    for rows in (1, 7, 8, 9, 513, 777):
        some = matrix.take(np.arange(rows))
        for engine in choose.ENGINES:
            with monkeypatch.context() as patch:
                patch.setattr(choose, "ENGINES", [engine])
                assert_array_equal(fresh(model).answers(some), expected[:rows])
        assert_array_equal(fresh(model).answers(some), expected[:rows])


@every_case
def test_threads_and_blocks_of_rows_change_nothing(case, monkeypatch):
    model, matrix = case
    expected = model.answers(matrix)
    monkeypatch.setattr("arboretum.predict.walk._SHARED_VALUES", 0)
    for values in (1 << 18, 4 * 100):  # the second: blocks of 100 rows
        monkeypatch.setattr("arboretum.predict.walk._BLOCK_VALUES", values)
        blocks = []
        run_blocks(lambda lo, hi, X, found=blocks: found.append((lo, hi)), matrix, 3)
        assert len(blocks) > 3
        for n_jobs in (1, 2, 3):
            assert_array_equal(fresh(model).answers(matrix, n_jobs), expected)
            assert_array_equal(model.leaves(matrix, n_jobs), model.leaves(matrix))
            for one, other in zip(model.staged(matrix, n_jobs), model.staged(matrix)):
                assert_array_equal(one, other)


def test_a_start_of_every_row_replaces_the_base(of_numbers):
    trees, matrix = of_numbers
    model = Ensemble(trees, np.full(12, 0.1), np.array([5.0, 7.0]))
    start = np.random.default_rng(0).normal(size=(777, 2))
    total = start.copy()
    for t, tree in enumerate(trees):
        total[:, t % 2] += 0.1 * tree.value[leaves_of(tree, matrix), 0, 0]
    assert_array_equal(model.answers(matrix, start=start), total)
    *_, last = model.staged(matrix, start=start)
    assert_array_equal(last, total)


def test_no_trees_answer_the_base():
    empty = Ensemble([], np.empty(0), np.array([1.0, 2.0]))
    _, matrix = grown(CARTRegressor, [np.arange(300.0)])
    assert_array_equal(empty.answers(matrix), np.tile([1.0, 2.0], (777, 1)))
    assert (empty.n_rounds, empty.per_round, list(empty.staged(matrix))) == (0, 2, [])
    assert_array_equal(empty.split_sums(4).count, np.zeros(4))


# ---------------------------------------------------------------------- rounds
@every_case
def test_staged_answers_are_those_of_the_first_rounds(case):
    model, matrix = case
    stages = list(model.staged(matrix))
    assert len(stages) == model.n_rounds
    for m in (0, model.n_rounds // 2, model.n_rounds - 1):
        part = model.rounds(0, m + 1)
        assert part.n_rounds == m + 1
        same = assert_allclose if model.averaged else assert_array_equal
        same(stages[m], part.answers(matrix), **({"rtol": 1e-12} if model.averaged else {}))


def test_stages_of_many_rows_are_made_in_parts(of_numbers, monkeypatch):
    trees, matrix = of_numbers
    model = Ensemble(trees, np.full(12, 0.3), np.zeros(3))
    expected = list(model.staged(matrix))
    monkeypatch.setattr(asking, "_LEAVES", 777 * 5)  # five trees at a time
    for one, other in zip(model.staged(matrix), expected, strict=True):
        assert_array_equal(one, other)


def test_some_rounds_are_kept_until_others_are_asked_for(of_numbers):
    trees, _ = of_numbers
    model = Ensemble(trees, np.ones(12), np.zeros(2), 2)
    assert model.rounds(1, 2) is model.rounds(1, 2)
    assert model.rounds(1, 2).trees == trees[4:8]
    assert model.rounds(0, None).n_rounds == 3
    assert [model.output_of(t) for t in range(8)] == [0, 0, 1, 1, 0, 0, 1, 1]


# ---------------------------------------------------------------------- median
def test_the_median_of_trees(of_numbers):
    trees, matrix = of_numbers
    weights = np.random.default_rng(1).random(12)
    model = Ensemble(trees, weights, np.zeros(1), 1, "median")
    said = np.column_stack([tree.value[leaves_of(tree, matrix), 0, 0] for tree in trees])
    expected = [
        np.sort(row)[np.searchsorted(np.cumsum(weights[np.argsort(row)]), weights.sum() / 2)]
        for row in said
    ]
    assert_array_equal(model.answers(matrix)[:, 0], expected)
    stages = list(model.staged(matrix))
    assert_array_equal(stages[-1], model.answers(matrix))
    assert_array_equal(stages[0][:, 0], said[:, 0])
    assert_array_equal(stages[5][:, 0], weighted_median(said[:, :6], weights[:6]))
    assert_array_equal(model.answers(matrix.take(np.arange(3)), 2)[:, 0], expected[:3])


def test_medians_are_sorted_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    answers, weights = rng.normal(size=(100, 7)), rng.random(7)
    expected = weighted_median(answers, weights)
    monkeypatch.setattr("arboretum.predict.ensemble._SORTED_NUMBERS", 50)
    assert_array_equal(weighted_median(answers, weights), expected)


# ---------------------------------------------------------------------- additive form
@every_case
def test_the_additive_form_sums_to_the_answers(case):
    model, matrix = case
    form, answers = model.additive(), model.answers(matrix).reshape(matrix.n_rows, -1)
    sums = form.sums(matrix)
    assert_allclose(sums, answers, rtol=1e-12, atol=1e-14)
    if model.rule != "mean":
        assert_array_equal(sums, answers)
    by_leaf = np.tile(form.start, (matrix.n_rows, 1))
    for tree, value, column in zip(model.trees, form.values, form.columns, strict=True):
        assert value.shape[1] in (1, form.n_outputs)
        by_leaf[:, column : column + value.shape[1]] += value[leaves_of(tree, matrix)]
    assert_array_equal(by_leaf, sums)
    assert_allclose(
        form.predict(matrix).reshape(matrix.n_rows, -1),
        model.predict(matrix).reshape(matrix.n_rows, -1), rtol=1e-12,
    )  # fmt: skip


def test_models_that_are_no_sums_say_so(of_numbers):
    median = Ensemble(of_numbers[0], np.ones(12), np.zeros(1), 1, "median")
    with pytest.raises(NoAdditiveForm, match=r"median.*GradientBoostingRegressor"):
        median.additive()
    frame = frame_of(200)
    tree = C45Classifier().fit(frame, np.arange(200) % 3).tree_
    assert tree.spreads
    with pytest.raises(DataError, match=r"several branches.*predict_proba"):
        Ensemble([tree], np.ones(1), np.zeros((1, 3)), 1, "mean").additive()


def test_parts_of_rows_are_asked_for_too():
    model = C45Classifier().fit(frame_of(200), np.arange(200) % 3)
    one = Ensemble([model.tree_], np.ones(1), np.zeros((1, 3)), 1, "mean")
    new = frame_of(150, 2)
    matrix = encode(model.schema_, new, unseen="missing", estimator_name="test")
    assert_array_equal(one.answers(matrix, 2)[:, 0], model.predict_proba(new))
    (stage,) = one.staged(matrix)
    assert_array_equal(stage, one.answers(matrix))


# ---------------------------------------------------------------------- leaves, paths, columns
@every_case
def test_leaves_and_paths(case):
    model, matrix = case
    leaves = model.leaves(matrix)
    assert leaves.dtype == np.int32
    for t, tree in enumerate(model.trees):
        assert_array_equal(leaves[:, t], leaves_of(tree, matrix))
    assert_array_equal(model.leaves(matrix.take(np.arange(5))), leaves[:5])
    paths, starts = model.paths(matrix)
    assert_array_equal(np.diff(starts), [len(tree) for tree in model.trees])
    last = model.trees[-1]
    assert (paths[:, starts[-2] :] != paths_of(last, matrix)).nnz == 0


def test_what_columns_bring(of_numbers):
    trees, _ = of_numbers
    model = Ensemble(trees, np.ones(12), np.zeros(1))
    found = model.split_sums(4)
    count, gain, cover = np.zeros(4), np.zeros(4), np.zeros(4)
    for tree in trees:
        for node in np.flatnonzero(tree.feature >= 0):
            count[tree.feature[node]] += 1
            gain[tree.feature[node]] += tree.gain[node]
            cover[tree.feature[node]] += tree.weight[node]
    assert_array_equal(found.count, count)
    assert_array_equal(found.gain, gain)
    assert_array_equal(found.cover, cover)
    shares = np.mean([tree.feature_importances() for tree in trees], axis=0)
    assert_allclose(model.mean_importances(4), shares)


# ---------------------------------------------------------------------- keeping
@every_case
def test_a_pickle_keeps_the_fields_only(case):
    model, matrix = case
    before = len(pickle.dumps(model))
    expected = model.answers(matrix)
    list(model.staged(matrix)), model.leaves(matrix), model.rounds(0, 1), model.additive()
    assert len(pickle.dumps(model)) == before
    again = fresh(model)
    assert vars(again).keys() == {
        "trees", "weights", "base", "n_parallel", "rule", "reading", "link"
    }  # fmt: skip
    assert_array_equal(again.answers(matrix), expected)


def test_every_reading_has_a_shape():
    value = np.array([[[0.2, 0.8]], [[1.0, 0.0]]])
    width = {reading: read_leaves(value, reading).shape[1] for reading in READINGS}
    assert width == {"value": 2, "vote": 2, "sign": 1, "SAMME": 2, "SAMME.R": 2}
    assert_array_equal(read_leaves(value, "sign").ravel(), [1.0, -1.0])
    assert_array_equal(read_leaves(value, "vote"), [[0.0, 1.0], [1.0, 0.0]])


def test_signs_are_one_output(of_classes):
    trees, matrix = of_classes
    model = Ensemble(trees, np.ones(9), np.zeros(1), reading="sign", link=Link("logit", 2.0))
    votes = sum(2.0 * (t.value[leaves_of(t, matrix), 0].argmax(axis=1) == 1) - 1 for t in trees)
    assert_array_equal(model.answers(matrix)[:, 0], votes)
    assert_allclose(model.predict(matrix)[:, 0], 1 / (1 + np.exp(-2 * votes)))
    assert_array_equal(replace(model, rule="mean").answers(matrix)[:, 0], votes / 9)
