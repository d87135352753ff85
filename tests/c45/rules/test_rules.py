"""C45Rules: the engine makes the rules of the textbook, answers by them, and keeps them in files."""

import io
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboretum import C45Classifier, C45Rules, DataError, ModelFileError, ParameterError, load
from arboretum.c45.pruning import Pessimism
from arboretum.c45.rules import choosing, generalising
from arboretum.c45.rules.choosing import choose
from arboretum.c45.rules.rule import Coverage, RuleTest, first_firing
from arboretum.c45.rules.ruleset import drop_harmful, rules_of
from arboretum.io.container import read, write
from arboretum.textbook import c45_rule_list as book
from arboretum.textbook.id3 import gather_cases
from tests.c45.c45_walk import Problem, engine_tree, textbook_tree
from tests.c45.j48_facts import FACTS, frame_of

NAN = np.nan


def saved(model) -> bytes:
    buffer = io.BytesIO()
    model.save(buffer)
    return buffer.getvalue()


def mixed(seed=0, n=300, gaps=0.1):
    """A table of words, ranks and numbers with gaps, and three classes."""
    rng = np.random.default_rng(seed)
    city = rng.choice(list("ABCDE"), n)
    size = rng.integers(0, 3, n)
    x, z = rng.normal(size=(2, n)).round(2)
    score = x + np.isin(city, ["A", "D"]) + 0.5 * size + 0.4 * rng.normal(size=n)
    y = np.array(["low", "mid", "top"])[np.digitize(score, [0.4, 1.4])]
    words = pd.Categorical.from_codes(size, ["S", "M", "L"], ordered=True)
    frame = pd.DataFrame({"city": city, "size": words, "x": x, "z": z})
    for name in frame:
        frame.loc[rng.random(n) < gaps, name] = None
    return frame, y


# ---------------------------------------------------------------------- as in the textbook
def plain(test):
    value = test.bound
    if test.operator == "=":
        value = float(test.codes[0])
    elif test.operator == "in":
        value = frozenset(test.codes)
    return (test.feature, test.operator, value)


def check_against_textbook(problem, theory_weight=0.5, confidence=0.25, limit="quinlan"):
    problem.options.update(pruning=None)
    ours = rules_of(
        engine_tree(problem),
        problem.table(),
        Pessimism(limit, confidence),
        theory_weight=theory_weight,
    )
    theirs = book.c45_rules(textbook_tree(problem), confidence, limit, theory_weight)
    assert [[plain(t) for t in rule.tests] for rule in ours.rules] == [
        [(c.feature, c.operator, c.value) for c in rule.conditions] for rule in theirs.rules
    ]
    assert [r.answer for r in ours.rules] == [r.answer for r in theirs.rules]
    assert_allclose([r.rate for r in ours.rules], [r.rate for r in theirs.rules], atol=1e-9)
    if ours.rules:
        assert_allclose([r.counts for r in ours.rules], [r.counts for r in theirs.rules], atol=1e-9)
    assert_allclose(ours.uncovered, theirs.default_counts, atol=1e-9)
    lengths = {choice.answer: choice.length for choice in theirs.choices if choice.candidates}
    assert ours.lengths.keys() == lengths.keys()
    assert_allclose(list(ours.lengths.values()), list(lengths.values()), atol=1e-7)
    return ours, theirs


def made(seed, n=110, n_values=(0, 4, 0, 3), gaps=0.1, weighted=False, n_classes=3, **options):
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, v or 9, n).astype(float) for v in n_values]
    X = np.column_stack(columns)
    score = X[:, 0] / 3 + (X[:, 1] == 1) * 2 + rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    X[rng.random(X.shape) < gaps] = NAN
    w = rng.integers(1, 8, n) / 4 if weighted else None
    return Problem(X, y, n_values, w, n_classes, options)


CASES = [
    {},
    {"gaps": 0.0, "n_classes": 2},
    {"weighted": True},
    {"subset": True, "n_values": (0, 7, 5, 2)},
    {"n_values": (0, 0, 0, 0), "n_classes": 2, "collapse": False},
    {"n_values": (6, 5, 4, 3), "gaps": 0.25},
    {"min_cases": 1, "gaps": 0.0, "n": 60},
    {"criterion": "gain", "n_classes": 4},
]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_rules_are_those_of_the_textbook(case, seed):
    ours, _ = check_against_textbook(made(seed, **case))
    assert ours.rules


@pytest.mark.parametrize("limit", ["quinlan", "weka", "binomial"])
@pytest.mark.parametrize("confidence", [0.05, 0.5])
def test_other_estimates(limit, confidence):
    check_against_textbook(made(1, gaps=0.05), 1.0, confidence, limit)


@pytest.mark.parametrize("seed", range(3))
def test_climbing_is_that_of_the_textbook(seed, monkeypatch):
    for module in (choosing, book):
        monkeypatch.setattr(module, "MOST_TRIED", 2)
    problem = made(seed, n=160, n_classes=2, n_values=(0, 4, 0, 0), collapse=False)
    _, theirs = check_against_textbook(problem)
    assert max(len(choice.candidates) for choice in theirs.choices) > 5
    check_against_textbook(problem, theory_weight=0.0)


@pytest.mark.parametrize("seed", range(4))
def test_choosing_among_many_rules(seed):
    """Rules that no tree would make, with weights: both searches end at the same length."""
    rng = np.random.default_rng(seed)
    cases = gather_cases(
        rng.normal(size=(150, 4)), rng.integers(0, 2, 150), rng.random(150) + 0.1, None
    )
    rules = [
        book.TextbookRule((book.RuleCondition(int(f), ">", float(t)),), 1, (1.0, 2.0), 0.2)
        for f, t in zip(rng.integers(0, 4, 30), rng.normal(size=30))
    ]
    masks = [rule.covers(cases.X) & (rng.random(150) < 0.3) for rule in rules]
    bits = rng.random(30) * 3
    cover = Coverage(masks, 150, 30)
    chosen, length = choose(cover, cases.y == 1, cases.w, bits, 0.5)
    covered = np.any([masks[j] for j in chosen], axis=0) if len(chosen) else np.zeros(150, bool)
    theory = bits[chosen].sum() - book.log2_factorial(len(chosen))
    exceptions = book.exception_bits(covered, cases.y == 1, cases.w)
    assert length == pytest.approx(0.5 * theory + exceptions)
    for j in range(30):  # no single change helps
        other = sorted({*chosen.tolist()} ^ {j})
        covered = np.any([masks[i] for i in other], axis=0) if other else np.zeros(150, bool)
        theory = bits[other].sum() - book.log2_factorial(len(other))
        other_length = 0.5 * theory + book.exception_bits(covered, cases.y == 1, cases.w)
        assert other_length >= length - 1e-7


def test_harmful_rules_go_one_by_one():
    rng = np.random.default_rng(7)
    label, weight = rng.integers(0, 3, 200), rng.integers(1, 5, 200) / 2
    masks = [rng.random(200) < 0.2 for _ in range(20)]
    answers = rng.integers(0, 3, 20)
    prior = np.bincount(label, weight) / weight.sum()
    kept, uncovered = drop_harmful(Coverage(masks, 200, 20), answers, label, weight, prior)
    assert 0 < len(kept) < 20

    def errors(rules, default):
        answer = np.full(200, default)
        for j in reversed(rules):
            answer[masks[j]] = answers[j]
        return weight[answer != label].sum()

    none = ~np.any([masks[j] for j in kept], axis=0)
    assert_allclose(uncovered, np.bincount(label[none], weight[none], minlength=3))
    default = int(np.argmax(uncovered + prior))
    now = errors(kept.tolist(), default)
    for j in kept:
        assert errors([k for k in kept if k != j], default) >= now - 1e-9


# ---------------------------------------------------------------------- known results
def test_play_tennis():
    frame, codes = frame_of("weather-nominal")
    y = np.array(FACTS["weather-nominal"]["classes"])[codes]
    model = C45Rules().fit(frame, y)
    text = model.to_text()
    for rule in (
        ": outlook = overcast\n    -> yes   [4 covered, 0 wrong, estimated accuracy 70.7 %]\n",
        ": outlook = sunny and humidity = high\n    -> no   [3 covered, 0 wrong, ",
        ": outlook = rainy and windy = TRUE\n    -> no   [2 covered, 0 wrong, estimated accuracy 50.0",
    ):
        assert rule in text
    assert text.endswith("\nDefault: yes")
    assert text.startswith("Rule 1: ")
    assert_array_equal(model.predict(frame), y)


def test_golf_as_in_the_book():
    frame, codes = frame_of("weather-numeric")
    y = np.array(FACTS["weather-numeric"]["classes"])[codes]
    model = C45Rules().fit(frame, y)
    said = {tuple(map(str, r.conditions)): (r.prediction, r.accuracy) for r in model.rules_}
    assert {k: (p, round(100 * a, 1)) for k, (p, a) in said.items()} == {
        ("outlook = overcast",): ("yes", 70.7),
        ("outlook = rainy", "windy = FALSE"): ("yes", 63.0),
        ("outlook = sunny", "humidity > 75"): ("no", 63.0),
        ("outlook = rainy", "windy = TRUE"): ("no", 50.0),
    }
    assert model.default_ == "yes"
    assert model.default_counts_.tolist() == [0.0, 2.0]


SETS = [
    "breast-cancer", "contact-lenses", "credit-g", "diabetes", "glass", "ionosphere", "iris", "labor",
    "made-clinic", "made-noise", "segment-challenge", "soybean", "vote", "wdbc", "wine",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*unseen at fit")
@pytest.mark.parametrize("name", SETS)
def test_rules_are_few_and_about_as_right_as_the_tree(name):
    X, y = frame_of(name)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    scores = [
        cross_val_score(model, X, y, cv=folds, error_score="raise").mean()
        for model in (C45Rules(), C45Classifier())
    ]
    assert scores[0] > scores[1] - max(0.045, 4 / len(y)), scores
    rules, tree = C45Rules().fit(X, y), C45Classifier(pruning=None).fit(X, y)
    assert 0 < len(rules.rules_) <= tree.get_n_leaves()


# ---------------------------------------------------------------------- answering
@pytest.mark.parametrize("seed", range(3))
def test_answers_follow_from_the_rules(seed):
    X, y = mixed(seed)
    model = C45Rules(subset=seed == 1).fit(X, y)
    fresh, _ = mixed(seed + 10, gaps=0.3)
    fired, proba = model.apply(fresh), model.predict_proba(fresh)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert (proba > 0).all()
    assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(fresh))
    encoded = model._encode(fresh)
    for row in range(60):
        hits = [
            all(t.holds(encoded.column(t.feature)[row : row + 1])[0] for t in rule.tests)
            for rule in model.rules_
        ]
        assert fired[row] == (hits.index(True) if any(hits) else -1)
    for j, rule in enumerate(model.rules_):
        expected = (np.array(rule.counts) + model.class_prior_) / (rule.weight + 1)
        assert_allclose(proba[fired == j], np.tile(expected, (np.sum(fired == j), 1)))
        assert rule.errors == pytest.approx(rule.weight - rule.counts[rule.answer])
    assert_allclose(np.exp(model.predict_log_proba(fresh)), proba)


def test_what_a_rule_says_of_the_training_rows():
    X, y = mixed(4)
    model = C45Rules().fit(X, y)
    encoded = model._encode(X)
    for rule in model.rules_:
        covered = np.all([t.holds(encoded.column(t.feature)) for t in rule.tests], axis=0)
        assert rule.weight == covered.sum()
        assert rule.errors == np.sum(y[covered] != rule.prediction)
        assert 0.3 < rule.accuracy < 1
        assert len(rule.conditions) == len(rule.tests) > 0
    none = model.apply(X) < 0
    assert_allclose(model.default_counts_, [np.sum(y[none] == c) for c in model.classes_])


def test_a_row_of_gaps_gets_the_default():
    X, y = mixed(5)
    model = C45Rules().fit(X, y)
    nothing = pd.DataFrame({"city": [None], "size": [None], "x": [NAN], "z": [NAN]})
    assert model.apply(nothing).tolist() == [-1]
    assert model.predict(nothing).tolist() == [model.default_]


def test_words_dates_and_ranks_in_conditions():
    rng = np.random.default_rng(0)
    size = pd.Categorical.from_codes(rng.integers(0, 4, 200), ["S", "M", "L", "XL"], ordered=True)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 200), unit="D")
    y = (size.codes >= 2) | (day >= "2024-07-01")
    text = C45Rules().fit(pd.DataFrame({"size": size, "day": day}), y).to_text()
    assert "size > M" in text
    assert "day > 2024-06-27" in text


def test_weights_and_class_weights_are_cases():
    X, y = mixed(6, n=120)
    w = np.random.default_rng(0).integers(0, 4, 120)
    again = np.repeat(np.arange(120), w)
    a = C45Rules().fit(X, y, w)
    b = C45Rules().fit(X.iloc[again], y[again])
    assert a.to_text() == b.to_text()
    double = dict.fromkeys(np.unique(y), 2.0)
    assert (
        C45Rules(class_weight=double).fit(X, y).rules_
        == C45Rules().fit(X, y, 2 * np.ones(120)).rules_
    )
    heavy = C45Rules(class_weight={"low": 1, "mid": 50, "top": 1}).fit(X, y)
    assert np.mean(heavy.predict(X) == "mid") > np.mean(C45Rules().fit(X, y).predict(X) == "mid")


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_nothing(n_jobs):
    X, y = mixed(7, n=17_000, gaps=0.02)
    one = C45Rules(n_jobs=1, min_cases=60).fit(X, y)
    assert C45Rules(n_jobs=n_jobs, min_cases=60).fit(X, y).rules_ == one.rules_


def test_only_the_heaviest_leaves_of_a_huge_tree(monkeypatch):
    X, y = mixed(8)
    monkeypatch.setattr(generalising, "MOST_WORK", 5 * len(y))
    tree = C45Classifier(pruning=None).fit(X, y).tree_
    ways = generalising.paths(tree, 5)
    assert len(ways) == 5
    heaviest = np.sort(tree.weight[tree.leaves])[-5:]
    assert heaviest[0] > np.median(tree.weight[tree.leaves])
    model = C45Rules().fit(X, y)
    assert 0 < len(model.rules_) <= 5


def test_numbers_words_files_and_sparse_tables(tmp_path):
    from scipy.sparse import csr_matrix

    X = np.random.default_rng(0).integers(0, 4, size=(120, 3)).astype(float)
    y = np.where(X[:, 0] > 1, "b", "a")
    dense = C45Rules().fit(X, y)
    assert C45Rules().fit(csr_matrix(X), y).rules_ == dense.rules_
    pd.DataFrame(X, columns=["p", "q", "r"]).to_csv(tmp_path / "x.csv", index=False)
    of_file = C45Rules().fit(tmp_path / "x.csv", y)
    assert [r.tests for r in of_file.rules_] == [r.tests for r in dense.rules_]
    assert of_file.rules_[0].conditions[0].name == "p"
    as_words = C45Rules(categorical_features=[0]).fit(X, y)
    assert {t.operator for r in as_words.rules_ for t in r.tests if t.feature == 0} == {"="}


# ---------------------------------------------------------------------- corners and bad input
CORNERS = [
    ("one class", [[1.0], [2.0]], ["a", "a"], None, "Default: a"),
    ("one row", [[1.0]], ["b"], None, "Default: b"),
    ("nothing to ask", [[1.0], [1.0], [1.0]], ["a", "b", "b"], None, "Default: b"),
    ("all missing", [[NAN], [NAN], [NAN]], ["a", "b", "b"], None, "Default: b"),
    ("weights decide", [[1.0], [1.0], [1.0]], ["a", "b", "b"], [5, 1, 1], "Default: a"),
]


@pytest.mark.parametrize(("why", "X", "y", "w", "text"), CORNERS, ids=lambda c: str(c)[:15])
def test_tables_without_rules(why, X, y, w, text):
    model = C45Rules().fit(X, y, w)
    assert model.rules_ == []
    assert model.to_text() == text
    assert model.apply(X).tolist() == [-1] * len(y)
    again = load(saved(model))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


BAD_PARAMETERS = [
    (
        {"confidence": 0.0},
        "'confidence' parameter of C45Rules must be a number in (0, 0.5], got 0.0",
    ),
    ({"confidence": 0.6}, "confidence"),
    ({"min_cases": 0}, "'min_cases' parameter of C45Rules must be a number > 0"),
    ({"criterion": "gini"}, "'criterion' parameter of C45Rules must be 'gain_ratio' or 'gain'"),
    ({"subset": "yes"}, "'subset' parameter of C45Rules must be True or False"),
    ({"max_depth": 0}, "max_depth"),
    ({"collapse": None}, "collapse"),
    ({"error_limit": "exact"}, "error_limit"),
    ({"theory_weight": -1}, "'theory_weight' parameter of C45Rules must be a number ≥ 0, got -1"),
    ({"class_weight": "even"}, "class_weight"),
    ({"unseen": "drop"}, "unseen"),
    ({"n_jobs": 0}, "n_jobs"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS, ids=str)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError) as error:
        C45Rules(**parameters).fit([[1.0], [2.0]], [0, 1])
    assert message in str(error.value)


def test_unknown_parameters_are_refused_at_once():
    with pytest.raises(ParameterError, match="did you mean 'confidence'"):
        C45Rules(confidance=0.1)
    with pytest.raises(ParameterError, match="C45Rules has no parameter 'pruning'"):
        C45Rules(pruning="error")


BAD_DATA = [
    ([[1.0], [2.0]], [[0, 1], [1, 0]], None, "C45Rules predicts one target, but y has 2 columns"),
    ([[1.0], [2.0]], [0, 1], [0, 0], "weight"),
    ([[1.0], [2.0]], [0, 1], [1, -1], "weight"),
    ([[1.0], [2.0]], [0, 1, 1], None, "3"),
    ([[1.0], [np.inf]], [0, None], None, "y"),
]


@pytest.mark.parametrize(("X", "y", "w", "message"), BAD_DATA)
def test_bad_data(X, y, w, message):
    with pytest.raises(DataError, match=message):
        C45Rules().fit(X, y, w)


def test_a_failed_fit_leaves_the_last_model_whole():
    X, y = mixed(0)
    model = C45Rules().fit(X, y)
    before = model.to_text(), model.predict(X).tolist(), saved(model)
    with pytest.raises(DataError):
        model.fit([[1.0], [2.0]], [0, 1], [0, 0])
    assert (model.to_text(), model.predict(X).tolist(), saved(model)) == before


def test_what_only_trees_have():
    model = C45Rules().fit(*mixed(0))
    for name in ("get_depth", "get_n_leaves", "decision_path", "feature_importances_", "tree_"):
        assert not hasattr(model, name)
    with pytest.raises(
        AttributeError, match="C45Rules has no get_depth: it keeps rules_ and no tree"
    ):
        model.get_depth()


def test_new_categories():
    X, y = mixed(0)
    fresh = X.iloc[:4].assign(city=["A", "Z", "B", "Y"])
    with pytest.raises(DataError, match="city"):
        C45Rules(unseen="error").fit(X, y).predict(fresh)
    model = C45Rules().fit(X, y)
    with pytest.warns(UserWarning, match="city"):
        answers = model.predict(fresh)
    gaps = fresh.assign(city=["A", None, "B", None])
    assert_array_equal(answers, model.predict(gaps))


# ---------------------------------------------------------------------- keeping
@pytest.mark.parametrize("parameters", [{}, {"subset": True}, {"class_weight": {"low": 2.5}}])
def test_files_and_copies(parameters):
    X, y = mixed(9)
    model = C45Rules(**parameters).fit(X, y)
    fresh, _ = mixed(10, gaps=0.2)
    for again in (load(saved(model)), pickle.loads(pickle.dumps(model))):
        assert again.rules_ == model.rules_
        assert again.to_text() == model.to_text()
        assert_array_equal(again.predict_proba(fresh), model.predict_proba(fresh))
        assert again.get_params() == model.get_params()
        assert again.n_samples_fit_ == 300
        assert saved(again) == saved(model)
    assert clone(model).fit(X, y).rules_ == model.rules_


def test_rules_that_cover_every_row_can_be_loaded_again():
    model = C45Rules().fit(*load_iris(return_X_y=True))
    assert model.default_counts_.dtype == np.float64
    again = load(saved(model))
    assert again.to_text() == model.to_text()
    state = read(saved(model))
    state["state"]["default_counts"] = np.zeros(3, np.int64)  # as version 0.1 wrote them
    old = io.BytesIO()
    write(old, state)
    assert saved(load(old.getvalue())) == saved(model)


def change(name, value):
    def edit(state):
        state["rules"][name] = value(state["rules"][name].copy())

    return edit


def put(index, value):
    def edit(array):
        array[index] = value
        return array

    return edit


DAMAGE = [
    ("start", change("start", put(1, 10**6)), "tests are not shared out"),
    ("start falls", change("start", put(1, -1)), "tests are not shared out"),
    ("short start", change("start", lambda a: a[:-1]), "tests are not shared out"),
    ("feature", change("feature", put(0, 99)), "names no column"),
    ("feature type", change("feature", lambda a: a.astype(float)), "'feature' is not"),
    ("operator", change("operator", put(0, 9)), "unknown kind"),
    ("operator length", change("operator", lambda a: a[1:]), "'operator' has another length"),
    ("bound", change("bound", lambda a: a + np.nan), "test 0 "),
    ("codes", change("codes", lambda a: a + 50), "names no category"),
    ("code_start", change("code_start", put(-1, 0)), "categories are not shared out"),
    ("answer", change("answer", put(0, 3)), "answers no class"),
    ("another answer", change("answer", lambda a: (a + 1) % 3), "does not answer the class"),
    ("accuracy", change("accuracy", put(0, 1.5)), "accuracy is outside"),
    ("accuracy nan", change("accuracy", put(0, np.nan)), "accuracy is outside"),
    ("counts", change("counts", put((0, 0), -1.0)), "a count is not a number"),
    ("counts shape", change("counts", lambda a: a[:, :2].copy()), "counts do not fit"),
    ("no rules", lambda s: s.pop("rules"), "KeyError"),
    ("rules are text", lambda s: s.update(rules="none"), "an array is missing or odd"),
    ("extra", lambda s: s["rules"].update(more=np.zeros(1)), "an array is missing or odd"),
    ("prior", lambda s: s.update(prior=np.array([1.0, -1, 1])), "shares of the classes"),
    ("default", lambda s: s.update(default_counts=np.zeros(2)), "default's counts"),
    ("rows", lambda s: s.update(n_samples=0), "n_samples must be an int"),
    ("classes", lambda s: s.update(classes={"$text": np.zeros((1, 1, 1), np.uint32)}), "classes"),
]


@pytest.mark.parametrize(("what", "edit", "message"), DAMAGE, ids=[d[0] for d in DAMAGE])
def test_a_damaged_file_is_a_model_file_error(what, edit, message):
    X, y = mixed(9)
    document = read(saved(C45Rules(subset=True).fit(X, y)))
    edit(document["state"])
    buffer = io.BytesIO()
    write(buffer, document)
    with pytest.raises(ModelFileError) as error:
        load(buffer.getvalue())
    assert message in str(error.value)


def test_a_rule_is_plain_python():
    rule = C45Rules().fit(*mixed(1)).rules_[0]
    json.dumps([rule.prediction, rule.weight, rule.errors, rule.accuracy, rule.counts])
    assert str(rule) == rule.pretty()
    assert rule.pretty(max_categories=1).count("->") == 1


def test_coverage_and_first_firing():
    rng = np.random.default_rng(0)
    masks = rng.random((21, 50)) < 0.3
    cover = Coverage(masks, 50, 21)
    assert_array_equal([cover.rule(j) for j in range(21)], masks)
    assert_array_equal(cover.rows(np.array([3, 40])), masks[:, [3, 40]].T)
    assert Coverage([], 4, 0).rows(np.arange(4)).shape == (4, 0)
    assert first_firing([], lambda f: None, 3).tolist() == [-1, -1, -1]
    assert first_firing([[]], lambda f: None, 2).tolist() == [0, 0]
    assert RuleTest(0, "=", codes=(1,)).holds(np.array([1.0, 0.0, NAN])).tolist() == [
        True,
        False,
        False,
    ]


# ---------------------------------------------------------------------- scikit-learn's contract
@parametrize_with_checks(
    [C45Rules(), C45Rules(subset=True, collapse=False, error_limit="binomial")]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
