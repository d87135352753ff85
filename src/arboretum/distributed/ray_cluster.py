"""Objects on the nodes of a Ray cluster: actors in one placement group, so that a fit gets all or none.

place     a bundle of CPUs for every object; two fits at once wait for each other, never half each
start     actors that Ray does not restart and whose calls it does not repeat: both would be empty
receive   waits for the reply; a death is Ray's own error, an error of ours is a reply (host.py)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Self

from arboretum.distributed.host import Host, reply_of
from arboretum.errors import ArboretumError
from arboretum.grow.cluster import Cluster, Died, Worker

__all__ = ["RayCluster"]

_LOOK = 1.0  # seconds between looks at the clock
_MADE = 600.0  # seconds after which an actor that was never made counts as lost


class _Sent(NamedTuple):
    reply: Any  # reference
    since: float


class RayCluster(Cluster):
    """The nodes of a Ray cluster, which `ray.init` has connected to.

    Parameters
    ----------
    actors : int, optional
        Number of objects at the same time; default: one for every node with CPUs.
    cpus : int, optional
        CPUs, and threads, of each; default: those of the smallest node but one, which reads partitions.
    patience : float, optional
        Seconds without a reply after which an actor counts as lost; None: as long as it lives.
    grace : float, default=60
        Seconds to wait for CPUs that others use.
    """

    def __init__(
        self,
        actors: int | None = None,
        cpus: int | None = None,
        patience: float | None = None,
        grace: float = 60.0,
    ) -> None:
        import ray

        if not ray.is_initialized():
            ray.init()
        self.ray, self.patience, self.grace = ray, patience, grace
        nodes = [int(n["Resources"]["CPU"]) for n in self._nodes()]
        self.actors = len(nodes) if actors is None else actors
        self.cpus = max(1, min(nodes) - 1) if cpus is None else cpus
        self.objects: list[Any] = []
        self._group: Any = None
        self._made: dict[int, bool] = {}

    # ------------------------------------------------------------------ nodes
    def _nodes(self) -> list[dict[str, Any]]:
        found = [n for n in self.ray.nodes() if n["Alive"] and n["Resources"].get("CPU", 0) >= 1]
        if not found:
            raise ArboretumError("the Ray cluster has no node with CPUs: start some")
        return found

    def workers(self) -> list[Worker]:
        """Return one entry per actor that a fit starts, with its share of the memory."""
        nodes = self._nodes()
        each = -(-self.actors // len(nodes))
        memory = min(int(n["Resources"].get("memory", 0)) for n in nodes) // each or None
        names = [f"{n['NodeManagerAddress']}" for n in nodes]
        return [Worker(names[i % len(names)], memory, self.cpus) for i in range(self.actors)]

    def where(self, i: int) -> str:
        return f"Ray actor {i}"

    # ------------------------------------------------------------------ objects
    def place(
        self,
        maker: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        names: Sequence[str] | None = None,
    ) -> Self:
        from ray.util.placement_group import placement_group, remove_placement_group

        bundles = [{"CPU": self.cpus} for _ in range(min(len(arguments), self.actors))]
        group = placement_group(bundles, strategy="SPREAD")
        if not self.ray.wait([group.ready()], timeout=self.grace)[0]:
            remove_placement_group(group)
            free = self.ray.available_resources().get("CPU", 0)
            raise ArboretumError(
                f"the Ray cluster has {free:g} free CPUs and the fit needs {len(bundles)} actors of "
                f"{self.cpus} at the same time: wait for others to end, or take fewer with "
                "arboretum.distributed.ray.actors(number, cpus)"
            )
        self._group = group
        return super().place(maker, arguments, names)

    def start(self, i: int, maker: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        from ray.util.placement_group import placement_group_table
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        options: dict[str, Any] = {"num_cpus": 0}  # its node is lost: it shares one with others
        if placement_group_table(self._group)["state"] == "CREATED":
            bundle = i % len(self._group.bundle_specs)
            strategy = PlacementGroupSchedulingStrategy(self._group, bundle)
            cpus = self.cpus if i < len(self._group.bundle_specs) else 0
            options = {"num_cpus": cpus, "scheduling_strategy": strategy}
        made = self.ray.remote(Host).options(max_restarts=0, max_task_retries=0, **options)
        self._made[i] = False
        return made.remote(self.cpus, maker, *arguments)

    def stop(self, handle: Any) -> None:
        self.ray.kill(handle, no_restart=True)

    def close(self) -> None:
        super().close()
        if self._group is not None:
            from ray.util.placement_group import remove_placement_group

            remove_placement_group(self._group)
            self._group = None

    # ------------------------------------------------------------------ calls
    def send(self, i: int, handle: Any, name: str, arguments: tuple[Any, ...]) -> _Sent:
        return _Sent(handle.run.remote(name, arguments), time.monotonic())

    def receive(self, i: int, sent: _Sent) -> Any:
        errors = self.ray.exceptions
        while True:
            with suppress(errors.GetTimeoutError):
                try:
                    found = self.ray.get(sent.reply, timeout=_LOOK)
                except errors.RayActorError as death:
                    raise Died(str(death)) from death
                self._made[i] = True
                return reply_of(found)
            limit = self.patience if self._made[i] else _MADE
            if limit is not None and time.monotonic() - sent.since > limit:
                raise Died(f"no reply for {limit:g} seconds")
