"""What was tried, in words and in files."""

import pytest

from arboretum.boosting.averaged.choices import Choice, Choices
from arboretum.errors import ModelFileError

LINE = ["kind", "plain", 0.5, "weight 1", "the only kind"]


def test_choices_come_back_from_their_state():
    found = Choices([Choice(*LINE), Choice("settings", "rate 0.1", None, "yes", "")])
    assert Choices.from_state(found.to_state()) == found
    assert repr(found).splitlines()[0].split(" | ")[0].strip() == "what"
    assert len(repr(found).splitlines()) == 3


@pytest.mark.parametrize(
    "state",
    [None, [None], [LINE[:-1]], [[*LINE, ""]], [[1, *LINE[1:]]], [[*LINE[:2], 1, *LINE[3:]]]],
)
def test_damaged_choices_are_refused(state):
    with pytest.raises(ModelFileError, match="choices are damaged"):
        Choices.from_state(state)
