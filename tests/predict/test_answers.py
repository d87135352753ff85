"""What sums of one row mean is what those of many rows mean, bit by bit."""

import numpy as np
import pytest

from arboretum.predict.link import Link, both_classes, largest_share, shares, two_labels, two_shares

MARGINS = [0.0, -0.0, 1e-300, 0.3, -0.3, 17.5, -17.5, 40.0, -745.0, 900.0, -900.0, np.inf, -np.inf]


@pytest.mark.parametrize("sigma", [1.0, 2.0, 0.7])
def test_the_shares_of_two_classes(sigma):
    link = Link("logit", sigma)
    meaning = two_shares(lambda F: both_classes(link.predict(F[:, 0])), link)
    many = meaning(np.array(MARGINS)[:, None])
    for margin, expected in zip(MARGINS, many, strict=True):
        room = np.full((1, meaning.width), 5.0)
        room[0, 0] = margin
        assert meaning.of_row(room).tobytes() == expected.tobytes()


def test_the_label_of_two():
    link, classes = Link("logit"), np.array(["no", "yes"])
    meaning = two_labels(lambda F: classes[(link.predict(F[:, 0]) > 0.5) * 1], link, classes)
    for margin in [*MARGINS, np.nan]:
        sums = np.array([[margin]])
        answer = meaning.of_row(sums)
        assert answer.tolist() == meaning(sums).tolist()
        answer[0] = "x"
    assert meaning.of_row(np.zeros((1, 1))).tolist() == ["no"]


def test_the_largest_share_and_all_of_them():
    classes = np.array([3, 5, 8])
    label = largest_share(lambda s: classes[s[:, 0].argmax(axis=1)], classes)
    every = shares(lambda s: s[:, 0], len(classes))
    for row in ([0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [0.0, 0.0, 1.0]):
        sums = np.array([row])
        assert label.of_row(sums).tolist() == label(sums[:, None]).tolist()
        assert every.of_row(sums).tobytes() == every(sums[:, None]).tobytes()
