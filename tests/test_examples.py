"""The examples run as they are, need nothing but the front door, and print what they promise."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))

SHOWN = {
    "clean_a_table": [
        "violations: 5 before, 1 after",
        "spent: 0.5 of 2.0 credits",
        "bought: transport, by asking about p6",
        "cells repaired: 1 for nothing, 1 by what was bought",
        "p3  welder -> nurse",
        "p5  driver",
        "p6  surgeon -> transport",
        "row 2, occupation: 'welder' was given, 'nurse' stands there now",
        "written: 'nurse', by the client's own evidence; nothing was bought for it",
        "p4  pilot, or any other transport (98% sure)",
        "Score(repair error 8.056 before and 1.217 after, precision 0.500, recall 0.333, F1 0.400)",
    ],
    "sell_values": [
        "Provider(5 rows, sells occupation)",
        "Cleo     unsafe      0.61      0.39      0.00",
        "ann buys: 'health' for 0.61",
        "ann asks again: 0.00",
        "bob asks for the occupation itself: unsafe",
    ],
}


def test_every_example_is_looked_at() -> None:
    assert {script.stem for script in SCRIPTS} == set(SHOWN)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_prints_what_it_promises(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in SHOWN[script.stem] if line not in lines] == []
    assert list(tmp_path.iterdir()) == [], "an example leaves nothing behind"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_imports_pacas_alone(script: Path) -> None:
    imports = [node for node in ast.walk(ast.parse(script.read_text("utf-8"))) if isinstance(node, ast.Import)]
    froms = [node for node in ast.walk(ast.parse(script.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
    assert [alias.name for node in imports for alias in node.names] == ["pacas"]
    assert froms == []
