"""Commands run in this process, in a folder that holds the running example's files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pacas.cli.demo.files import PAPER, write_files
from pacas.cli.main import run


class Outcome(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout, on one line, with nothing on stderr."""
        assert self.err == ""
        assert self.out.endswith("\n") and self.out.count("\n") == 1
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        assert self.err == ""
        return [line.rstrip() for line in self.out.splitlines()]

    @property
    def complaint(self) -> str:
        """The one line on stderr about bad input."""
        assert self.code == 2
        assert self.out == ""
        assert self.err.startswith("pacas: ") and self.err.endswith("\n") and self.err.count("\n") == 1
        assert "Traceback" not in self.err
        return self.err.removeprefix("pacas: ").rstrip("\n")


Pacas = Callable[..., Outcome]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the running example's files in it; its provider gives the paper's quotes."""
    write_files(tmp_path)
    (tmp_path / "provider.toml").write_text(PAPER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


@pytest.fixture
def pacas(folder: Path, capsys: pytest.CaptureFixture[str]) -> Pacas:
    """Run a command there."""

    def command(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = run(list(arguments))
        return Outcome(code, *capsys.readouterr())

    return command
