"""Connection files: written for their owner only, read whole or not at all."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pacas.errors import FileError
from pacas.wire.connection_file import ConnectionFile, is_connection_file, moment, read_connection_file

FILE = ConnectionFile("https://shop.example:8321", "ann", "secret", "-----BEGIN PUBLIC KEY-----", moment(1_800_000_000))


def test_it_reads_as_it_was_written_for_its_owners_eyes_only(tmp_path: Path) -> None:
    path = tmp_path / "ann.pacas"
    FILE.write(path)
    assert read_connection_file(path) == FILE
    assert path.stat().st_mode & 0o777 == 0o600
    assert "secret" not in repr(FILE)
    with pytest.raises(FileError, match="is there already"):
        replace(FILE, account="bob").write(path)
    assert read_connection_file(path).account == "ann"
    path.chmod(0o640)
    with pytest.raises(FileError, match=r"can be read by others, and its token spends money; chmod 600 ann\.pacas"):
        read_connection_file(path)


def test_it_is_known_by_its_name() -> None:
    assert is_connection_file("a/ann.pacas") and is_connection_file("ANN.PACAS")
    assert not is_connection_file("https://shop.pacas") and not is_connection_file("provider.toml")


def test_its_end() -> None:
    assert FILE.expired(1_799_999_999, "ann.pacas") is None
    assert replace(FILE, expires=None).expired(9e9, "ann.pacas") is None
    said = "ann.pacas: its token expired on 2027-01-15; ask the provider for a new file"
    assert FILE.expired(1_800_000_000, "ann.pacas") == said


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"pacas": 2}, "of another release"),
        ({"url": "shop"}, "'url' is no address"),
        ({"pacas": None}, "of another release"),
        ({"token": ""}, "'token' is missing"),
        ({"url": 3}, "'url' is missing"),
        ({"public_key": None}, "'public_key' is missing"),
        ({"expires": "soon"}, "'expires' is no moment"),
        ({"expires": "2027-01-15T08:00:00"}, "'expires' is no moment"),
        ({"expires": 5}, "'expires' is no moment"),
    ],
)
def test_bad_members(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    content = json.dumps({"pacas": 1, **asdict(FILE), **changed})
    assert said in complaint(tmp_path, content)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "url = 1", "[" * 100_000, "data = 'client.csv'\n"])
def test_other_files(tmp_path: Path, content: str) -> None:
    assert "is no connection file; pacas account add NAME" in complaint(tmp_path, content)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read_connection_file(tmp_path / "none.pacas")


def complaint(folder: Path, content: str) -> str:
    path = folder / "bad.pacas"
    path.write_text(content)
    os.chmod(path, 0o600)
    with pytest.raises(FileError) as error:
        read_connection_file(path)
    assert "\n" not in str(error.value) and "secret" not in str(error.value)
    return str(error.value)
