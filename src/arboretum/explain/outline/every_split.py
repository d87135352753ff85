"""The best split of a column at every inner node of a tree of CART's kind: of all cuts, or sets of words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from arboretum.explain.outline.line import Line
from arboretum.explain.outline.line_maker import LineMaker
from arboretum.explain.outline.node_groups import NodeGroups
from arboretum.textbook.column_scan import FEW_CATEGORIES

__all__ = ["EverySplit"]


class EverySplit:
    """Tries every split of a column."""

    def __init__(self, maker: LineMaker) -> None:
        self.maker, self.at = maker, maker.at

    def best_of(self, f: int, drew: np.ndarray) -> dict[int, Line]:
        """Return the best split of a column at every inner node that drew it."""
        groups = self.at.groups[f]
        if groups is None:
            return self._best_set(f, self.at.inner[drew[self.at.inner]])
        found: dict[int, Line] = {}
        for one in groups:
            found |= self._best_cuts(f, one.among(drew))
        return found

    def _best_cuts(self, f: int, groups: NodeGroups) -> dict[int, Line]:
        """Return the best cut of a column of numbers at the nodes of some groups."""
        missing, following = self.at.gaps(f)[groups.node], groups.following
        gaps, more = missing[:, 0] > 0, following >= 0
        right, left = np.flatnonzero(more | gaps), np.flatnonzero(more & gaps)
        pick = np.concatenate([right, left])
        goes = np.concatenate([np.where(gaps[right], 1, -1), np.zeros(len(left), np.int64)])
        if len(left):
            order = np.lexsort((goes == 0, groups.place[pick], groups.node[pick]))
            pick, goes = pick[order], goes[order]
        lefts = groups.below[pick]
        if len(left):
            lefts = lefts + missing[pick] * (goes == 0)[:, None]

        def said(i: int) -> tuple[float, tuple[int, ...], int]:
            if not more[pick[i]]:
                return np.inf, (), 1
            cut = self.at.between(f, int(groups.place[pick[i]]), int(following[pick[i]]))
            return cut, (), int(goes[i])

        return self.maker.lines(f, groups.node[pick], lefts, said)

    def _best_set(self, f: int, nodes: np.ndarray) -> dict[int, Line]:
        """Return the best set of categories at some nodes."""
        if not len(nodes):
            return {}
        here, missing = self.at.sums[f][nodes], self.at.gaps(f)[nodes]
        found: dict[int, Line] = {}
        whole, gaps = here.sum(axis=1), missing[:, 0] > 0
        lowest = (here[..., 0] > 0).argmax(axis=1)
        for sets, sums, with_it in self._sets(here, lowest):
            sums = np.where(with_it[..., None], sums, whole[:, None] - sums)
            for goes in (1, 0):
                left = sums + (missing[:, None] if goes == 0 else 0.0)
                good = (sums[..., 0] > 0) & (sums[..., 0] < whole[:, None, 0])
                if goes == 0:
                    good &= gaps[:, None]
                at, place = np.nonzero(good)

                def said(i, at=at, place=place, sets=sets, goes=goes):
                    inside = self._inside(f, here[at[i], :, 0], sets(at[i], place[i]))
                    return np.nan, inside, goes if gaps[at[i]] else -1

                _keep_better(found, self.maker.lines(f, nodes[at], left[at, place], said))
        at = np.flatnonzero((missing[:, 0] > 0) & (here[:, :, 0].sum(axis=1) > 0))
        alone = here[at].sum(axis=1)
        _keep_better(found, self.maker.lines(f, nodes[at], alone, lambda i: (np.inf, (), 1)))
        return found

    def _inside(self, f: int, rows: np.ndarray, members: np.ndarray) -> tuple[int, ...]:
        """Return the categories of a parting on the side of the lowest that the node holds."""
        present = np.flatnonzero(rows)
        inside = members[present] == members[present[0]]
        return tuple(self.at.columns[f].values[present[inside]].astype(int).tolist())

    def _sets(self, here: np.ndarray, lowest: np.ndarray) -> Iterator:
        """Return the partings of categories that are tried: who is inside, its sums, is the lowest inside?"""
        classes = self.at.sample.n_classes
        width = here.shape[1]
        if classes is not None and classes[0] > 2 and width <= FEW_CATEGORIES:
            bits = (np.arange(1, 1 << (width - 1))[:, None] >> np.arange(width)) & 1
            inside = bits.astype(bool)
            sums = np.einsum("sv,nvc->nsc", bits * 1.0, here)
            yield (lambda at, place: inside[place]), sums, inside[:, lowest].T
            return
        targets = 1 if classes is None else classes[0]
        if classes is not None and classes[0] == 2:
            targets = 1  # the order of the other class is the same from behind
        for k in range(targets):
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = np.where(here[..., 0] > 0, here[..., 2 + k] / here[..., 1], np.inf)
            order = np.argsort(mean, axis=1, kind="stable")
            rank = np.argsort(order, axis=1, kind="stable")
            sums = np.cumsum(np.take_along_axis(here, order[..., None], axis=1), axis=1)
            with_it = rank[np.arange(len(rank)), lowest][:, None] <= np.arange(width)
            yield (lambda at, place, rank=rank: rank[at] <= place), sums, with_it


def _keep_better(found: dict[int, Line], more: dict[int, Line]) -> None:
    for node, line in more.items():
        kept = found.get(node)
        if kept is None or (not line.verdict, line.gain) > (not kept.verdict, kept.gain):
            found[node] = line
