"""Which worker gets which pieces: every piece once, where it is if that is possible."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arboretum.distributed.placement import share_out


@given(
    st.integers(1, 6),
    st.one_of(
        st.integers(0, 40).map(lambda n: [None] * n),
        st.lists(st.sampled_from([None, "0", "1", "2", "elsewhere"]), max_size=40),
    ),
)
def test_every_piece_is_given_to_one_worker(n_workers, homes):
    workers = [str(w) for w in range(n_workers)]
    shares = share_out(len(homes), workers, homes)
    assert len(shares) == n_workers
    assert sorted(piece for share in shares for piece in share) == list(range(len(homes)))
    assert all(list(share) == sorted(share) for share in shares)
    assert max(map(len, shares)) <= 1.5 * len(homes) / n_workers + 1
    if not any(home in workers for home in homes):
        assert [piece for share in shares for piece in share] == list(range(len(homes)))
