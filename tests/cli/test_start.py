"""What a command loads: each in a process of its own, by the packages that it has imported at its end."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pacas.cli.main import COMMANDS, first_lines, load_commands
from pacas.protocol.receipt import Receipt
from pacas.server.signing_key import SigningKey
from pacas.wire.shapes.receipts import ReceiptDocument

PROGRAM = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
from pacas.cli.main import main
main()
"""

DATA = {"duckdb", "numpy", "pyarrow"}
SERVER = {"fastapi", "starlette", "uvicorn"}
WIRE = {"cryptography", "httpx"}
UNUSED = {"matplotlib", "pandas", "scipy"}


def loaded(*arguments: str, code: int = 0, **environment: str) -> set[str]:
    """The packages that a command has imported at its end, and our rooms."""
    line = [sys.executable, "-c", PROGRAM, *arguments]
    told = subprocess.run(line, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert told.returncode == code, told.stderr
    modules = json.loads(told.stderr.splitlines()[-1])
    return {name.partition(".")[0] for name in modules} | {".".join(name.split(".")[:2]) for name in modules}


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--version",)], ids=" ".join)
def test_the_help_of_all_commands_loads_none_of_them(arguments: tuple[str, ...]) -> None:
    assert not loaded(*arguments) & (DATA | SERVER | WIRE | UNUSED)


def test_the_completion_of_a_name_loads_no_command() -> None:
    assert not loaded(_PACAS_COMPLETE="complete_bash", COMP_WORDS="pacas ch", COMP_CWORD="1") & (
        DATA | SERVER | WIRE | UNUSED
    )


def test_a_check_loads_no_server_and_no_client_of_one(folder: Path) -> None:
    packages = loaded("check", "client.csv", "--fd", "GEN, DIAG -> MED", "--hierarchy", "MED=med.csv", code=1)
    assert not packages & (SERVER | WIRE | UNUSED)


def test_a_receipt_is_verified_without_data_and_without_a_client(folder: Path) -> None:
    signer = SigningKey.load_or_create(folder / "key.pem")
    receipt = signer.sign(Receipt("ann", "MED", {"GEN": "male"}, 1, "NSAID", 700_000_000, "k", 1, "0" * 64))
    (folder / "receipt.json").write_text(ReceiptDocument.of(receipt).model_dump_json())
    (folder / "public.pem").write_text(signer.public_key)
    assert not loaded("verify", "receipt.json", "--key", "public.pem") & (DATA | SERVER | UNUSED | {"httpx"})


@pytest.mark.parametrize(
    "arguments",
    [
        ("quote", "provider.toml", "--requests", "ladders.jsonl"),
        ("clean", "client.toml", "--provider", "provider.toml", "--budget", "2"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_provider_in_this_process_needs_no_wire(folder: Path, arguments: tuple[str, ...]) -> None:
    assert not loaded(*arguments) & (SERVER | WIRE | UNUSED)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("quote", "https://127.0.0.1:9", "--requests", "ladders.jsonl"),
        ("buy", "https://127.0.0.1:9", "--requests", "requests.jsonl"),
        ("clean", "client.toml", "--provider", "https://127.0.0.1:9", "--budget", "2"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_provider_at_a_url_loads_nothing_of_a_provider(folder: Path, arguments: tuple[str, ...]) -> None:
    packages = loaded(*arguments, code=2)
    assert not packages & (SERVER | UNUSED | {"pacas.provider", "pacas.server", "pacas.storage"})


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_lines_of_a_help_are_known_before_it_is_loaded(name: str) -> None:
    found = import_module(COMMANDS[name])
    does = getattr(found, "command", None) or getattr(found, "start", None)
    documented = inspect.cleandoc(found.app.info.help) if does is None else inspect.getdoc(does) or ""
    assert first_lines(name) == " ".join(documented.split("\n\n")[0].split()) != ""


def test_a_command_is_loaded_once() -> None:
    assert load_commands().load("check") is load_commands().load("check")


@pytest.mark.parametrize("what", ["columns", "hierarchies"])
def test_a_suggestion_loads_no_server_and_draws_nothing(folder: Path, what: str) -> None:
    assert not loaded("suggest", what, "sp.csv") & (SERVER | WIRE | {"matplotlib", "pandas"})
