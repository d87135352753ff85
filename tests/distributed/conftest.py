"""One Dask and one Ray cluster for all tests of a process, each of three workers of one thread."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def _paths():
    """Let workers import the tests and the sources that are tested."""
    patch = pytest.MonkeyPatch()
    before = os.environ.get("PYTHONPATH")
    paths = [str(ROOT), str(ROOT / "src"), *([before] if before else [])]
    patch.setenv("PYTHONPATH", os.pathsep.join(paths))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def client(_paths):
    distributed = pytest.importorskip("distributed")
    import dask

    # on a busy machine a killed worker takes longer to start again than a local cluster waits for it
    dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    with cluster, distributed.Client(cluster) as found:
        yield found


@pytest.fixture(scope="session")
def ray(_paths):
    ray = pytest.importorskip("ray")
    ray.init(
        num_cpus=4, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000,
        logging_level="error",
    )  # fmt: skip
    yield ray
    ray.shutdown()
