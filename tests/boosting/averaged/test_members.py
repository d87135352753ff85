"""The mean of members is one ensemble, from which the members can be read back."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum import LGBMClassifier
from arboretum.boosting.averaged.members import AveragedMember, average, members_of
from arboretum.data.matrix import DenseMatrix
from arboretum.structure.state import tree_to_state
from tests.boosting.averaged.averaged_cases import numbers

X, NUMBER = numbers()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_members_add_up_and_come_back(n_classes):
    y = np.digitize(NUMBER, np.quantile(NUMBER, np.arange(1, n_classes) / n_classes))
    models = [LGBMClassifier(n_estimators=k, num_leaves=k).fit(X, y) for k in (7, 3, 4)]
    weights = [0.5, 0.25, 0.25]
    members = [
        AveragedMember(f"kind {k}", weight, model.ensemble_)
        for k, (weight, model) in enumerate(zip(weights, models, strict=True))
    ]
    whole, owner = average(members)
    matrix = DenseMatrix(X)
    wanted = sum(m.weight * m.ensemble.answers(matrix) for m in members)
    assert np.allclose(whole.answers(matrix), wanted, rtol=0, atol=1e-12)
    assert np.bincount(owner).tolist() == [7, 3, 4]

    again = members_of(whole, owner, [m.kind for m in members], weights)
    for one, other in zip(members, again, strict=True):
        assert one.kind == other.kind
        pairs = zip(one.ensemble.trees, other.ensemble.trees, strict=True)
        assert all(repr(tree_to_state(a)) == repr(tree_to_state(b)) for a, b in pairs)


def test_half_of_the_rounds_are_half_of_every_member():
    models = [LGBMClassifier(n_estimators=k).fit(X, NUMBER > 0) for k in (20, 10)]
    whole, owner = average([AveragedMember("plain", 0.5, model.ensemble_) for model in models])
    assert np.bincount(owner[:15]).tolist() == [10, 5]
    assert whole.n_rounds == 30
