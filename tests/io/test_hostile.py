"""Files that are whole and say nonsense: each is refused before anything is asked of the model.

Lengths and checksums are right (`rewritten` writes a proper container), so only the checks of the models
themselves stand between these numbers and the kernels.
"""

import io
import os

import numpy as np
import pytest

import arboretum as A
from arboretum.errors import ModelFileError
from arboretum.io.container import read, write
from arboretum.structure.tree import GROUPS, MULTIWAY, SUBSET

RNG = np.random.default_rng(0)
WORDS = np.array([["a", 1.0], ["b", 2.0], ["c", 1.5]] * 10, dtype=object)
NUMBERS = RNG.normal(size=(60, 3))
CODES = np.arange(60) % 3
TWO = np.column_stack([np.arange(60) % 2, CODES])


def rewritten(model, damage):
    """Return the file of a fitted model after ``damage(state)``."""
    file = io.BytesIO()
    model.save(file)
    document = read(file.getvalue())
    damage(document["state"])
    file = io.BytesIO()
    write(file, document)
    return file.getvalue()


def refused(model, damage, words):
    with pytest.raises(ModelFileError, match=words):
        A.load(rewritten(model, damage))


def c45(**how):
    return A.C45Classifier(min_cases=1, pruning=None, **how)


def roots(trees):
    """Yield the place of every root that splits, among the nodes and among the splits of all trees."""
    starts = np.cumsum([0, *trees["n_nodes"][:-1]])
    split = np.cumsum(trees["kind"] > 0) - 1
    yield from ((start, split[start]) for start in starts if trees["kind"][start])


def ask(trees, kind, words):
    """Let all roots ask for a category of column 0; ``words`` are the bits of each."""
    n_trees, n_splits = len(trees["n_nodes"]), len(trees["feature"])
    trees["bits_start"] = np.full(n_splits, -1)
    trees["bits"] = np.array(words * n_trees, np.uint32)
    trees["n_bits"] = np.full(n_trees, len(words))
    for node, split in roots(trees):
        trees["kind"][node], trees["threshold"][split], trees["feature"][split] = kind, np.nan, 0
        trees["bits_start"][split] = -1 if kind == MULTIWAY else 0


# ---------------------------------------------------------------------- questions
def test_a_c45_tree_with_a_question_of_cart():
    X = WORDS[[0, 1] * 10]

    def damage(state):
        ask(state["tree"], SUBSET, [0x7FFFFFFF])

    refused(c45().fit(X, [0, 1] * 10), damage, "splits that trees of this model do not have")


@pytest.mark.parametrize("make", [A.BaggingClassifier, A.AdaBoostClassifier])
def test_a_c45_member_with_a_question_of_cart(make):
    model = make(c45(), n_estimators=2, random_state=0).fit(WORDS[[0, 1] * 10], [0, 1] * 10)

    def damage(state):
        ask(state["estimators"][0]["state"]["tree"], SUBSET, [0x7FFFFFFF])

    refused(model, damage, "splits that trees of this model do not have")


@pytest.mark.parametrize("kind", [MULTIWAY, GROUPS])
@pytest.mark.parametrize("make", [A.CARTClassifier, A.RandomForestClassifier, A.XGBClassifier])
def test_a_tree_of_cart_with_a_question_of_c45(make, kind):
    X = WORDS[[0, 1] * 10]
    how = {"categorical_features": [0]} if make is A.XGBClassifier else {}
    how |= {} if make is A.CARTClassifier else {"n_estimators": 2, "random_state": 0}
    model = make(**how).fit(X, [0, 1] * 10)

    def damage(state):
        ask(state["tree"] if "tree" in state else state["trees"], kind, [0, 1])

    refused(model, damage, "splits that trees of this model do not have")


@pytest.mark.parametrize("make", [A.CARTRegressor, A.ExtraTreeRegressor, A.CARTClassifier])
def test_only_c45_sends_missing_values_everywhere(make):
    model = make(max_depth=2).fit(NUMBERS, CODES)

    def damage(state):
        goes = state["tree"]["missing_child"].astype(np.int8)
        goes[0] = -1
        state["tree"]["missing_child"] = goes

    refused(model, damage, "missing values down several branches")


# ---------------------------------------------------------------------- widths
@pytest.mark.parametrize("at", [0, 1])
def test_members_that_know_different_numbers_of_classes(at):
    model = A.BaggingClassifier(A.CARTClassifier(max_depth=1), 2, random_state=0)

    def damage(state):
        one = state["estimators"][at]["state"]
        one["tree"]["value"] = np.ones_like(one["tree"]["value"][:, :, :1])
        one["classes"] = [one["classes"][0][:1]]

    refused(model.fit(NUMBERS, CODES), damage, "disagree on outputs or classes")


def test_members_that_all_know_one_class_of_several():
    model = A.BaggingClassifier(A.CARTClassifier(max_depth=1), 3, random_state=0)

    def damage(state):
        for one in state["estimators"]:
            one["state"]["tree"]["value"] = np.ones_like(one["state"]["tree"]["value"][:, :, :1])
            one["state"]["classes"] = [one["state"]["classes"][0][:1]]

    refused(model.fit(NUMBERS, CODES), damage, "have 1 numbers per leaf, but it answers 3")


# ---------------------------------------------------------------------- shares and classes
SHARES = {
    "tree": (A.CARTClassifier(max_depth=2), NUMBERS, "tree"),
    "C4.5": (c45(), WORDS, "tree"),
    "forest": (A.RandomForestClassifier(2, random_state=0), NUMBERS, "trees"),
}


@pytest.mark.parametrize(("model", "X", "name"), SHARES.values(), ids=SHARES)
@pytest.mark.parametrize("share", [-7.0, 0.0, 0.9])
def test_numbers_that_are_no_shares(model, X, name, share):
    def damage(state):
        state[name]["value"][:] = share

    refused(model.fit(X, CODES[: len(X)]), damage, "not probabilities of its classes")


def test_branches_without_weight_to_spread_missing_values_by():
    X = WORDS.copy()
    X[::4, 0] = None

    def damage(state):
        state["tree"]["weight"] = np.zeros_like(state["tree"]["weight"])

    refused(c45().fit(X, CODES[: len(X)]), damage, "without weight to spread missing values by")


def test_rules_whose_class_shares_do_not_add_up():
    model = A.C45Rules().fit(WORDS, CODES[: len(WORDS)])

    def damage(state):
        state["prior"] = state["prior"] * 3

    refused(model, damage, "class shares do not add up to 1")


def test_a_share_of_a_class_that_the_output_does_not_have():
    model = A.CARTClassifier(max_depth=2).fit(NUMBERS, TWO)

    def damage(state):
        state["tree"]["value"][:, 0] = [0.0, 0.0, 1.0]  # output 0 has two classes

    refused(model, damage, "not probabilities of its classes")


@pytest.mark.parametrize("labels", [[5, 5, 5], [2, 1, 0], [0.0, np.nan, 1.0]])
@pytest.mark.parametrize(
    "model",
    [
        A.CARTClassifier(max_depth=1),
        c45(),
        A.C45Rules(),
        A.RandomForestClassifier(2),
        A.XGBClassifier(n_estimators=2),
        A.GradientBoostingClassifier(n_estimators=2),
        A.VotingClassifier([("a", A.CARTClassifier(max_depth=1))]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classes_are_different_and_in_order(model, labels):
    def damage(state):
        several = isinstance(state["classes"], list)
        state["classes"] = [np.array(labels)] if several else np.array(labels)

    refused(model.fit(NUMBERS, CODES), damage, "not different labels in their order|disagree")


@pytest.mark.parametrize("label", [np.nan, np.inf])
@pytest.mark.parametrize("model", [A.CARTClassifier(), A.XGBClassifier(n_estimators=2)])
def test_a_single_class_is_finite(model, label):
    def damage(state):
        several = isinstance(state["classes"], list)
        state["classes"] = [np.array([label])] if several else np.array([label])

    refused(model.fit(NUMBERS, np.zeros(60)), damage, "NaN or infinite")


# ---------------------------------------------------------------------- range of floats
def largest_leaf(state):
    state["trees"]["value"] = np.full_like(state["trees"]["value"], 1.7e308)


def largest_weight(state):
    state["trees"]["value"] = np.full_like(state["trees"]["value"], 1e10)
    state["weights"] = np.full_like(state["weights"], 1e300)


@pytest.mark.parametrize("damage", [largest_leaf, largest_weight])
@pytest.mark.parametrize("make", [A.XGBRegressor, A.LGBMRegressor])
def test_answers_beyond_the_range_of_floats(make, damage):
    refused(make(n_estimators=3).fit(NUMBERS, NUMBERS[:, 0]), damage, "beyond the range of floats")


@pytest.mark.parametrize("make", [A.XGBClassifier, A.LGBMClassifier])
def test_a_booster_of_one_class_is_sound_after_loading(make):
    model = make(n_estimators=3).fit(NUMBERS, np.full(60, 7))
    again = A.load(rewritten(model, lambda state: None))
    assert again.classes_.tolist() == [7]
    assert set(again.predict(NUMBERS)) == {7}
    assert np.array_equal(again.predict_proba(NUMBERS), np.ones((60, 1)))


# ---------------------------------------------------------------------- members
def test_models_that_know_other_classes_than_their_vote():
    model = A.VotingClassifier([("a", A.CARTClassifier(max_depth=1))]).fit(NUMBERS, CODES)

    def damage(state):
        state["classes"] = np.arange(7)

    refused(model, damage, "disagree with it on the classes")


def test_a_final_model_of_other_classes():
    models = [("a", A.CARTClassifier(max_depth=1))]
    model = A.StackingClassifier(models, A.CARTClassifier(max_depth=1), cv=2).fit(NUMBERS, CODES)

    def damage(state):
        state["final"]["state"]["classes"] = [np.array([3, 4, 5])]

    refused(model, damage, "does not predict its classes")


def test_threads_that_a_file_asks_for_are_limited():
    model = A.RandomForestClassifier(2, n_jobs=1000).fit(NUMBERS, CODES)
    assert A.load(rewritten(model, lambda state: None))._threads() <= 4 * (os.cpu_count() or 1) + 8
