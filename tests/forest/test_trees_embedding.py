"""`RandomTreesEmbedding`: one column per leaf, in the order of scikit-learn's encoder; every parameter."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_circles
from sklearn.ensemble import RandomTreesEmbedding as Theirs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import ParameterError, RandomTreesEmbedding
from tests.io.model_cases import mixed_table

RNG = np.random.default_rng(1)
X = RNG.normal(size=(300, 4))
NEW = RNG.normal(size=(40, 4))


def fitted(**parameters):
    return RandomTreesEmbedding(**{"n_estimators": 12, "random_state": 0, **parameters}).fit(X)


def test_columns_are_those_of_the_one_hot_encoder():
    model = fitted()
    encoder = OneHotEncoder().fit(model.apply(X))
    for rows in (X, NEW):
        expected = encoder.transform(model.apply(rows))
        found = model.transform(rows)
        assert found.format == "csr"
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
        own = model.one_hot_encoder_.transform(model.apply(rows))
        np.testing.assert_array_equal(own.toarray(), expected.toarray())
    pairs = zip(model.one_hot_encoder_.categories_, encoder.categories_, strict=True)
    assert all(np.array_equal(*pair) for pair in pairs)
    names = [
        f"randomtreesembedding_{t}_{leaf}"
        for t, leaves in enumerate(encoder.categories_)
        for leaf in leaves
    ]
    assert model.get_feature_names_out().tolist() == names


def test_dense_output_and_fit_transform():
    dense, model = fitted(sparse_output=False), RandomTreesEmbedding(12, random_state=0)
    assert type(dense.transform(NEW)) is np.ndarray
    np.testing.assert_array_equal(dense.transform(X), model.fit_transform(X).toarray())
    framed = fitted(sparse_output=False).set_output(transform="pandas").transform(NEW)
    assert framed.columns[0] == dense.get_feature_names_out()[0]
    with pytest.raises(ValueError, match="input_features"):
        dense.get_feature_names_out(["a"])


def test_as_many_leaves_as_scikit_learn():
    for more in ({}, {"max_depth": 3}, {"min_samples_leaf": 20}, {"max_leaf_nodes": 7}):
        ours = np.mean([t.n_leaves for t in fitted(n_estimators=60, **more).trees_])
        theirs = Theirs(60, random_state=0, **more).fit(X)
        assert ours == pytest.approx(
            np.mean([t.get_n_leaves() for t in theirs.estimators_]), rel=0.1
        )


def test_circles_become_linear():
    rows, y = make_circles(400, factor=0.5, noise=0.05, random_state=0)
    leaves = RandomTreesEmbedding(30, max_depth=4, random_state=0).fit_transform(rows)
    assert LogisticRegression().fit(rows[:200], y[:200]).score(rows[200:], y[200:]) < 0.7
    assert LogisticRegression().fit(leaves[:200], y[:200]).score(leaves[200:], y[200:]) > 0.95


# ---------------------------------------------------------------------- parameters
def test_limits():
    def leaves(**more):
        return fitted(**more).trees_

    assert {tree.max_depth for tree in leaves(max_depth=3)} == {3}
    assert min(tree.count[tree.is_leaf].min() for tree in leaves(min_samples_leaf=9)) == 9
    assert min(tree.count[~tree.is_leaf].min() for tree in leaves(min_samples_split=40)) >= 40
    assert min(t.count.min() for t in leaves(min_weight_fraction_leaf=0.1)) >= 30
    assert {tree.n_leaves for tree in leaves(max_leaf_nodes=6)} == {6}
    assert sum(t.n_leaves for t in leaves(min_impurity_decrease=1e-3)) < sum(
        t.n_leaves for t in leaves()
    )
    assert max(tree.max_depth for tree in leaves(max_depth=None)) > 5


def test_weights():
    weight = np.r_[np.zeros(100), np.ones(200)]
    model = RandomTreesEmbedding(4, random_state=0).fit(X, sample_weight=weight)
    same = RandomTreesEmbedding(4, random_state=0).fit(X[100:])
    assert [tree.count[0] for tree in model.trees_] == [200] * 4
    np.testing.assert_array_equal(model.trees_[0].threshold, same.trees_[0].threshold)
    heavy = RandomTreesEmbedding(4, random_state=0, min_weight_fraction_leaf=0.2)
    heavy.fit(X, sample_weight=np.linspace(0.1, 4, 300))
    assert min(t.weight.min() / t.weight[0] for t in heavy.trees_) >= 0.2


def test_the_same_trees_however_they_are_made():
    whole = fitted().transform(NEW).toarray()
    apart = RandomTreesEmbedding(5, random_state=0, warm_start=True).fit(X)
    apart.set_params(n_estimators=12).fit(X)
    np.testing.assert_array_equal(apart.transform(NEW).toarray(), whole)
    np.testing.assert_array_equal(fitted(n_jobs=2).transform(NEW).toarray(), whole)
    assert (
        fitted(random_state=1).transform(NEW).shape != whole.shape
        or (fitted(random_state=1).transform(NEW).toarray() != whole).any()
    )


def test_verbose(capsys):
    fitted(verbose=1)
    assert "RandomTreesEmbedding" in "".join(capsys.readouterr())


def test_tables_of_words_and_sparse_ones():
    table = mixed_table(120)
    model = RandomTreesEmbedding(6, random_state=0, ordinal_features=["count"], unseen="ignore")
    assert model.fit_transform(table).sum() == 720
    assert model.schema_.columns[3].kind == "ordinal"
    kinds = RandomTreesEmbedding(6, categorical_features=["count"]).fit(table)
    assert kinds.schema_.columns[3].kind == "categorical"
    holes = np.where(np.abs(X) < 0.5, 0, X)
    one = RandomTreesEmbedding(6, random_state=0).fit_transform(holes)
    other = RandomTreesEmbedding(6, random_state=0).fit_transform(sparse.csc_array(holes))
    np.testing.assert_array_equal(one.toarray(), other.toarray())


def test_members():
    model = fitted()
    assert len(model.estimators_) == len(model) == 12
    np.testing.assert_array_equal(model[3].apply(NEW), model.apply(NEW)[:, 3])
    assert model.estimators_samples_[0].tolist() == list(range(300))
    assert model.decision_path(NEW)[0].shape[0] == 40


def test_errors():
    with pytest.raises(NotFittedError):
        RandomTreesEmbedding().transform(X)
    with pytest.raises(NotFittedError):
        RandomTreesEmbedding().get_feature_names_out()
    with pytest.raises(ParameterError, match="sparse_output"):
        fitted(sparse_output="yes")
    with pytest.raises(TypeError, match="oob_score"):
        RandomTreesEmbedding(oob_score=True)


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(copy, check, id=getattr(check, "func", check).__name__)
        for copy, check in estimator_checks_generator(RandomTreesEmbedding(5))
    ],
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
