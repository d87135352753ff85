"""The same suite every time: every test begins with the same state of NumPy's global generator.

`random_state=None` draws from it, and a law that holds for nearly every seed fails one run in a hundred. Two
models of one test still differ. In continuous integration (``CI`` set) Hypothesis tries the same examples
every time, too; at the desk it goes on looking for new ones.
"""

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


def pytest_runtest_setup(item):
    """Let `random_state=None` draw the same in every run of a test, whatever ran before it."""
    np.random.seed(0)


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    """Figures that examples draw and nobody closes would add up to matplotlib's warning of too many."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
