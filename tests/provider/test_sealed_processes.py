"""Sealed providers in processes of their own: no process needs a private column to quote, and none needs the others."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sealed_process
from postgres import POSTGRES
from sealed_process import MATCH, PEOPLE, POLICIES, SEALING, TREES, answered, rows

import pacas
from pacas.errors import PacasError

SCRIPT = Path(sealed_process.__file__)
PRIVATE = ("JOB", "PAY")
EVERYBODY = {
    "JOB": {"ID": [*(f"p{i}" for i in range(PEOPLE)), "nobody", None]},
    "PAY": {"CITY": [*(f"c{i}" for i in range(8)), None]},
}
Asked = dict[str, Any]


class Process:
    """A provider in another process, asked line by line."""

    def __init__(self, *arguments: str) -> None:
        self._running = subprocess.Popen(
            [sys.executable, str(SCRIPT), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, asked: Asked) -> Any:
        assert self._running.stdin is not None and self._running.stdout is not None
        self._running.stdin.write(json.dumps(asked) + "\n")
        self._running.stdin.flush()
        return json.loads(self._running.stdout.readline())

    def end(self) -> None:
        self._running.communicate()


@contextmanager
def started(*arguments: str) -> Iterator[Process]:
    process = Process(*arguments)
    try:
        yield process
    finally:
        process.end()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sealed") / "people.parquet"
    pq.write_table(pa.table(rows()), path, compression="none")
    return path


def provider(path: Path) -> pacas.Provider:
    return pacas.Provider(
        pacas.scan_relation(path), match=MATCH, policies=POLICIES, hierarchies=TREES, total=1, sealing=SEALING
    )


# ---- what a quoter needs ---------------------------------------------------------------------------------------------


def without_private(path: Path, folder: Path) -> Path:
    made = folder / "public.parquet"
    pq.write_table(pq.read_table(path).drop_columns(PRIVATE), made)
    return made


def with_nonsense(path: Path, folder: Path) -> Path:
    table, made = pq.read_table(path), folder / "nonsense.parquet"
    for name in PRIVATE:
        table = table.set_column(table.column_names.index(name), name, pa.array(["nonsense"] * len(table)))
    pq.write_table(table, made)
    return made


def with_damaged_pages(path: Path, folder: Path) -> Path:
    """The same file, the bytes of its private columns written over: who reads them fails."""
    made, content = folder / "damaged.parquet", bytearray(path.read_bytes())
    for group in range(pq.ParquetFile(path).metadata.num_row_groups):
        columns = pq.ParquetFile(path).metadata.row_group(group)
        for place in range(columns.num_columns):
            column = columns.column(place)
            if column.path_in_schema in PRIVATE:
                start = column.dictionary_page_offset or column.data_page_offset
                content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    made.write_bytes(content)
    return made


def slow(make: Any) -> Any:
    return pytest.param(make, marks=pytest.mark.slow)


@pytest.mark.parametrize("how", ["held", "looked up"])
@pytest.mark.parametrize("make", [with_damaged_pages, slow(without_private), slow(with_nonsense)])
def test_a_process_that_has_no_private_column_quotes_the_same_bytes(
    file: Path, tmp_path: Path, make: Any, how: str
) -> None:
    whole, made = provider(file), make(file, tmp_path)
    with pytest.raises(PacasError):
        provider(made)
    with started("quote", str(made), how) as process:
        for attribute, tuples in EVERYBODY.items():
            asked = {"attribute": attribute, "tuples": tuples, "buyer": "ann"}
            assert process.ask(asked) == answered(whole, asked)


# ---- several processes -----------------------------------------------------------------------------------------------


def operations(seed: int, count: int) -> list[Asked]:
    chance = random.Random(seed)
    made: list[Asked] = []
    for number in range(count):
        buyer, attribute = chance.choice(["ann", "bob"]), chance.choice(PRIVATE)
        (column, values), level = (
            next(iter(EVERYBODY[attribute].items())),
            chance.randrange(TREES[attribute].height + 1),
        )
        asked = {"tuple": {column: chance.choice(values)}, "level": level, "key": f"{seed} {number}"}
        made.append({"attribute": attribute, "buyer": buyer} | asked)
        made += [{"attribute": a, "tuples": tuples, "buyer": buyer} for a, tuples in EVERYBODY.items()]
    return made


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'provider.ledger.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found


def test_buyers_of_two_processes_are_told_what_they_are_told_by_one_and_so_they_are_after_a_restart(
    file: Path, url: str
) -> None:
    """One holds its index, the other looks it up. Nobody refreshes: under `fixed` a sale changes nothing for others."""
    alone = provider(file)
    for seed, of in enumerate([("held", "looked up"), ("looked up", "held")]):
        with started("sell", str(file), of[0], url) as anns, started("sell", str(file), of[1], url) as bobs:
            for asked in operations(seed, 12):
                process = anns if asked["buyer"] == "ann" else bobs
                assert process.ask(asked) == answered(alone, asked)
