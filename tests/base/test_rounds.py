"""Rounds: whole ones are kept whatever ends them."""

import pytest

from arboretum.base.rounds import run_rounds


def play_until(stop, interrupt, kept):
    def play(number):
        if number == interrupt:
            raise KeyboardInterrupt
        kept.append(number)
        return number == stop

    return play


@pytest.mark.parametrize(
    ("stop", "interrupt", "rounds", "interrupted"),
    [(None, None, 6, False), (3, None, 2, False), (None, 4, 2, True)],
)
def test_what_is_kept(stop, interrupt, rounds, interrupted, recwarn):
    kept: list[int] = []
    play = play_until(stop, interrupt, kept)
    assert run_rounds(play, range(2, 8), lambda: len(kept), name="Model") is interrupted
    assert len(kept) == rounds
    said = [str(warning.message) for warning in recwarn]
    wanted = "Model was interrupted: it has the 2 rounds that were finished, of 8"
    assert said == ([wanted] if interrupted else [])


def test_an_interrupt_before_anything_is_kept_goes_on():
    kept: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        run_rounds(play_until(None, 0, kept), range(3), lambda: len(kept), name="Model")
