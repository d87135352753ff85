"""Threads that work on one job together, in steps too short to wake a thread for.

One thread leads: it posts a task of n items and works on items itself. Helpers take items, too, as long as
the team is open:

    leader    post 4 items ── take 3 ── do ── take 1 ── do ── all done? ── next task … close
    helper    … wait ──────── take 2 ── do ── take 0 ── do ── wait …                    return

A ticket is (task, items left), changed in one atomic step, so an item is taken once and only while its task
is the current one. The leader waits for items that were taken, never for a helper: a helper that comes late,
or never, costs only speed. The result of an item must not depend on the thread that works on it.

Waiting threads spin: for a few microseconds on their core, then giving way to all other threads. Waking a
sleeping thread takes a hundred microseconds.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.atomic import (
    atomic_add,
    atomic_read,
    atomic_replace,
    atomic_write,
    give_way,
    rest_a_moment,
)
from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.compiler.private import LINKED
from arboretum.engine.parallel import cores

__all__ = [
    "close",
    "crew",
    "done",
    "is_open",
    "new_team",
    "post",
    "take",
    "wait_for",
    "wait_turn",
]

# places in a team's state, each on its own cache line
_TICKET, _DONE, _CLOSED = 0, 16, 32
_LEFT = np.int64(0xFFFFFFFF)
_TURN = np.int64(1) << np.int64(32)
_PATIENCE = 4000  # rounds of waiting before giving way


def crew(n_jobs: int) -> int:
    """Return how many threads may spin together: at most the number of cores, and one without atomics."""
    return min(n_jobs, cores()) if LINKED else 1


def new_team() -> np.ndarray:
    """Return the state of a team that is open and has nothing to do."""
    return np.zeros(48, np.int64)


@subkernel
def post(team, n_items):
    """Offer a task: a thread that reads its ticket also sees everything written before.

    team (48,) int64, updated.
    """
    atomic_write(team, _DONE, np.int64(0))
    turn = atomic_read(team, _TICKET) & ~_LEFT
    atomic_write(team, _TICKET, turn + _TURN + np.int64(n_items))


@subkernel
def take(team):
    """Return an item that no other thread has taken, or -1.

    team (48,) int64, updated.
    """
    while True:
        ticket = atomic_read(team, _TICKET)
        left = ticket & _LEFT
        if left == 0:
            return np.int64(-1)
        if atomic_replace(team, _TICKET, ticket, ticket - np.int64(1)):
            return left - np.int64(1)


@subkernel
def done(team):
    """Report that an item is done.

    team (48,) int64, updated.
    """
    atomic_add(team, _DONE, np.int64(1))


@subkernel
def wait_turn(waited):
    """Wait a moment, giving way to other threads after a while; return the new number of waits."""
    if waited < _PATIENCE:
        rest_a_moment()
    else:
        give_way()
    return waited + 1


@subkernel
def wait_for(team, n_items):
    """Wait until all items of the task are done.

    team (48,) int64.
    """
    waited = 0
    while atomic_read(team, _DONE) < n_items:
        waited = wait_turn(waited)


@subkernel
def is_open(team):
    """Return whether more tasks may come.

    team (48,) int64.
    """
    return atomic_read(team, _CLOSED) == 0


@kernel
def close(team):
    """Close the team, so that the helpers return.

    team (48,) int64, updated.
    """
    atomic_write(team, _CLOSED, np.int64(1))
