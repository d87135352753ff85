"""to_rules on the trees of ID3 and C4.5: one branch per category, groups of them, missing values."""

import numpy as np
import pandas as pd
import pytest

from arboretum import C45Classifier, ID3Classifier, to_rules
from arboretum.explain.conditions import RuleCondition
from arboretum.structure.tree import GROUPS, MULTIWAY
from tests.explain.explain_helpers import by_hand, categorical, leaf, split

A, B = leaf(3, 1), leaf(0, 2)


def weather():
    outlook = ["sunny"] * 5 + ["overcast"] * 4 + ["rain"] * 5
    humidity = "high high high normal normal high normal high normal high normal normal high high"
    windy = "no yes no no yes no yes yes no no no yes no yes"
    play = "no no no yes yes yes yes yes yes yes yes no yes no"
    table = {"outlook": outlook, "humidity": humidity.split(), "windy": windy.split()}
    return pd.DataFrame(table), np.array(play.split())


def mixed(seed, n=400, gaps=0.15):
    """A table of words and numbers; a gap is None or NaN."""
    rng = np.random.default_rng(seed)
    city = rng.choice(list("ABCDEFGH"), n)
    size = rng.choice(["S", "M", "L"], n)
    x = rng.normal(size=n).round(1)
    y = (
        x / 2 + 2.0 * np.isin(city, list("ACF")) - 2 * (size == "S") + rng.normal(size=n) / 2 > 0
    ) * 1
    frame = pd.DataFrame({"city": city, "size": size, "x": x}).astype({"city": object})
    for name in frame:
        frame.loc[rng.random(n) < gaps, name] = np.nan if name == "x" else None
    return frame, np.array(["no", "yes"])[y]


def kinds(model):
    return set(model.tree_.kind.tolist())


# ---------------------------------------------------------------------- the words
@pytest.mark.parametrize("estimator", [C45Classifier(pruning=None), ID3Classifier()])
def test_rules_of_play_tennis(estimator):
    rules = to_rules(estimator.fit(*weather()))
    assert sorted(str(rule) for rule in rules) == [
        "IF outlook = overcast THEN class yes (4 rows, 100.0 %)",
        "IF outlook = rain AND windy = no THEN class yes (3 rows, 100.0 %)",
        "IF outlook = rain AND windy = yes THEN class no (2 rows, 100.0 %)",
        "IF outlook = sunny AND humidity = high THEN class no (3 rows, 100.0 %)",
        "IF outlook = sunny AND humidity = normal THEN class yes (2 rows, 100.0 %)",
    ]
    assert "missing" not in str(rules)  # training missed nothing


def test_a_branch_for_missing_values_is_a_rule():
    column = categorical("c", ["x", "y"], has_missing=True)
    tree = split(0, A, B, leaf(1, 4), missing=2)
    rules = to_rules(by_hand(tree, [column], ["no", "yes"]))
    assert [rule.pretty().split(" THEN ")[0] for rule in rules] == [
        "IF c = x",
        "IF c = y",
        "IF c is missing",
    ]
    condition = rules[2].conditions[0]
    assert condition.codes == frozenset()
    assert condition.accepts(np.array([0.0, 1.0, np.nan])).tolist() == [False, False, True]
    assert rules.predict(pd.DataFrame({"c": ["x", None, "y"]})).tolist() == ["no", "yes", "yes"]


def test_a_gap_in_training_gives_id3_a_branch():
    X, y = weather()
    X.loc[[5, 12], "outlook"] = None
    model = ID3Classifier().fit(X, y)
    rules = to_rules(model)
    assert any("outlook is missing" in str(rule) for rule in rules)
    assert "no rule" not in str(rules)
    assert np.array_equal(rules.predict(X), model.predict(X))
    assert (rules.apply(X) >= 0).all()


def test_groups_of_categories_are_named():
    X, y = mixed(1, gaps=0.0)
    model = C45Classifier(subset=True, pruning=None).fit(X, y)
    assert GROUPS in kinds(model)
    rules = to_rules(model)
    node = int(np.flatnonzero(model.tree_.kind == GROUPS)[0])
    feature = int(model.tree_.feature[node])
    column = model.tree_.column(feature)
    known = RuleCondition(feature, column.name, column)
    parts = [known.narrow(model.tree_, node, k) for k in range(model.tree_.n_children[node])]
    codes = [code for part in parts for code in part.codes]
    assert sorted(codes) == list(range(len(column.categories)))  # each in one group
    for k, part in enumerate(parts):
        said = model.tree_.condition(node, k).values
        assert {column.categories[code] for code in part.codes} == set(said)
    for rule in rules:  # asked twice, the sets of a path are one condition
        assert len({c.feature for c in rule.conditions}) == len(rule.conditions)


# ---------------------------------------------------------------------- rules are the tree
MODELS = [
    C45Classifier(),
    C45Classifier(pruning=None),
    C45Classifier(subset=True, pruning=None),
    C45Classifier(laplace=True, min_cases=5),
    ID3Classifier(discretize="quantile"),
    ID3Classifier(discretize="mdl", max_depth=2),
]


@pytest.mark.parametrize("estimator", MODELS, ids=str)
@pytest.mark.parametrize("gaps", [0.0, 0.15])
def test_rules_answer_as_the_model_does(estimator, gaps):
    X, y = mixed(3, gaps=gaps)
    model = estimator.fit(X, y)
    rules = to_rules(model)
    assert kinds(model) & {MULTIWAY, GROUPS}
    fresh, _ = mixed(4, gaps=0.2)
    for table in (X, fresh):
        assert np.array_equal(rules.predict(table), model.predict(table))
    whole = X.dropna()
    found = rules.apply(whole)
    assert (found >= 0).all()
    leaves = np.array([rule.leaf for rule in rules])
    assert np.array_equal(leaves[found], model.apply(whole))


def test_a_row_that_no_rule_covers_is_told_and_answered():
    X, y = mixed(5)
    model = C45Classifier(pruning=None).fit(X, y)
    rules = to_rules(model)
    nothing = pd.DataFrame({"city": [None] * 3, "size": [None] * 3, "x": [np.nan] * 3})
    assert rules.apply(nothing).tolist() == [-1, -1, -1]
    assert np.array_equal(rules.predict(nothing), model.predict(nothing))
    assert str(rules).endswith("may satisfy no rule; the model still predicts it)")
    of_tree = to_rules(model.tree_)
    assert np.array_equal(model.classes_[of_tree.predict(nothing)], model.predict(nothing))


def test_rules_stay_as_they_are_when_the_model_is_fitted_anew():
    X, y = mixed(6)
    model = C45Classifier().fit(X, y)
    rules, before = to_rules(model), model.predict(X)
    model.fit(X[["x"]], y)
    assert np.array_equal(rules.predict(X), before)
