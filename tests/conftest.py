"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ("lanes", "postgres", "scratch", "spark", "together")

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # commands that tests start are compiled once, not every time


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The directory of real datasets: $PACAS_DATA, or the one beside the project."""
    directory = Path(os.environ.get("PACAS_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not directory.is_dir():
        pytest.skip("no real datasets here; set PACAS_DATA to their directory")
    return directory


@pytest.fixture(scope="session", autouse=True)
def one_duckdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One DuckDB for all engines that are asked for without a limit, each of which has a connection of its own.

    To start one takes longer than most commands that tests run. An engine that says how many threads or how much memory
    it has, as those of the contracts do, and one in a process of its own start theirs.
    """
    from pacas.engine.duck import connection, engine  # here: who only hands tests out needs no engine

    start = connection.start_duckdb
    with closing(start(str(tmp_path_factory.mktemp("spill")))) as shared, pytest.MonkeyPatch.context() as patch:

        def connect(spill: str, **limits: Any) -> Any:
            is_limited = any(limit is not None for limit in limits.values())
            return start(spill, **limits) if is_limited else connection.prepared(shared.cursor())

        patch.setattr(engine, "start_duckdb", connect)
        yield
