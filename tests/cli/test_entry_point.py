"""`pacas` as a shell calls it: help, version, exit codes, pipes and terminals."""

from __future__ import annotations

import importlib.metadata
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pacas.cli.main import load_commands, run
from pacas.cli.options import progress

PACAS = Path(sys.executable).with_name("pacas")

GROUPS = (("hierarchy",), ("account",), ("experiment",), ("suggest",), ("init",), ("key",), ("offer",))
"""Commands that are only the beginning of others."""


def paths(group: Any = None, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command and group of commands, the whole one included."""
    group = group or load_commands()
    below = [p for name, c in getattr(group, "commands", {}).items() for p in paths(c, (*path, name))]
    return [path, *below]


def test_there_are_commands() -> None:
    assert {(), ("demo",), ("check",), ("hierarchy",), ("hierarchy", "show")} <= set(paths())


@pytest.mark.parametrize("path", paths(), ids=" ".join)
def test_every_command_has_help_with_an_example_and_says_what_each_parameter_is(
    pacas: Any, path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = pacas(*path, "--help")
    assert (result.code, result.err) == (0, "")
    assert f"Usage: {' '.join(['pacas', *path])}" in result.out
    assert re.search(rf"Example: {' '.join(['pacas', *path])}\b", result.out)
    command = load_commands()
    for name in path:
        command = command.commands[name]
    for parameter in command.params:
        assert parameter.help and parameter.help in result.out
        assert (parameter.metavar or "") in result.out
    assert pacas(*path, "-h").out == result.out


@pytest.mark.parametrize("path", [path for path in paths() if path and path not in GROUPS], ids=" ".join)
def test_every_command_takes_json(pacas: Any, path: tuple[str, ...]) -> None:
    assert "--json" in pacas(*path, "--help").out


@pytest.mark.parametrize("path", [(), *GROUPS])
def test_a_group_of_commands_alone_shows_its_help(pacas: Any, path: tuple[str, ...]) -> None:
    result = pacas(*path)
    assert result.code == 0
    assert result.out.strip() == pacas(*path, "--help").out.strip()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash completes here, and there is none")
def test_a_shell_completes_commands_and_options_once_it_is_told_to(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{PACAS.parent}:{os.environ['PATH']}"}
    install = ["bash", "-c", "pacas --install-completion; exit $?"]
    subprocess.run(install, env=environment, check=True, capture_output=True, timeout=60)
    completing = """
    source "$HOME/.bashrc"
    for words in "pacas ch" "pacas hierarchy s" "pacas check --hi"; do
        COMP_WORDS=($words) COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
        _pacas_completion pacas
        echo "${COMPREPLY[@]}"
    done
    """
    told = subprocess.run(["bash", "-c", completing], env=environment, check=True, capture_output=True, timeout=60)
    assert told.stdout.decode().splitlines() == ["check", "show", "--hierarchy"]


def test_the_version_is_the_installed_one(pacas: Any) -> None:
    line = re.escape(f"pacas {importlib.metadata.version('pacas')}")
    assert re.fullmatch(rf"{line}( \(commit [0-9a-f]{{12}}\))?", pacas("--version").lines[0])


def test_python_runs_the_commands_as_a_module_too(folder: Path) -> None:
    arguments = [sys.executable, "-m", "pacas", "check", "client.csv", "--fd", "GEN -> MEED"]
    wrong = subprocess.run(arguments, capture_output=True, timeout=60, check=False)
    assert (wrong.returncode, wrong.stderr) == (2, b"pacas: no column 'MEED' in client.csv; did you mean 'MED'?\n")


def test_the_entry_point_says_what_is_wrong_and_shows_no_progress_without_a_terminal(folder: Path) -> None:
    arguments = [str(PACAS), "check", "client.csv", "--fd", "GEN -> MEED"]
    wrong = subprocess.run(arguments, capture_output=True, timeout=60, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert wrong.stderr == b"pacas: no column 'MEED' in client.csv; did you mean 'MED'?\n"


def test_json_survives_an_output_that_knows_only_ascii(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "d.csv").write_text("größe,B\n1,é\n1,y\n", "utf-8")
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
    assert run(["check", "d.csv", "--fd", "größe -> B", "--groups", "1", "--json"]) == 1
    (dependency,) = json.loads(out.getvalue().decode("ascii"))["dependencies"]
    assert dependency["fd"] == "größe -> B"
    assert dependency["violating_groups"][0]["rows"][0]["value"] == "é"


SHOW = ("hierarchy", "show", "large.csv", "--children", "8000")


@pytest.fixture
def large(folder: Path) -> None:
    """A hierarchy that prints more than a pipe holds."""
    (folder / "large.csv").write_text("".join(f"v{number:06};*\n" for number in range(8_000)))


@pytest.mark.usefixtures("large")
def test_a_reader_that_has_seen_enough_gets_no_traceback() -> None:
    with subprocess.Popen([PACAS, *SHOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("json_", [(), ("--json",)], ids=["for people", "json"])
def test_a_reader_that_is_gone_is_no_error(json_: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        assert run([*SHOW, *json_]) == 0


# ---- progress ----------------------------------------------------------------------------------------------------


def on_a_terminal(*arguments: str) -> tuple[int, bytes, bytes]:
    """Exit code, stdout (a pipe) and stderr (a terminal) of a command."""
    terminal, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen([PACAS, *arguments], stdout=subprocess.PIPE, stderr=end, env=environment)
    os.close(end)
    assert process.stdout is not None
    seen = bytearray()
    try:
        while chunk := os.read(terminal, 65_536):
            seen += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(terminal)
    with process:
        return process.wait(timeout=60), process.stdout.read(), bytes(seen)


def test_progress_is_shown_on_a_terminal_and_the_json_is_still_all_that_is_on_stdout(folder: Path) -> None:
    (folder / "d.csv").write_text("[/],[red]\n1,x\n1,y\n")
    code, out, seen = on_a_terminal("check", "d.csv", "--fd", "[/] -> [red]", "--groups", "1", "--json")
    assert code == 1
    assert out.count(b"\n") == 1
    assert json.loads(out)["rows"] == 2
    assert b"rows" not in seen
    assert re.search(rb"starting|reading d.csv|checking \[/\] -> \[red\]|finding", seen)
    assert b"Traceback" not in seen


def test_progress_shows_names_as_they_are_and_leaves_stdout_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    before = sys.stdout
    with progress() as tell:
        tell("checking [/] -> [red]\n")
        assert sys.stdout is before
    shown = capsys.readouterr()
    assert shown.out == ""
    assert r"checking [/] -> [red]\n" in shown.err


def test_an_error_of_ours_shows_its_kind_and_no_values(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("SECRET-1234")

    monkeypatch.setattr("pacas.cli.demo.values.check", broken)
    assert run(["demo"]) == 2
    assert capsys.readouterr().err == ("pacas: an error inside PACAS (KeyError); PACAS_TRACEBACK=1 shows where\n")


def test_a_terminal_that_lacks_a_character_gets_another_one(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [str(PACAS), "demo"], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("w") as full:
        command = [str(PACAS), "demo", "--json"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith("pacas: the system refused: No space left")
    assert "Traceback" not in done.stderr
