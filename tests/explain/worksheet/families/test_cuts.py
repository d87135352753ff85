"""Sheets of forests of random cuts: path lengths add up to the textbook's score; no target is needed."""

import numpy as np
import pytest

from arboretum import IsolationForest, ParameterError, RandomTreesEmbedding, worksheet
from arboretum.textbook import IsolationScores, average_path_length

X = np.random.default_rng(0).normal(size=(90, 3))
X[0] = 7.0


@pytest.mark.parametrize("more", [{}, {"max_features": 2, "contamination": 0.1}])
def test_rows_add_up(more):
    model = IsolationForest(n_estimators=9, max_samples=32, random_state=0, **more).fit(X)
    for row, values in ((0, X[:1]), (5, X[5:6]), ([0.0, 9.0, 1.0], [[0.0, 9.0, 1.0]])):
        sheet = worksheet(model, X).row(row)
        table = sheet.table("Tree by tree")
        lengths = np.array(table.column("path length"))
        parts = np.array(table.column("depth")) + average_path_length(table.column("rows"))
        np.testing.assert_allclose(lengths, parts, rtol=1e-9)
        found = IsolationScores(lengths[None], float(average_path_length(32)))
        assert sheet.value("mean path length") == pytest.approx(found.mean_path_length[0])
        assert -sheet.value("score") == pytest.approx(found.scores[0])
        assert sheet.value("decision") == model.decision_function(values)[0]
        assert sheet.facts["answer"] == model.predict(values)[0]
        assert "times in bag" in table.header or row not in (0, 5)


def test_leaves():
    model = IsolationForest(n_estimators=2, max_samples=64, random_state=0).fit(X)
    leaf = int(model.apply(X)[0, 1])
    sheet = worksheet(model, X).leaf(1, leaf)
    assert len(sheet.table("Cuts above it").rows) == model.trees_[1].depth[leaf]
    assert sheet.value("path length") == pytest.approx(model.trees_[1].value[leaf, 0, 0])
    assert "64 rows" in sheet.to_text()


def test_an_embedding_has_no_score():
    model = RandomTreesEmbedding(4, random_state=0).fit(X)
    sheet = worksheet(model, X).row(2)
    assert sheet.table("Tree by tree").column("leaf") == model.apply(X[2:3])[0].tolist()
    assert [formula.name for formula in sheet.formulas] == ["mean path length"]


@pytest.mark.parametrize("method", ["round", "pruning", "oob", "node"])
def test_refusals(method):
    sheets = worksheet(RandomTreesEmbedding(2, random_state=0).fit(X), X)
    arguments = {"node": (0, 0), "round": (1,)}.get(method, ())
    with pytest.raises(ParameterError, match=r"It has .leaf\(tree, leaf\), .row\(i\)"):
        getattr(sheets, method)(*arguments)
