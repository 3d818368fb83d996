"""Every command that reads a table takes `--encoding`, `--null` and `--sheet`, and reads by them what it would read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from pacas.cli.main import load_commands

ROWS = [("ID", "Ort", "Land"), *((f"{n}", f"Köln{n % 3}", f"DE{n % 3}") for n in range(12)), ("12", "Köln1", "")]
READ = [
    ("check", "t", "--fd", "Ort -> Land"),
    ("anonymity", "t", "--x", "Ort", "--y", "Land", "--k", "1"),
    ("distance", "t", "Land", "DE1", "DE2"),
    ("hierarchy", "build", "t", "Land", "prefix", "keep=2"),
    ("hierarchy", "check", "h.csv", "--data", "t", "--attribute", "Ort"),
    ("hierarchy", "show", "h.csv", "--data", "t", "--attribute", "Ort"),
    ("suggest", "fds", "t", "--json"),
    ("suggest", "columns", "t"),
    ("suggest", "hierarchies", "t"),
    ("suggest", "match", "t"),
    ("suggest", "policy", "t", "--x", "Land", "--y", "Ort"),
    ("errors", "t", "--output", "out", "--random", "0.2"),
    ("init", "client", "t", "--output", "new.toml"),
    ("init", "provider", "t", "--output", "new.toml"),
]


def all_commands(group: Any, said: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from all_commands(command, f"{said}{name} ")
        else:
            yield said + name, command


def test_every_command_that_reads_a_table_takes_them() -> None:
    reading = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in all_commands(load_commands())
        if any(parameter.metavar in ("DATA", "CLIENT.toml") for parameter in command.params)
    }
    assert {" ".join(words[: 1 + (words[0] in ("hierarchy", "suggest", "init"))]) for words in READ} <= set(reading)
    assert {"clean", "review"} <= set(reading)
    lacking = {name for name, options in reading.items() if not {"--encoding", "--null", "--sheet"} <= options}
    assert lacking == set()


def write_csv(path: Path, encoding: str, null: str) -> None:
    lines = (",".join(value or null for value in row) for row in ROWS)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))


def write_sheets(path: Path, *names: str) -> None:
    with xlsxwriter.Workbook(path) as book:
        for name in names:
            sheet = book.add_worksheet(name)
            for number, row in enumerate(ROWS if name == "places" else [("other",), ("1",)]):
                sheet.write_row(number, 0, row)


@pytest.mark.parametrize("words", READ, ids=[" ".join(words[:2]) for words in READ])
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_it_reads_the_same_table(
    pacas: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], kind: str
) -> None:
    command = [{"t": f"t.{kind}", "out": f"out.{kind}"}.get(word, word) for word in words]
    for name in ("plain", "odd"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "h.csv").write_text("".join(f"Köln{n};*\n" for n in range(3)))
    if kind == "csv":
        write_csv(tmp_path / "plain" / "t.csv", "utf-8", "")
        write_csv(tmp_path / "odd" / "t.csv", "latin-1", "NA")
        options = ["--encoding", "latin-1", "--null", "NA"]
    else:
        write_sheets(tmp_path / "plain" / "t.xlsx", "places")
        write_sheets(tmp_path / "odd" / "t.xlsx", "notes", "places")
        options = ["--sheet", "places"]
    monkeypatch.chdir(tmp_path / "plain")
    wanted = pacas(*command)
    monkeypatch.chdir(tmp_path / "odd")
    assert pacas(*command).code == 2
    told = pacas(*command, *options)
    assert (told.code, told.out) == (wanted.code, wanted.out) and wanted.code in (0, 1), told.err
    if "new.toml" in words:  # what was said is in the file that begins with it
        text = Path("new.toml").read_text()
        assert ('encoding = "latin-1"' in text and 'null = ["NA"]' in text) or 'sheet = "places"' in text
