"""Objects on the workers of a Dask cluster: actors, called without a detour where that is possible.

    start     client.submit(Host, …, actor=True, workers=[w])      lazy partitions become values on w
    send      the worker's own "actor_execute", directly or through the scheduler
    receive   waits for the reply, and looks every second whether the worker is still there

Nothing waits for ever: a call ends by its reply, by the scheduler's report that the worker is lost, or by the
end of the connection to the scheduler. The state of an actor is looked at before every call: a call to a
dead worker would try to connect for half a minute.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, TimeoutError
from contextlib import suppress
from typing import Any, NamedTuple

from arboretum.distributed.host import Host, reply_of
from arboretum.errors import ArboretumError
from arboretum.grow.cluster import Cluster, Died, Worker

__all__ = ["DaskCluster"]

_LOOK = 1.0  # seconds between looks at the worker
_DIRECT = 5.0  # seconds for the first direct call
_NOTICE = 5.0  # seconds after which the scheduler has noticed the end of a worker


class _Handle(NamedTuple):
    future: Any  # of the actor
    address: str  # of its worker


class DaskCluster(Cluster):
    """The workers of a Dask client.

    Parameters
    ----------
    client : distributed.Client, optional
        Default: the current one.
    patience : float, optional
        Seconds without a reply after which a worker counts as lost; None: as long as it lives.
    grace : float, default=60
        Seconds to wait for a first worker, or for another when the last one was lost.
    """

    def __init__(
        self, client: Any = None, patience: float | None = None, grace: float = 60.0
    ) -> None:
        if client is None:
            from distributed import default_client

            client = default_client()
        self.client, self.patience, self.grace = client, patience, grace
        self._direct: bool | None = None  # not known yet
        self.objects: list[Any] = []
        self._at: dict[int, str] = {}
        self._dead: set[str] = set()

    # ------------------------------------------------------------------ workers
    def _alive(self) -> dict[str, Any]:
        """Return the scheduler's view of the workers, by address."""
        if self.client.status != "running":
            raise ArboretumError(
                "the connection to the Dask scheduler has ended, and the fit with it: fit again with a new "
                "client, and resume=True if snapshots were saved"
            )
        return {w: about for w, about in self._listed().items() if w not in self._dead}

    def _listed(self) -> dict[str, Any]:
        """Return the workers that the scheduler lists now.

        `Client.scheduler_info` returns what the client keeps, which another thread of it may have replaced by
        a summary without workers.
        """
        client = self.client
        return client.sync(client.scheduler.identity, n_workers=-1)["workers"]

    def _wait_for_workers(self) -> dict[str, Any]:
        end = time.monotonic() + self.grace
        while not (found := self._alive()):
            if time.monotonic() > end:
                raise ArboretumError(
                    f"the Dask cluster has had no worker for {self.grace:g} seconds: start some"
                )
            time.sleep(0.1)
        return found

    def workers(self) -> list[Worker]:
        return [
            Worker(w, about["memory_limit"] or None, about["nthreads"])
            for w, about in sorted(self._wait_for_workers().items())
        ]

    def where(self, i: int) -> str:
        return f"Dask worker {self._at.get(i, '?')}"

    def _choose(self, i: int) -> tuple[str, int]:
        """Return a worker for object ``i``, the one with the fewest, and its threads."""
        alive = self._wait_for_workers()
        held = [w for j, w in self._at.items() if j != i]
        first = sorted(alive)
        w = min(first, key=lambda w: (held.count(w), (first.index(w) - i) % len(first)))
        self._at[i] = w
        return w, alive[w]["nthreads"]

    # ------------------------------------------------------------------ objects
    def start(self, i: int, maker: Callable[..., Any], arguments: tuple[Any, ...]) -> _Handle:
        from dask import is_dask_collection

        w, threads = self._choose(i)
        # a worker that dies meanwhile does not hold them up: others may compute them as well
        values = self.client.compute(
            [one for one in arguments if is_dask_collection(one)],
            workers=[w], allow_other_workers=True, sync=False,
        )  # fmt: skip
        found = iter(values)
        given = [next(found) if is_dask_collection(one) else one for one in arguments]
        future = self.client.submit(
            Host, threads, maker, *given, workers=[w], actor=True, pure=False
        )
        return _Handle(future, w)

    def stop(self, handle: _Handle) -> None:
        handle.future.release()

    def _is_lost(self, handle: _Handle) -> bool:
        return handle.future.status in ("error", "lost", "cancelled") or (
            handle.address not in self._alive()
        )

    def _died(self, handle: _Handle, why: object) -> Died:
        """Return the death; objects are placed on that worker again only if it lives."""
        end = time.monotonic() + _NOTICE
        while handle.address in self._listed():
            if time.monotonic() > end:
                return Died(str(why))
            time.sleep(0.02)
        self._dead.add(handle.address)
        return Died(str(why))

    def _wait_until_made(self, handle: _Handle) -> None:
        """Wait for the actor; an error of its partitions is raised as it is."""
        from distributed import wait

        while handle.future.status == "pending":
            if self._is_lost(handle):
                raise self._died(handle, "the worker was lost while its partitions were read")
            with suppress(TimeoutError):
                wait(handle.future, timeout=_LOOK)
        if handle.future.status == "finished":
            return
        error = handle.future.exception()
        if handle.address in self._alive() and not _is_about_workers(error):
            raise error
        raise self._died(handle, error)

    # ------------------------------------------------------------------ calls
    def send(self, i: int, handle: _Handle, name: str, arguments: tuple[Any, ...]) -> Future[Any]:
        self._wait_until_made(handle)
        if self._direct is None:
            self._direct = self._can_connect(handle)
        return self._execute(handle, "run", (name, arguments))

    def _execute(self, handle: _Handle, function: str, arguments: tuple[Any, ...]) -> Future[Any]:
        """Begin a call, as `distributed.Actor` does; but here every error ends it."""
        from distributed.protocol import to_serialize

        client, key = self.client, handle.future.key
        given = [to_serialize(one) for one in arguments]

        async def call() -> Any:
            if self._direct is not False:
                found = await client.rpc(handle.address).actor_execute(
                    function=function, actor=key, args=given, kwargs={}
                )
            else:
                message = {
                    "op": "actor_execute", "function": function, "actor": key, "args": given, "kwargs": {},
                }  # fmt: skip
                found = await client.scheduler.proxy(worker=handle.address, msg=message)
            if found["status"] != "OK":
                raise found["exception"]
            return found["result"]

        return asyncio.run_coroutine_threadsafe(call(), client.loop.asyncio_loop)

    def _can_connect(self, handle: _Handle) -> bool:
        """Return True if this process can connect to the worker; else the scheduler passes calls on."""
        sent = self._execute(handle, "ready", ())
        try:
            return sent.result(_DIRECT)
        except Exception:
            sent.cancel()
            return False

    def receive(self, i: int, sent: Future[Any]) -> Any:
        handle, began = self.objects[i], time.monotonic()
        while True:
            try:
                return reply_of(self._reply(handle, sent))
            except TimeoutError:
                if sent.done():
                    raise
            if self._is_lost(handle):
                sent.cancel()
                raise self._died(handle, "the worker was lost")
            if self.patience is not None and time.monotonic() - began > self.patience:
                sent.cancel()
                self._dead.add(handle.address)
                raise Died(f"no reply for {self.patience:g} seconds")

    def _reply(self, handle: _Handle, sent: Future[Any]) -> tuple[bool, Any]:
        try:
            return sent.result(_LOOK)
        except TimeoutError as error:
            if not sent.done():
                raise
            raise self._died(handle, error) from error  # of the connection
        except Exception as error:
            raise self._died(handle, error) from error


def _is_about_workers(error: Any) -> bool:
    """Whether Dask itself lost what it was to compute."""
    from distributed import CancelledError

    lost = isinstance(error, RuntimeError) and "was lost" in str(error)
    return error is None or lost or isinstance(error, CancelledError)
