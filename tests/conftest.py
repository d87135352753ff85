"""The same suite every time: what would be drawn anew for every test has a number of its own.

`random_state=None` takes fresh entropy, and a law that holds for nearly every seed fails one run in a
thousand. Here the first draw of a test is of seed 0, the next of seed 1 and so on, so two models of one test
still differ. In continuous integration (``CI`` set) Hypothesis tries the same examples every time, too; at
the desk it goes on looking for new ones.
"""

import itertools
import os
import signal
import sys

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("same")

# In the background (nohup, cron) Ctrl-C is inherited as ignored, here and in what tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

_Fresh = np.random.SeedSequence
_draws = itertools.count()


class _Numbering(type):
    def __call__(cls, entropy=None, **keywords):
        return _Fresh(next(_draws) if entropy is None else entropy, **keywords)

    def __instancecheck__(cls, one):
        return isinstance(one, _Fresh)


class _Numbered(metaclass=_Numbering):
    """Makes seed sequences: of the next number where they would take entropy."""


np.random.SeedSequence = _Numbered


def pytest_runtest_setup(item):
    """Let every test begin with seed 0, whatever ran before it."""
    global _draws
    _draws = itertools.count()


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    """Figures that examples draw and nobody closes would add up to matplotlib's warning of too many."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
