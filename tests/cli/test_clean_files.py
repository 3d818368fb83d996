"""`pacas clean` on files that people have: workbooks, other encodings, markers of nulls."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from pacas import read_relation, write_relation

CLEAN = ("clean", "client.toml", "--provider", "provider.toml", "--budget", "2", "--strategy", "paper")


def expected(pacas: Any, folder: Path) -> dict[str, list[str]]:
    """What becomes of the example's own file."""
    assert pacas(*CLEAN, "--output", "plain.csv").code == 0
    return read_relation(folder / "plain.csv").table.to_pydict()


def test_a_workbook_becomes_a_workbook_or_anything_else(pacas: Any, folder: Path) -> None:
    wanted = expected(pacas, folder)
    write_relation(read_relation("client.csv"), folder / "client.xlsx")
    (folder / "client.toml").write_text((folder / "client.toml").read_text().replace("client.csv", "client.xlsx"))
    for output in (None, "out.csv", "out.parquet"):
        assert pacas(*CLEAN, *(() if output is None else ("--output", output))).code == 0
        assert read_relation(folder / (output or "client.clean.xlsx")).table.to_pydict() == wanted
    assert "no sheet 'x'" in pacas(*CLEAN, "--sheet", "x").complaint


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_text_or_parquet_file_becomes_a_workbook(
    pacas: Any, folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = expected(pacas, folder)
    write_relation(read_relation("client.csv"), folder / f"client2.{kind}")
    (folder / "client.toml").write_text((folder / "client.toml").read_text().replace("client.csv", f"client2.{kind}"))
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "xlsxwriter", None)
        told = pacas(*CLEAN, "--output", "out.xlsx")
        assert told.complaint.endswith("install pacas[excel]") and not (folder / "out.xlsx.journal").exists()
    assert pacas(*CLEAN, "--output", "out.xlsx").code == 0
    assert read_relation(folder / "out.xlsx").table.to_pydict() == wanted


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_cells_are_read_in_the_tables_encoding_or_in_utf_8(pacas: Any, folder: Path, encoding: str) -> None:
    table = (folder / "client.csv").read_text().replace('"t6"', '"té6"')
    (folder / "client.csv").write_bytes(table.encode("latin-1"))
    (folder / "cells.csv").write_bytes("ID,attribute\nté6,MED\n".encode(encoding))
    named = pacas(*CLEAN, "--encoding", "latin-1", "--cells", "cells.csv", "--key", "ID", "--dry-run")
    assert (named.code, named.err) == (0, "")
    (folder / "cells.csv").write_bytes("ID,attribute\nté7,MED\n".encode(encoding))
    assert (
        "such as ID = 'té7'" in pacas(*CLEAN, "--encoding", "latin-1", "--cells", "cells.csv", "--key", "ID").complaint
    )


def test_options_and_the_clients_file_say_how_a_text_is_read(pacas: Any, folder: Path) -> None:
    text = (folder / "client.csv").read_text().replace("t8", "tä8").replace('"dolex"', '"NA"')
    (folder / "client.csv").write_bytes(text.encode("latin-1"))
    assert "bytes that are not UTF-8; say how it is encoded" in pacas(*CLEAN).complaint
    assert pacas(*CLEAN, "--encoding", "latin-1", "--null", "NA", "--output", "a.csv").code == 0
    client = (folder / "client.toml").read_text()
    (folder / "client.toml").write_text('encoding = "latin-1"\nnull = "NA"\n' + client)
    assert pacas(*CLEAN, "--output", "b.csv").code == 0
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert "tä8".encode("latin-1") in (folder / "a.csv").read_bytes()
    assert (folder / "a.csv").read_text("latin-1").count('"NA"') == 2
    (folder / "client.toml").write_text("encoding = 3\n" + client)
    assert "'encoding': give the text's, as in encoding" in pacas(*CLEAN).complaint


def test_a_providers_table_may_be_a_workbook_or_in_another_encoding(pacas: Any, folder: Path) -> None:
    write_relation(read_relation("sp.csv"), folder / "sp.xlsx")
    provider = (folder / "provider.toml").read_text()
    wanted = pacas("catalogue", "provider.toml", "--json").out
    (folder / "provider.toml").write_text(provider.replace('data = "sp.csv"', 'data = "sp.xlsx"\nsheet = "Sheet1"'))
    assert pacas("catalogue", "provider.toml", "--json").out == wanted
    (folder / "provider.toml").write_text(provider.replace('data = "sp.csv"', 'data = "sp.csv"\nencoding = "klingon"'))
    assert "no encoding 'klingon'" in pacas("catalogue", "provider.toml").complaint


def test_what_only_files_have_is_not_said_of_folders(pacas: Any, folder: Path) -> None:
    (folder / "lake").mkdir()
    said = pacas("check", "lake", "--fd", "A -> B", "--key", "ID", "--null", "NA").complaint
    assert "an encoding, markers of nulls and a sheet are of files" in said
