"""`IsolationForest`: the textbook's path lengths, scikit-learn's scores, and every parameter."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import IsolationForest as Theirs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import estimator_checks_generator

import arboretum
from arboretum import IsolationForest, ParameterError
from arboretum.forest.path_lengths import average_path_length
from arboretum.textbook import anomaly_scores, grow_isolation_tree
from tests.io.model_cases import mixed_table

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
X[:12] += RNG.choice([-5.0, 5.0], (12, 4))
NEW = RNG.normal(size=(50, 4)) * 2


def fitted(**parameters):
    return IsolationForest(**{"n_estimators": 30, "random_state": 3, **parameters}).fit(X)


# ---------------------------------------------------------------------- the textbook, and scikit-learn
def _drawn(tree):
    """Return the cuts of a tree in the order in which the textbook asks for them."""

    def down(node):
        if tree.is_leaf[node]:
            return [None]
        left = tree.first_child[node]
        return [
            (int(tree.feature[node]), float(tree.threshold[node])),
            *down(left),
            *down(left + 1),
        ]

    return down(0)


def test_textbook():
    model = fitted(n_estimators=5, max_samples=40)
    trees = []
    for tree, rows in zip(model.trees_, model.estimators_samples_, strict=True):
        cuts = iter(_drawn(tree))

        def draw(rows, cuts=cuts):
            return next(cut for cut in cuts if cut is not None)

        trees.append(grow_isolation_tree(X[rows], draw, max_depth=6))
    found = anomaly_scores(trees, NEW)
    lengths = [
        tree.value[leaf, 0, 0] for tree, leaf in zip(model.trees_, model.apply(NEW).T, strict=True)
    ]
    np.testing.assert_allclose(np.transpose(lengths), found.path_lengths, rtol=1e-9)
    np.testing.assert_allclose(-model.score_samples(NEW), found.scores, rtol=1e-9)


def test_scores_are_like_those_of_scikit_learn():
    for more in ({}, {"max_features": 0.5}, {"bootstrap": True, "max_samples": 0.3}):
        ours, theirs = (
            fitted(n_estimators=200, **more),
            Theirs(n_estimators=200, random_state=0, **more),
        )
        scores = theirs.fit(X).score_samples(NEW)
        assert np.corrcoef(ours.score_samples(NEW), scores)[0, 1] > 0.95  # two seeds: 0.97
        np.testing.assert_allclose(ours.score_samples(NEW).mean(), scores.mean(), atol=0.01)
        assert ours.max_samples_ == theirs.max_samples_
        assert ours.offset_ == theirs.offset_


@pytest.mark.parametrize("more", [{}, {"max_features": 2}, {"bootstrap": True, "max_samples": 90}])
def test_scikit_learn_scores_our_trees_alike(more):
    """Its formulas on our trees: depths and rows of leaves are all that it reads."""
    from sklearn.ensemble._iforest import _average_path_length

    ours, theirs = fitted(**more), Theirs(n_estimators=30, **more).fit(X)
    theirs.estimators_features_ = ours.estimators_features_
    theirs.estimators_ = [member.tree_ for member in ours.estimators_]
    for tree in theirs.estimators_:
        vars(tree)["apply"] = lambda rows, check_input=False, tree=tree: type(tree).apply(
            tree, rows
        )
    theirs._decision_path_lengths = [t.compute_node_depths() for t in theirs.estimators_]
    theirs._average_path_length_per_tree = [
        _average_path_length(t.n_node_samples) for t in theirs.estimators_
    ]
    rows = NEW.astype(np.float32)
    np.testing.assert_allclose(ours.score_samples(rows), theirs.score_samples(rows), rtol=1e-8)


def test_anomalies_are_found():
    truth = np.arange(len(X)) < 12
    assert roc_auc_score(truth, -fitted(n_estimators=100).score_samples(X)) > 0.99


# ---------------------------------------------------------------------- answers
def test_answers_belong_together():
    model = fitted(contamination=0.1)
    score = model.score_samples(X)
    assert model.offset_ == np.percentile(score, 10)
    np.testing.assert_array_equal(model.decision_function(X), score - model.offset_)
    np.testing.assert_array_equal(model.predict(X), np.where(score < model.offset_, -1, 1))
    assert (model.predict(X) == -1).mean() == 0.1
    np.testing.assert_array_equal(clone_of(model).fit_predict(X), model.predict(X))
    mean = model.ensemble_.answers(model._encode(X))[:, 0, 0]
    np.testing.assert_allclose(score, -(2 ** (-mean / average_path_length(256))))
    np.testing.assert_allclose(model.ensemble_.link.raw(score), mean)


def clone_of(model):
    return type(model)(**model.get_params())


def test_rows_that_are_all_alike_are_no_anomalies():
    for n in (1, 2, 100, 777):
        model = IsolationForest(n_estimators=37, max_samples=n).fit(np.ones((n, 3)))
        assert model.score_samples(NEW[:, :3]).tolist() == [-0.5] * 50
        assert (model.predict(NEW[:, :3]) == 1).all()


def test_predictors():
    model = fitted(contamination=0.2)
    for method in ("predict", "decision_function", "score_samples"):
        ask = model.predictor(method)
        for rows in (NEW[:1], NEW, X):
            np.testing.assert_array_equal(ask(rows), getattr(model, method)(rows))


def test_shap_values_add_up_to_the_mean_path_length():
    model = fitted()
    mean = model.ensemble_.answers(model._encode(NEW))[:, 0, 0]
    np.testing.assert_allclose(
        model.shap_values(NEW).sum(axis=1) + model.shap_base_value(), mean, rtol=1e-10
    )
    against = model.shap_values(NEW[:5], background=X[:20]).sum(axis=1)
    np.testing.assert_allclose(against + model.shap_base_value(background=X[:20]), mean[:5])
    assert (model.shap_values(X[:12]).sum(axis=1) < 0).all()  # shorter paths than the average row
    with pytest.raises(
        ParameterError, match="for scores, which have no actual values; use output='raw'"
    ):
        model.shap_values(NEW, output="loss", y=NEW[:, 0])


def test_trees_are_regression_trees_of_path_lengths():
    model = fitted(n_estimators=3, max_samples=64)
    for tree, rows in zip(model.trees_, model.estimators_samples_, strict=True):
        leaf = tree.is_leaf
        np.testing.assert_allclose(
            tree.value[leaf, 0, 0], tree.depth[leaf] + average_path_length(tree.count[leaf])
        )
        lengths = tree.value[model.apply(X[rows])[:, model.trees_.index(tree)], 0, 0]
        assert tree.value[0, 0, 0] == pytest.approx(lengths.mean())
        assert tree.impurity[0] == pytest.approx(lengths.var())
        assert tree.gain.sum() == pytest.approx(lengths.var())
        assert tree.max_depth <= 6
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_members_are_over_their_own_columns():
    model = fitted(max_features=2, n_estimators=6)
    assert len(model) == 6
    for number, member in enumerate(model):
        columns = model.estimators_features_[number]
        assert member.n_features_in_ == len(columns) == 2
        leaves = member.apply(NEW[:, columns])
        np.testing.assert_array_equal(leaves, model.apply(NEW)[:, number])
        lengths = model.trees_[number].value[leaves, 0, 0]
        np.testing.assert_array_equal(member.predict(NEW[:, columns]), lengths)
    assert model[0] is model.estimators_[0]
    assert model.estimator_.max_depth == model[0].max_depth == 8


# ---------------------------------------------------------------------- tables
def test_words_gaps_and_sparse_tables():
    table = mixed_table(200)
    model = IsolationForest(n_estimators=20, random_state=0).fit(table)
    assert np.isfinite(model.score_samples(table)).all()
    with pytest.warns(arboretum.UnseenCategoryWarning):
        model.score_samples(table.astype({"word": object}).assign(word="zzz"))
    gaps = X.copy()
    gaps[::5, 1] = np.nan
    with_gaps = IsolationForest(random_state=0).fit(gaps)
    assert np.isfinite(with_gaps.score_samples(gaps)).all()
    holes = np.where(np.abs(X) < 0.5, 0, X)
    for make in (sparse.csr_array, sparse.csc_matrix):
        same = fitted().fit(make(holes))
        np.testing.assert_array_equal(
            same.score_samples(make(holes)), fitted().fit(holes).score_samples(holes)
        )


def test_a_row_with_a_rare_word_is_an_anomaly():
    word = np.array(["a", "b"] * 100 + ["c"], dtype=object)
    table = pd.DataFrame({"word": word})
    model = IsolationForest(random_state=0, max_samples=201).fit(table)
    assert model.score_samples(table).argmin() == 200


# ---------------------------------------------------------------------- parameters
def test_max_samples():
    assert fitted().max_samples_ == 256
    assert fitted(max_samples=0.25).max_samples_ == 150
    assert fitted(max_samples=np.float32(0.25)).max_samples_ == 150
    assert IsolationForest().fit(X[:100]).max_samples_ == 100
    with pytest.warns(UserWarning, match="will be set to n_samples"):
        assert fitted(max_samples=1000).max_samples_ == 600
    assert fitted(max_samples=1e-9).max_samples_ == 1
    rows = fitted(max_samples=50).estimators_samples_[0]
    assert len(np.unique(rows)) == 50
    assert len(np.unique(fitted(max_samples=600, bootstrap=True).estimators_samples_[0])) < 450


def test_max_features():
    assert [len(columns) for columns in fitted(max_features=0.5).estimators_features_] == [2] * 30
    used = fitted(max_features=1).trees_[0].feature
    assert len(set(used[used >= 0])) == 1
    with pytest.raises(ParameterError, match="max_features is 5"):
        fitted(max_features=5)


def test_weights_choose_the_rows():
    weight = np.r_[np.zeros(300), np.ones(300)]
    model = IsolationForest(n_estimators=5, random_state=0)
    model.fit(X, sample_weight=weight)
    assert all(rows.min() >= 300 for rows in model.estimators_samples_)
    heavy = IsolationForest(n_estimators=40, max_samples=30, random_state=0)
    rows = heavy.fit(X, sample_weight=np.r_[np.full(300, 9.0), np.ones(300)]).estimators_samples_
    assert (np.concatenate(rows) < 300).mean() > 0.8


def test_the_same_trees_however_they_are_made():
    whole = fitted(n_estimators=9)
    apart = IsolationForest(n_estimators=4, random_state=3, warm_start=True).fit(X)
    first = apart.estimators_[0]
    apart.set_params(n_estimators=9).fit(X)
    assert apart.estimators_[0] is first
    assert len(apart.estimators_) == 9
    for jobs in (1, 2):
        same = fitted(n_estimators=9, n_jobs=jobs)
        np.testing.assert_array_equal(same.score_samples(NEW), whole.score_samples(NEW))
    np.testing.assert_array_equal(apart.score_samples(NEW), whole.score_samples(NEW))
    with pytest.warns(UserWarning, match="does not fit new trees"):
        apart.fit(X)
    assert len(apart) == 9
    other = fitted(n_estimators=9, random_state=4)
    assert (other.score_samples(NEW) != whole.score_samples(NEW)).any()


def test_a_table_of_the_drawn_rows_gives_the_trees_of_the_whole_table(monkeypatch):
    """Few rows of a large table are copied before trees grow; the trees are the same."""
    few = fitted(n_estimators=4, max_samples=30)
    drawn = arboretum.forest.random_cuts._drawn_by
    monkeypatch.setattr(arboretum.forest.random_cuts, "_drawn_by", _all_rows(drawn))
    whole = fitted(n_estimators=4, max_samples=30)
    for one, other in zip(few.trees_, whole.trees_, strict=True):
        np.testing.assert_array_equal(one.threshold, other.threshold)
        np.testing.assert_array_equal(one.feature, other.feature)


def _all_rows(drawn):
    from dataclasses import replace

    return lambda bags, numbers: replace(drawn(bags, numbers), rows=np.arange(bags.n_rows))


@pytest.mark.parametrize("more", [{}, {"max_features": 2}])
def test_an_interrupted_fit_keeps_its_trees(more, monkeypatch):
    from arboretum.grow.depth_first.grower import DepthFirstGrower

    whole, grow, calls = fitted(n_jobs=1, **more), DepthFirstGrower.grow_trees, []

    def some(self, *arguments):
        calls.append(1)
        if len(calls) > (1 if not more else 3):
            raise KeyboardInterrupt
        return grow(self, *arguments)

    monkeypatch.setattr(DepthFirstGrower, "grow_trees", some)
    model = IsolationForest(n_estimators=30, random_state=3, n_jobs=1, contamination=0.1, **more)
    with pytest.raises(KeyboardInterrupt, match="trees that were finished, of 30"):
        model.fit(X)
    assert 0 < len(model) < 30
    assert model.interrupted_.done == len(model)
    np.testing.assert_array_equal(model.trees_[0].threshold, whole.trees_[0].threshold)
    assert (model.predict(X) == -1).any()
    calls[:] = [1] * 9
    with pytest.raises(KeyboardInterrupt):
        IsolationForest(n_jobs=1).fit(X)


def test_verbose(capsys):
    fitted(verbose=1, n_jobs=1)
    assert "IsolationForest" in "".join(capsys.readouterr())


def test_the_order_of_ranks_and_categories_is_the_users():
    codes = pd.DataFrame({"a": RNG.integers(0, 5, 300)})
    ranks = IsolationForest(random_state=0, ordinal_features=["a"]).fit(codes)
    kinds = IsolationForest(random_state=0, categorical_features=["a"]).fit(codes)
    assert ranks.schema_.columns[0].kind == "ordinal"
    assert kinds.schema_.columns[0].kind == "categorical"
    silent = IsolationForest(random_state=0, categorical_features=["a"], unseen="error").fit(codes)
    with pytest.raises(ValueError, match="unseen"):
        silent.predict(pd.DataFrame({"a": [77]}))


@pytest.mark.parametrize(
    ("name", "value"),
    [("contamination", 0.6), ("contamination", 0.0), ("max_samples", "all"), ("max_samples", 1.5),
     ("max_features", 0), ("bootstrap", "yes"), ("n_estimators", 0)],
)  # fmt: skip
def test_bad_parameters(name, value):
    with pytest.raises(ParameterError, match=name):
        fitted(**{name: value})


def test_unfitted():
    with pytest.raises(NotFittedError):
        IsolationForest().score_samples(X)
    with pytest.raises(ParameterError, match="learns from none"):
        fitted().report(X, X[:, 0])


_WEIGHTS = (
    "check_sample_weight_equivalence_on_"  # scikit-learn expects them of its own to fail, too
)


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(copy, check, id=f"{number}-{getattr(check, 'func', check).__name__}")
        for number, model in enumerate(
            (IsolationForest(n_estimators=5), IsolationForest(n_estimators=5, max_features=0.5))
        )
        for copy, check in estimator_checks_generator(model)
        if not getattr(check, "func", check).__name__.startswith(_WEIGHTS)
    ],
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
