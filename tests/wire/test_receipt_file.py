"""Files with receipts: what is read without pydantic is what pydantic would read."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from pacas.errors import FileError
from pacas.protocol.receipt import Receipt
from pacas.protocol.tree_head import LoggedEntry, TreeHead
from pacas.server.signing_key import SigningKey
from pacas.wire.receipt_file import read_receipts
from pacas.wire.shapes.receipts import ReceiptDocument

RECEIPT = Receipt("ann", "MED", {"GEN": "male", "AGE": None}, 1, "NSAID", 700_000_000, "run:0", 3, "ab" * 32)
WHOLE, TIMED = (
    ReceiptDocument.of(SigningKey.generate().sign(replace(RECEIPT, time=time))).model_dump()
    for time in (None, 1_800_000_000)
)
HEAD = SigningKey.generate().sign_head(TreeHead(7, "ab" * 32, 1_800_000_000))
LOGGED = ReceiptDocument.of(
    replace(SigningKey.generate().sign(RECEIPT), logged=LoggedEntry(HEAD, ("cd" * 32, "ef" * 32)))
).model_dump()
DIGESTS: list[Any] = ["AB" * 32, "ab" * 31, "ab" * 32 + "\n", "é" * 64]
TEXTS: list[Any] = ["", "x", "\ud800", "\x00é", None]
NUMBERS: list[Any] = [True, 0, 1, 2, -1, 1.0, 2**70]
TUPLES: list[Any] = [[], {}, {"A": "x", "B": None}, {"A": 1}, {"A": "\udfff"}, {"\ud800": None}, {"A": {}}]


@pytest.mark.parametrize("whole", [WHOLE, TIMED], ids=["without a time", "timed"])
@pytest.mark.parametrize("member", [*TIMED, "more"])
@pytest.mark.parametrize("value", [*TEXTS, *NUMBERS, *TUPLES], ids=ascii)
def test_a_member_of_any_kind_is_read_or_refused_as_its_shape_says(
    whole: dict[str, Any], member: str, value: Any
) -> None:
    _agree(whole | {member: value})


@pytest.mark.parametrize("member", TIMED)
def test_a_member_that_lacks_is_told_as_its_shape_says(member: str) -> None:
    _agree({name: value for name, value in TIMED.items() if name != member})


@pytest.mark.parametrize("value", [*TEXTS, *NUMBERS, *TUPLES, []], ids=ascii)
def test_a_log_of_any_kind_is_read_or_refused_as_its_shape_says(value: Any) -> None:
    _agree(LOGGED | {"log": value})
    for member in (*LOGGED["log"], "more"):
        _agree(LOGGED | {"log": LOGGED["log"] | {member: value}})


@pytest.mark.parametrize("value", [*TEXTS, *NUMBERS, *TUPLES, *DIGESTS], ids=ascii)
def test_a_head_and_a_path_of_any_kind_are_read_or_refused_as_their_shapes_say(value: Any) -> None:
    log = LOGGED["log"]
    for member in (*log["head"], "more"):
        _agree(LOGGED | {"log": log | {"head": log["head"] | {member: value}}})
        _agree(LOGGED | {"log": log | {"head": {name: log["head"][name] for name in log["head"] if name != member}}})
    _agree(LOGGED | {"log": log | {"path": [*log["path"], value]}})


def _agree(document: dict[str, Any]) -> None:
    try:
        expected: Any = ReceiptDocument.model_validate(document).signed()
    except ValidationError as error:
        problem = error.errors()[0]
        expected = f"f: receipt 1 is not whole: {str(problem['loc'][0])!r}: {problem['msg'].lower()}"
    if "signature" not in document:
        expected = "f: number 1 in it is no receipt"
    try:
        (found,) = read_receipts(json.dumps(document).encode(), "f")
        assert found == expected
    except FileError as error:
        assert str(error).startswith(expected)


def test_a_receipt_is_read_and_verified_without_large_libraries() -> None:
    large = ("duckdb", "httpx", "numpy", "pyarrow", "pydantic", "starlette")
    imports = "import sys, pacas.wire.receipt_file, pacas.wire.signatures; "
    script = f"{imports}print(*(name for name in {large} if name in sys.modules))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []
