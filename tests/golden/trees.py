"""Trees and forests of the golden set.

Fits are small (5 to 10 trees, some 250 rows) because what matters is which code runs, not how good the
model is. Every model that draws or keeps a seed is given one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sklearn.naive_bayes import GaussianNB

import arboretum as arb
from tests.golden.case import Case, asks, family, prune_cv, reads, twice


# ---------------------------------------------------------------------- single trees
def cart() -> Iterator[Case]:
    tree, numbers = arb.CARTClassifier, arb.CARTRegressor
    case = family("cart")
    shown = (asks("apply"), reads("feature_importances_"))
    yield case("gini", lambda: tree(), "many.class", more=(*shown, asks("decision_path")))
    yield case("entropy", lambda: tree(criterion="entropy", max_depth=5), "two.class")
    yield case("log_loss", lambda: tree(criterion="log_loss", min_samples_leaf=4), "many.third")
    yield case("error", lambda: tree(criterion="error", max_depth=4), "mixed.three")
    yield case("weights", lambda: tree(max_depth=6), "two.class", weighted=True)
    yield case("words", lambda: tree(max_depth=6), "mixed.class", weighted=True, more=shown)
    yield case("words, three classes", lambda: tree(min_samples_split=8), "mixed.three")
    yield case("play tennis", tree, "tennis.play", more=shown)
    yield case("penalty", lambda: tree(category_penalty=0, max_depth=4), "mixed.three")
    yield case("ranks", lambda: tree(ordinal_features=["age"], max_depth=4), "mixed.class")
    yield case("categories", lambda: tree(categorical_features=[2], max_depth=5), "many.class")
    yield case("surrogates", lambda: tree(surrogates=3, max_depth=5), "many.class")
    yield case("surrogates, words", lambda: tree(surrogates=2, max_depth=5), "mixed.class")
    yield case("bins", lambda: tree(max_bins=8, max_depth=6), "two.class")
    yield case("best first", lambda: tree(max_leaf_nodes=9), "mixed.class")
    yield case("class weights", lambda: tree(class_weight="balanced", max_depth=5), "many.class")
    yield case("pairs", lambda: tree(max_depth=5), "many.pair")
    yield case("sparse", lambda: tree(max_depth=6), "sparse.class")
    yield case(
        "monotone",
        lambda: tree(monotonic_cst=[1, 0, 0, -1, 0, 0], max_depth=6),
        "two.class",
    )
    yield case(
        "some columns", lambda: tree(max_features=2, random_state=1, max_depth=6), "many.class"
    )
    yield case("random splits", lambda: tree(splitter="random", random_state=2), "mixed.class")
    yield case("pruned", lambda: tree(ccp_alpha=0.006), "two.class")
    yield case("prune_cv", tree, "two.class", fit=partial(prune_cv, rule="1se"))
    yield case("squared error", lambda: numbers(min_samples_leaf=3), "real.number", more=shown)
    yield case("weighted numbers", lambda: numbers(max_depth=5), "real.number", weighted=True)
    yield case(
        "absolute error",
        lambda: numbers(criterion="absolute_error", max_depth=4),
        "real.number",
    )
    yield case("poisson", lambda: numbers(criterion="poisson", max_depth=4), "real.count")
    yield case("friedman", lambda: numbers(criterion="friedman_mse", max_depth=4), "real.pair")
    yield case("number pairs", lambda: numbers(max_depth=5), "real.pair")
    yield case("words to numbers", lambda: numbers(max_leaf_nodes=12), "mixed.number")
    yield case("number bins", lambda: numbers(max_bins=16, max_depth=5), "real.number")
    yield case("number surrogates", lambda: numbers(surrogates=2, max_depth=4), "real.number")
    yield case(
        "monotone numbers",
        lambda: numbers(monotonic_cst=[1, 0, 0, 0, 1, 0], max_depth=5),
        "real.number",
    )
    yield case("prune_cv numbers", numbers, "real.number", fit=partial(prune_cv, rule="min"))


def extra_tree() -> Iterator[Case]:
    case = family("extra tree")
    tree, numbers = arb.ExtraTreeClassifier, arb.ExtraTreeRegressor
    yield case("classes", lambda: tree(random_state=1), "many.class")
    yield case("words", lambda: tree(random_state=1, max_depth=6), "mixed.class")
    yield case(
        "numbers",
        lambda: numbers(random_state=3, min_samples_leaf=3),
        "real.number",
        weighted=True,
    )


def c45() -> Iterator[Case]:
    tree, rules, id3 = arb.C45Classifier, arb.C45Rules, arb.ID3Classifier
    case = family("c45")
    yield case("words", tree, "mixed.class", more=(reads("feature_importances_"),))
    yield case("gaps", tree, "many.class")
    yield case("weights", lambda: tree(min_cases=3), "mixed.three", weighted=True)
    yield case("subsets", lambda: tree(subset=True), "mixed.class")
    yield case("unpruned", lambda: tree(pruning=None, criterion="gain", max_depth=6), "many.class")
    yield case("holdout", lambda: tree(pruning="reduced_error", random_state=1), "two.class")
    yield case(
        "no raising",
        lambda: tree(subtree_raising=False, collapse=False, laplace=True),
        "mixed.three",
    )
    yield case("threshold", lambda: tree(epsilon=0.1), "mixed.class")
    yield case("no gate", lambda: tree(gate=False, pruning=None), "mixed.three")
    yield case("rules", rules, "mixed.class")
    yield case("rules, no gate", lambda: rules(gate=False, epsilon=0.05), "mixed.class")
    yield case("rules, gaps", lambda: rules(confidence=0.4), "many.third", weighted=True)
    yield case("id3", lambda: id3(discretize="quantile", n_bins=4), "mixed.class")
    yield case("id3, mdl", lambda: id3(discretize="mdl", laplace=True), "two.class")
    yield case(
        "id3, limits",
        lambda: id3(discretize="quantile", max_depth=2, epsilon=0.01, min_samples_split=9),
        "mixed.three",
        weighted=True,
    )


# ---------------------------------------------------------------------- forests
def forest() -> Iterator[Case]:
    forest, numbers = arb.RandomForestClassifier, arb.RandomForestRegressor
    case = family("forest")
    yield case(
        "classes",
        lambda: forest(8, random_state=1, oob_score=True, keep_leaves=True),
        "many.class",
        more=(
            asks("predict_votes"),
            asks("proximity"),
            asks("apply"),
            asks("prediction_variance"),
            reads("oob_decision_function_"),
            reads("oob_error_curve_"),
            reads("feature_importances_"),
        ),
    )
    yield case("two classes", lambda: forest(6, random_state=2), "two.class", weighted=True)
    yield case(
        "words",
        lambda: forest(6, random_state=3, max_features=3, class_weight="balanced_subsample"),
        "mixed.class",
    )
    yield case(
        "hard votes",
        lambda: forest(7, random_state=4, voting="hard", criterion="entropy", max_depth=5),
        "mixed.three",
    )
    yield case("pairs", lambda: forest(5, random_state=5, max_depth=6), "many.pair")
    yield case("sparse", lambda: forest(5, random_state=6), "sparse.class")
    yield case(
        "limits",
        lambda: forest(
            6, random_state=7, max_samples=0.6, max_leaf_nodes=12, min_impurity_decrease=0.001
        ),
        "two.class",
    )
    yield case("pruned", lambda: forest(5, random_state=8, ccp_alpha=0.004), "many.class")
    yield case(
        "monotone",
        lambda: forest(5, random_state=8, monotonic_cst=[1, 0, 0, 0, 0, 0], max_depth=5),
        "two.class",
    )
    yield case(
        "fill per class",
        lambda: forest(6, random_state=9, keep_leaves=True),
        "many.class",
        more=(asks("predict", missing="per_class"),),
    )
    yield case(
        "more trees",
        lambda: forest(4, random_state=10, warm_start=True),
        "mixed.class",
        fit=twice,
    )
    yield case(
        "numbers",
        lambda: numbers(8, random_state=1, oob_score=True, keep_leaves=True),
        "real.number",
        more=(
            asks("predict", quantiles=[0.1, 0.5, 0.9]),
            asks("prediction_interval"),
            asks("prediction_variance"),
            reads("oob_prediction_"),
        ),
    )
    yield case(
        "words to numbers",
        lambda: numbers(6, random_state=2, max_features=0.5, min_samples_leaf=3),
        "mixed.number",
        weighted=True,
    )
    yield case(
        "absolute error",
        lambda: numbers(4, random_state=3, criterion="absolute_error", max_depth=4),
        "real.number",
    )
    yield case(
        "poisson",
        lambda: numbers(4, random_state=4, criterion="poisson", max_depth=5),
        "real.count",
    )
    yield case("number pairs", lambda: numbers(5, random_state=5, max_depth=6), "real.pair")


def extra_trees() -> Iterator[Case]:
    forest, numbers = arb.ExtraTreesClassifier, arb.ExtraTreesRegressor
    case = family("extra trees")
    yield case("classes", lambda: forest(8, random_state=1), "many.class")
    yield case(
        "words",
        lambda: forest(6, random_state=2, min_samples_leaf=2),
        "mixed.class",
        weighted=True,
    )
    yield case(
        "bootstrap",
        lambda: forest(6, random_state=3, bootstrap=True, oob_score=True, max_depth=6),
        "two.class",
        more=(reads("oob_decision_function_"),),
    )
    yield case("sparse", lambda: forest(5, random_state=4), "sparse.class")
    yield case("numbers", lambda: numbers(6, random_state=5), "real.number")
    yield case("number pairs", lambda: numbers(5, random_state=6), "real.pair")
    yield case(
        "words to numbers",
        lambda: numbers(6, random_state=7, min_samples_leaf=4, max_features=0.6),
        "mixed.number",
    )


def bagging() -> Iterator[Case]:
    bag, numbers = arb.BaggingClassifier, arb.BaggingRegressor
    case = family("bagging")
    yield case(
        "trees",
        lambda: bag(n_estimators=6, random_state=1, oob_score=True),
        "many.class",
        more=(reads("oob_decision_function_"),),
    )
    yield case(
        "patches",
        lambda: bag(
            n_estimators=6, random_state=2, max_samples=0.7, max_features=0.6, bootstrap=False
        ),
        "mixed.class",
        weighted=True,
    )
    yield case(
        "c45",
        lambda: bag(arb.C45Classifier(), n_estimators=4, random_state=3),
        "mixed.three",
    )
    yield case(
        "foreign",
        lambda: bag(GaussianNB(), n_estimators=4, random_state=4),
        "two.class",
        saves=False,
    )
    yield case(
        "numbers",
        lambda: numbers(
            n_estimators=6,
            random_state=5,
            oob_score=True,
            max_features=0.7,
            bootstrap_features=True,
        ),
        "real.number",
        more=(reads("oob_prediction_"),),
    )
    yield case(
        "boosters",
        lambda: numbers(
            arb.GradientBoostingRegressor(n_estimators=3), n_estimators=3, random_state=6
        ),
        "mixed.number",
    )


def cuts() -> Iterator[Case]:
    forest, embedding = arb.IsolationForest, arb.RandomTreesEmbedding
    case = family("cuts")
    scores = (asks("score_samples"), reads("feature_importances_"))
    yield case(
        "isolation", lambda: forest(n_estimators=8, random_state=1), "two.class", more=scores
    )
    yield case(
        "contamination",
        lambda: forest(n_estimators=8, random_state=1, contamination=0.1, max_samples=40),
        "mixed.class",
        weighted=True,
        more=scores,
    )
    yield case(
        "columns",
        lambda: forest(n_estimators=8, random_state=2, max_features=3, max_samples=0.3),
        "many.class",
        more=scores,
    )
    yield case(
        "bootstrap",
        lambda: forest(n_estimators=5, random_state=3, bootstrap=True, warm_start=True),
        "sparse.class",
        fit=twice,
        more=scores,
    )
    yield case("embedding", lambda: embedding(6, random_state=1), "mixed.class", weighted=True)
    yield case(
        "embedding, best first",
        lambda: embedding(6, random_state=2, max_leaf_nodes=8, min_samples_leaf=5),
        "real.number",
    )


def imputer() -> Iterator[Case]:
    imputer = arb.ProximityImputer
    case = family("imputer")
    yield case("classes", lambda: imputer(8, max_iter=3, random_state=1), "mixed.class")
    yield case("numbers", lambda: imputer(8, max_iter=3, random_state=2), "real.number")
    yield case(
        "from means",
        lambda: imputer(8, max_iter=3, random_state=1, initial="mean"),
        "mixed.class",
    )
    yield case(
        "no target",
        lambda: imputer(6, max_iter=2, random_state=3, min_samples_leaf=3),
        "many.class",
        fit=lambda model, t, target, weighted: model.fit(t.rows(new=False)),
    )


FAMILIES = (cart, extra_tree, c45, forest, extra_trees, bagging, cuts, imputer)
