"""Where trials run: on this machine's cores, or on a Dask or Ray cluster, all through joblib."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dnfnet.compat import require
from dnfnet.exceptions import InvalidParameterError

BACKENDS = ("loky", "threading", "dask", "ray")


@contextmanager
def backend(name: str, n_jobs: int, address: str | None = None) -> Iterator[None]:
    """Make joblib use a backend within the block.

    Parameters
    ----------
    name : {"loky", "threading", "dask", "ray"}
        ``"dask"`` and ``"ray"`` need the packages ``distributed`` and ``ray``. The workers of a cluster must
        see the store and the data under the same paths.
    n_jobs : int
        Trials at a time.
    address : str, optional
        The scheduler of a running cluster; without one a cluster is started on this machine.
    """
    joblib = require("joblib", "paper")
    if name not in BACKENDS:
        raise InvalidParameterError(f"backend must be one of {', '.join(BACKENDS)}, however: {name!r}")
    if name == "dask":
        with _dask(n_jobs, address), joblib.parallel_config(backend="dask", n_jobs=n_jobs):
            yield
    elif name == "ray":
        with _ray(n_jobs, address), joblib.parallel_config(backend="ray", n_jobs=n_jobs):
            yield
    else:
        with joblib.parallel_config(backend=name, n_jobs=n_jobs):
            yield


@contextmanager
def _dask(n_jobs: int, address: str | None) -> Iterator[None]:
    distributed = require("distributed", "paper")
    local = {} if address else {"n_workers": n_jobs, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(address, **local):
        yield


@contextmanager
def _ray(n_jobs: int, address: str | None) -> Iterator[None]:
    ray = require("ray", "paper")
    register = require("ray.util.joblib", "paper").register_ray
    ray.init(address=address, num_cpus=None if address else n_jobs, include_dashboard=False, log_to_driver=False)
    try:
        register()
        yield
    finally:
        ray.shutdown()
