"""The processes that faults are tried on, and how many faults there are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest
from postgres import Cluster, running_cluster

from .processes import Launcher


@pytest.fixture(scope="session")
def faults(request: pytest.FixtureRequest) -> int | None:
    """How many faults are asked for; None for the few of the default run."""
    asked: int | None = request.config.getoption("--faults", None)
    return asked


@pytest.fixture(scope="session")
def tell(faults: int | None) -> Callable[[str], None]:
    """Shows progress, where it takes long."""
    return lambda line: None if faults is None else print(line, file=sys.stderr, flush=True)


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    with Launcher() as started:
        yield started


@pytest.fixture(scope="session")
def own_cluster() -> Iterator[Cluster]:
    """A PostgreSQL that may be killed."""
    pytest.importorskip("psycopg", reason="psycopg is not installed; pip install 'pacas[postgres]'")
    with running_cluster() as cluster:
        yield cluster
