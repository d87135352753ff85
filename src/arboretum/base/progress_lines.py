"""What `verbose` prints while boosting: a line for some of the rounds, as scikit-learn does."""

from __future__ import annotations

from arboretum.base.progress import Pace

__all__ = ["ProgressLines"]


class ProgressLines:
    """Prints the score of rounds: of the first ten, then every tenth, every hundredth …

    ``verbose=2`` prints every round; of a silent fit there is none.

    Examples
    --------
    >>> report = ProgressLines(1, 20, out_of_bag=False)
          Iter       Train Loss   Remaining Time
    >>> report.tell(10, 0.5, None)  # doctest: +SKIP
            11           0.5000            0.01s
    """

    def __init__(self, verbose: int, n_rounds: int, *, out_of_bag: bool) -> None:
        self.verbose, self.n_rounds = int(verbose), n_rounds
        self.pace, self.first = Pace(), -1
        names = ["Train Loss", *(["OOB Improve"] if out_of_bag else []), "Remaining Time"]
        print(f"{'Iter':>10}" + "".join(f"{name:>17}" for name in names))

    def tell(self, number: int, score: float, improvement: float | None) -> None:
        """Report the round with this number, from 0."""
        self.first = number if self.first < 0 else self.first
        done = number + 1
        step = 10 ** (len(str(done)) - 1) if done >= 10 else 1
        if self.verbose == 1 and done % step:
            return
        each = self.pace.seconds / (done - self.first)  # without compiling
        left = each * (self.n_rounds - done)
        shown = f"{left / 60:.2f}m" if left > 60 else f"{left:.2f}s"
        better = "" if improvement is None else f"{improvement:17.4f}"
        print(f"{done:10d}{score:17.4f}{better}{shown:>17}")
