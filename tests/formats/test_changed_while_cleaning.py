"""A table that changes between being cleaned and being written: one line, and nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Source
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.files.folder import scan_folder
from pacas.errors import FileError, InputError
from pacas.formats.relations.cleaned import check_output, write_cleaned
from pacas.formats.relations.relations import scan_relation
from pacas.protocol.messages import Answer, Ladders, Offer

TREE = Hierarchy.flat(["good", "bad"])


class Shop:
    """Sells `good`, and lets somebody do something when it is paid."""

    def __init__(self, when_paid: Any) -> None:
        self._when_paid = when_paid

    def catalogue(self) -> dict[str, Offer]:
        return {"B": Offer("B", ("A",), TREE)}

    def quote(self, request: Any) -> Any:
        raise AssertionError

    def quote_batch(self, attribute: str, tuples: Any) -> Ladders:
        return Ladders(np.ones((len(list(tuples["A"])), 2), dtype=np.int64))

    def pay(self, request: Any, ceiling: int, key: str) -> Answer:
        self._when_paid()
        return Answer("good", request.level, 1)


def people(*rows: tuple[int, str, str]) -> pa.Table:
    return pa.table(
        {name: list(values) for name, values in zip(("ID", "A", "B"), zip(*rows, strict=True), strict=True)}
    )


FIRST = people((11, "x", "bad"), (12, "x", "good"), (13, "x", "good"))


def cleaned(source: Source, when_paid: Any) -> Any:
    return SafeClean("A -> B", 1, strategy="paper").clean(source, Shop(when_paid), engine=DuckEngine(threads=1))


def test_a_parquet_file_that_was_replaced_is_not_written_over_with(tmp_path: Path) -> None:
    file, output = tmp_path / "people.parquet", tmp_path / "clean.parquet"
    pq.write_table(FIRST, file)
    other = people((13, "x", "good"), (12, "x", "good"), (11, "x", "bad"), (10, "y", "bad"))
    cleaning = cleaned(scan_relation(file), lambda: pq.write_table(other, file))
    with pytest.raises(InputError, match=r"people.parquet has changed since it was first read"):
        write_cleaned(cleaning, output)
    assert not output.exists()


def test_a_folder_that_gains_a_file_is_not_written(tmp_path: Path) -> None:
    folder, output = tmp_path / "people", tmp_path / "clean"
    folder.mkdir()
    pq.write_table(FIRST, folder / "b.parquet")
    early = people((2, "z", "keep"))
    cleaning = cleaned(scan_folder(folder, ["ID"]), lambda: pq.write_table(early, folder / "a.parquet"))
    with pytest.raises(InputError, match="people has changed since it was first read"):
        write_cleaned(cleaning, output)
    assert not output.exists() and sorted(path.name for path in tmp_path.iterdir()) == ["people"]


def test_a_table_that_stays_is_written_with_its_types(tmp_path: Path) -> None:
    file, output = tmp_path / "people.parquet", tmp_path / "clean.parquet"
    pq.write_table(FIRST, file)
    write_cleaned(cleaned(scan_relation(file), lambda: None), output)
    assert pq.read_table(output).equals(people((11, "x", "good"), (12, "x", "good"), (13, "x", "good")))


@pytest.mark.parametrize("inside", [".", "sub", "YEAR=2030"])
def test_nothing_is_written_into_the_folder_that_is_read(tmp_path: Path, inside: str) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    pq.write_table(FIRST, folder / "b.parquet")
    with pytest.raises(FileError, match="is the table itself, or in it; give another --output"):
        check_output(folder / inside, scan_folder(folder, ["ID"]))


def test_files_of_a_folder_may_have_their_columns_in_any_order(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    pq.write_table(FIRST.select(["A", "B", "ID"]).slice(0, 0), folder / "a.parquet")
    pq.write_table(FIRST.select(["ID", "B", "A"]), folder / "b.parquet")
    engine = DuckEngine(threads=1)
    table = engine.open(scan_folder(folder, ["ID"]))
    found = engine.rows(table, None, ["ID", "A", "B"])
    assert found.to_pylist()[0] == {"ID": "11", "A": "x", "B": "bad"}
