"""One tree of a model: which one, under what title, and what its numbers mean."""

import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import arboretum
from arboretum import export_graphviz, export_text, plot_tree, to_rules
from arboretum.errors import ParameterError
from arboretum.explain.colors import node_colors
from arboretum.explain.labels import read_model
from arboretum.explain.pick_tree import pick_tree, trees_of

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FUNCTIONS = [export_text, export_graphviz, to_rules, plot_tree]

RNG = np.random.default_rng(0)
N = 120
X = pd.DataFrame(
    {
        "leaf length": RNG.normal(5, 2, N),
        "soil": RNG.choice(["clay", "loam", "sand"], N),
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.integers(1, 60, N)),
    }
)
SCORE = X["leaf length"] + 3 * (X["soil"] == "loam") + X["age"].fillna(30) / 20
THREE = np.array(["oak", "beech", "maple"])[np.digitize(SCORE, [6.0, 8.0])]
TWO = np.where(SCORE > 7, "alive", "dead")
NUMBER = SCORE.to_numpy()


def cart(depth=2):
    return arboretum.CARTClassifier(max_depth=depth)


MAKERS = {
    "cart": lambda: (cart(), THREE),
    "c45": lambda: (arboretum.C45Classifier(), THREE),
    "id3": lambda: (arboretum.ID3Classifier(discretize="quantile"), THREE),
    "forest": lambda: (arboretum.RandomForestClassifier(4, max_depth=2, random_state=0), THREE),
    "extra": lambda: (arboretum.ExtraTreesRegressor(4, max_depth=2, random_state=0), NUMBER),
    "bag": lambda: (arboretum.BaggingClassifier(cart(), n_estimators=4, random_state=0), THREE),
    "bag c45": lambda: (
        arboretum.BaggingClassifier(arboretum.C45Classifier(), n_estimators=4, random_state=0),
        THREE,
    ),
    "ada": lambda: (arboretum.AdaBoostClassifier(cart(), n_estimators=4), THREE),
    "ada number": lambda: (arboretum.AdaBoostRegressor(n_estimators=4, random_state=0), NUMBER),
    "gbm": lambda: (arboretum.GradientBoostingRegressor(n_estimators=4, max_depth=2), NUMBER),
    "gbm 3": lambda: (arboretum.GradientBoostingClassifier(n_estimators=4, max_depth=2), THREE),
    "xgb": lambda: (arboretum.XGBRegressor(n_estimators=4, max_depth=2), NUMBER),
    "xgb 2": lambda: (arboretum.XGBClassifier(n_estimators=4, max_depth=2), TWO),
    "xgb 3": lambda: (arboretum.XGBClassifier(n_estimators=4, max_depth=2), THREE),
    "xgb side by side": lambda: (
        arboretum.XGBClassifier(
            n_estimators=4, max_depth=2, num_parallel_tree=2, subsample=0.7, random_state=0
        ),
        THREE,
    ),
    "dart": lambda: (
        arboretum.XGBRegressor(n_estimators=4, booster="dart", rate_drop=0.9, random_state=0),
        NUMBER,
    ),
    "lgbm 3": lambda: (arboretum.LGBMClassifier(n_estimators=4, max_depth=2), THREE),
    "lgbm rf": lambda: (
        arboretum.LGBMRegressor(
            n_estimators=4, boosting_type="rf", bagging_freq=1, bagging_fraction=0.7
        ),
        NUMBER,
    ),
}
BOOSTED = [name for name in MAKERS if name.split()[0] in ("gbm", "xgb", "dart", "lgbm")]


@pytest.fixture(scope="module")
def fitted():
    """Every kind of model, each fitted when it is first asked for."""
    made = {}

    def get(name):
        if name not in made:
            model, y = MAKERS[name]()
            made[name] = model.fit(X, y)
        return made[name]

    return get


@pytest.mark.parametrize("name", list(MAKERS))
def test_all_four_show_every_tree_under_the_same_title(fitted, name):
    model = fitted(name)
    count = len(trees_of(model))
    for tree in (0, count - 1, -1):
        title = pick_tree(model, tree, "test").title
        assert title.startswith(f"tree {tree % count} of {count}") or (count == 1 and not title)
        assert export_text(model, tree=tree).startswith(f"{title}\n" if title else "|--- ")
        assert str(to_rules(model, tree=tree)).startswith(f"{title}\n" if title else "IF ")
        dot = export_graphviz(model, tree=tree)
        assert f'\nlabel="{title}' in dot if title else "labelloc=t" not in dot
        ax = plot_tree(model, tree=tree)
        assert ax.get_title() == title
        plt.close(ax.figure)
    assert export_text(model) == export_text(model, tree=0)


@pytest.mark.parametrize("name", list(MAKERS))
def test_rules_answer_as_the_tree_they_were_made_of(fitted, name):
    from arboretum.predict.walk import leaves_of

    model = fitted(name)
    rules = to_rules(model, tree=-1)
    tree = trees_of(model)[-1]
    found = rules.apply(X)
    leaf = np.array([rule.leaf for rule in rules])[found]
    sure = found >= 0  # C4.5 spreads rows that miss a value
    if not tree.spreads:
        assert sure.all()
        np.testing.assert_array_equal(leaf, leaves_of(tree, rules._encode(X), 1))
    if name in BOOSTED:
        np.testing.assert_array_equal(rules.predict(X)[sure], tree.value[leaf[sure], 0, 0])


def test_titles_name_round_class_and_place(fitted):
    def title(name, tree):
        return pick_tree(fitted(name), tree, "test").title

    assert title("xgb", 3) == "tree 3 of 4"
    assert title("xgb 2", 3) == "tree 3 of 4"
    for name in ("gbm 3", "xgb 3", "lgbm 3"):
        assert title(name, 7) == title(name, (2, 1)) == "tree 7 of 12: round 2, class maple"
        assert title(name, (2, "maple")) == title(name, [-2, -2]) == title(name, 7)
    pair = title("xgb side by side", (1, 1))
    assert pair == "tree 8 of 24: round 1, class maple, 1 of 2 side by side"
    assert title("xgb side by side", 9).endswith("class maple, 2 of 2 side by side")
    lone = arboretum.RandomForestClassifier(1, max_depth=1, random_state=0).fit(X, THREE)
    assert pick_tree(lone, 0, "test").title == "tree 0 of 1"
    weight = fitted("ada").estimator_weights_[1]
    assert title("ada", 1) == f"tree 1 of 4, estimator weight {weight:.3g}"


@pytest.mark.parametrize("name", BOOSTED)
def test_trees_of_boosters_have_no_classes_and_add_to_a_margin(fitted, name):
    model = fitted(name)
    labels = read_model(model, "test", tree=1)
    assert labels.classes is None
    assert "added to the margin" in labels.note
    assert "class:" not in export_text(model, tree=1)
    dot = export_graphviz(model, tree=1)
    assert "class =" not in dot
    assert "impurity" not in dot
    assert ("gain = " in dot, "cover = " in dot) == (labels.kind == "gradients",) * 2
    assert ("residual mse = " in dot) == (labels.kind == "residuals") == name.startswith("gbm")
    with pytest.raises(ParameterError, match="hold numbers, not classes"):
        export_text(model, class_names=["a", "b", "c"])


def test_the_note_says_how_much_of_a_value_is_added(fitted):
    def note(name):
        return pick_tree(fitted(name), 0, "test").note

    assert note("xgb") == "The value is added to the margin."
    assert note("xgb 2") == "The value is added to the margin of class dead."
    assert note("xgb 3") == "The value is added to the margin of class beech."
    assert note("gbm 3") == "0.1 times the value is added to the margin of class beech."
    assert note("lgbm rf") == "0.25 times the value is added to the margin."
    weight = fitted("dart").ensemble_.weights[0]
    assert weight < 1
    assert note("dart").startswith(f"{weight:.4g} times ")
    assert note("forest") == note("ada") == note("cart") == ""


@pytest.mark.parametrize("name", ["gbm 3", "xgb 3", "xgb", "lgbm rf", "dart"])
def test_what_the_trees_add_up_to_is_the_margin(fitted, name):
    """The numbers that are shown, counted as the note says, are the model."""
    model = fitted(name)
    total = 0.0
    for number in range(len(trees_of(model))):
        picked = pick_tree(model, number, "test")
        words = picked.note.split()
        weight = 1.0 if words[0] == "The" else float(words[0])
        if picked.title.endswith("maple") or "class" not in picked.title:
            total = total + weight * to_rules(model, tree=number).predict(X)
    if name == "gbm 3":
        margin = model.decision_function(X)[:, 1]
    elif name.startswith(("xgb", "dart")):
        margin = model.predict(X, output_margin=True)
        margin = margin[:, 1] if margin.ndim == 2 else margin
    else:
        margin = model.predict(X)
    np.testing.assert_allclose(total - total[0], margin - margin[0], atol=1e-4 * np.ptp(margin))


def test_a_title_of_ones_own_stays(fitted):
    figure, ax = plt.subplots()
    ax.set_title("mine")
    assert plot_tree(fitted("forest"), ax=ax).get_title() == "mine"
    assert plot_tree(fitted("forest"), ax=figure.add_subplot()).get_title() == "tree 0 of 4"
    plt.close(figure)


def test_a_lone_leaf_gets_a_figure_as_wide_as_its_title():
    model = arboretum.XGBClassifier(n_estimators=1, gamma=1e9).fit(X, THREE)
    figure = plot_tree(model).figure
    title = figure.axes[0].title.get_window_extent()
    assert 0 <= title.x0 < title.x1 <= figure.bbox.width
    plt.close(figure)


def test_a_bare_tree_of_a_booster_shows_gains_too(fitted):
    dot = export_graphviz(trees_of(fitted("xgb 3"))[0])
    assert "gain = " in dot
    assert "impurity" not in dot
    assert "tree 0 of" not in dot
    assert "impurity = " in export_graphviz(trees_of(fitted("forest"))[0])


def test_inner_nodes_of_boosters_are_painted_by_the_leaves_below(fitted):
    labels = read_model(fitted("gbm"), "test", tree=0)
    tree = labels.tree
    colors = node_colors(labels)
    for node in np.flatnonzero(~tree.is_leaf):
        first = int(tree.first_child[node])
        if tree.is_leaf[first : first + 2].all() and colors[first] == colors[first + 1]:
            assert colors[node] == colors[first]
    assert colors[0] not in (colors[leaf] for leaf in tree.leaves)


def test_bagged_members_keep_their_own_columns():
    model = arboretum.BaggingClassifier(cart(), n_estimators=3, max_features=2, random_state=1)
    model.fit(X, THREE)
    for number, columns in enumerate(model.estimators_features_):
        names = [X.columns[i] for i in columns]
        rules = to_rules(model, tree=number)
        assert {c.name for rule in rules for c in rule.conditions} <= set(names)
        np.testing.assert_array_equal(
            rules.predict(X[names]), model.estimators_[number].predict(X[names])
        )


@pytest.mark.parametrize(
    ("name", "tree", "message"),
    [
        ("forest", 4, "there is no tree 4, RandomForestClassifier has trees 0 to 3, or -1 for"),
        ("forest", -5, "there is no tree -5"),
        ("forest", (0, 1), "tree must be an int for RandomForestClassifier"),
        ("forest", 1.0, "tree must be an int"),
        ("forest", True, "tree must be an int"),
        ("forest", None, "tree must be an int"),
        ("cart", 1, "there is no tree 1, DecisionTreeClassifier has only tree 0"),
        ("xgb 3", "oak", "tree must be an int or a pair"),
        ("xgb 3", (1, 2, 3), "tree must be an int or a pair"),
        ("xgb 3", (4, 0), "there is no round 4, XGBClassifier has rounds 0 to 3"),
        ("xgb 3", (0, 3), "there is no class 3, XGBClassifier has classes 0 to 2"),
        ("xgb 3", (0, "elm"), "there is no class 'elm', XGBClassifier has beech, maple, oak"),
        ("xgb 3", (0, 0.5), r"there is no class 0\.5"),
        ("xgb 2", (0, 1), "there is no output 1, XGBClassifier has only output 0"),
    ],
)
def test_a_tree_that_is_not_there_is_one_clear_error(fitted, name, tree, message):
    for function in FUNCTIONS:
        with pytest.raises(ParameterError, match=f"^{function.__name__}: {message}"):
            function(fitted(name), tree=tree)


def test_errors_of_models_without_trees_name_what_has_some():
    pairs = [("one", cart()), ("many", arboretum.RandomForestClassifier(3))]
    for kind in (arboretum.StackingClassifier, arboretum.VotingClassifier):
        model = kind(pairs).fit(X, THREE)
        message = r"no trees itself.*model\.named_estimators_\['one'\] \(DecisionTreeClassifier\)"
        with pytest.raises(ParameterError, match=message):
            export_text(model)
        assert export_text(model.named_estimators_["many"]).startswith("tree 0 of 3")
    numbers = X[["leaf length"]]
    model = arboretum.BaggingClassifier(KNeighborsClassifier(), n_estimators=2).fit(numbers, TWO)
    with pytest.raises(ParameterError, match=r"estimators_\[0\] \(KNeighborsClassifier\)"):
        export_text(model)
    model = arboretum.BaggingClassifier(DecisionTreeClassifier(), n_estimators=2).fit(numbers, TWO)
    with pytest.raises(ParameterError, match=r"estimators_\[0\] \(DecisionTreeClassifier\)"):
        export_text(model)
    with pytest.raises(ParameterError, match="needs a fitted estimator of arboretum, got KNeigh"):
        export_text(KNeighborsClassifier())


@pytest.mark.parametrize("name", list(MAKERS))
def test_only_an_unfitted_model_is_told_to_be_fitted(name):
    for function in FUNCTIONS:
        with pytest.raises(NotFittedError, match=f"{function.__name__} needs a fitted model"):
            function(MAKERS[name]()[0])


@pytest.mark.parametrize(
    "model", [arboretum.XGBClassifier(n_estimators=2), arboretum.LGBMClassifier(n_estimators=2)]
)
@pytest.mark.parametrize("n_rows", [1, 30])
def test_a_booster_of_one_class_can_be_shown(model, n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, np.full(n_rows, "only"))
    assert "class only" in export_text(model, tree=0)
