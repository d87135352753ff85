"""Proximities of rows with numbers as target: in their order, with a scale, and never a class per row."""

import numpy as np
import pytest

from arboretum import plot_proximity

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("n", [30, 200])
def test_numbers_stand_in_their_order(n):
    y = np.random.default_rng(0).normal(size=n)
    near = np.exp(-np.abs(y[:, None] - y))
    ax = plot_proximity(near, y)
    shown = [float(label.get_text()) for label in ax.get_yticklabels()]
    assert shown == sorted(shown, reverse=True)
    assert len(shown) <= 6
    picture = ax.images[0].get_array()
    np.testing.assert_allclose(picture[0], near[y.argmax()][np.argsort(-y)])
    assert "largest target" in ax.get_xlabel()


def test_few_whole_numbers_are_classes():
    y = np.arange(40) % 3
    ax = plot_proximity(np.eye(40), y.astype(float))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0.0", "1.0", "2.0"]
