"""Files that are written beside their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacas.errors import FileError
from pacas.formats.replacing import check_writable, replacing


def test_trying_whether_a_file_can_be_written_leaves_another_runs_part_of_it_alone(tmp_path: Path) -> None:
    with replacing(tmp_path / "out.csv") as partial:
        partial.write_text("half of it")
        check_writable(tmp_path / "out.csv")
        assert partial.read_text() == "half of it"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_name_that_no_file_can_have_is_found_out(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        check_writable(tmp_path / f"{'x' * 300}.csv")
