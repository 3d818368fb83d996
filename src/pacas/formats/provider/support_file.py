"""Support sets in files: JSON lines, one neighbour a line, plain or compressed with gzip or Zstandard.

`{"ops": [{"set": 3, "values": {"MED": "naproxen"}}, {"delete": 4}, {"insert": {…}}], "weight": 0.1}`: row numbers are
R's, operations apply in order, and `weight` (credits) stands on all lines or on none. A number is read as its text, an
empty text as null. Values are the provider's, so no message shows one.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal, Inexact
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pacas.core.money import CREDIT, credits_text
from pacas.errors import FileError, did_you_mean
from pacas.formats.json_lines import MISTAKES, LineReader
from pacas.provider.support.edits import Neighbour, Values
from pacas.provider.support.support_set import GivenSupport
from pacas.provider.support.weights import MOST_TOTAL

SHAPE = '{"ops": [{"set": 3, "values": {…}}, {"delete": 4}, {"insert": {…}}], "weight": 0.1}'
LINE_KEYS = ("ops", "weight")
OPERATIONS = ("set", "insert", "delete")
_Change = dict[str, str | None] | None
"""A row's new values, or None if it is deleted."""

_NANOCREDIT = Decimal("1e-9")
_EXACTLY = Context(prec=30, traps=[Inexact])
_COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


def read_support(path: str | Path, columns: Sequence[str], rows: int) -> GivenSupport:
    """The neighbours in a file, for a relation with these columns and so many rows."""
    file = Path(path)
    reader = _Reader(file.name, columns, rows)
    try:
        with pa.input_stream(str(file), compression=_COMPRESSED.get(file.suffix.lower())) as stream:
            for number, line in enumerate(io.BufferedReader(stream), start=1):
                if not line.isspace():
                    reader.read(number, line)
    except (pa.ArrowException, OSError) as error:
        problem = getattr(error, "strerror", None) or str(error).split("\n", 1)[0][:200]
        raise FileError(f"{file} cannot be read ({problem}); give a support set as JSON lines") from None
    return reader.support()


class _Reader(LineReader):
    """Takes line after line, and knows which one it is at."""

    def __init__(self, name: str, columns: Iterable[str], rows: int) -> None:
        super().__init__(name)
        self._rows = rows
        self._columns = dict.fromkeys(columns)
        self._texts: dict[Any, str | None] = {}
        self._amounts: dict[Decimal | int, int] = {}
        self._neighbours: list[Neighbour] = []
        self._weights: list[int] = []
        self._json = json.JSONDecoder(parse_float=Decimal, parse_constant=self._constant).raw_decode
        self._strict_json = json.JSONDecoder(parse_constant=str, object_pairs_hook=self._object).raw_decode

    def support(self) -> GivenSupport:
        """The support set of all lines so far."""
        if not self._neighbours:
            raise FileError(f"{self._name} is empty; give at least one neighbour: {SHAPE}")
        if not self._weights:
            return GivenSupport(self._neighbours)
        if sum(self._weights) > MOST_TOTAL:
            raise FileError(f"{self._name}: the weights sum to more than {credits_text(MOST_TOTAL)} credits")
        return GivenSupport(self._neighbours, np.array(self._weights, dtype=np.int64))

    def read(self, number: int, line: bytes) -> None:
        """Read a line, which is one more neighbour."""
        self._number = number
        text = self._decoded(line)
        found = self._parsed(self._json, text)
        if type(found) is not dict:
            self._fail(f"a neighbour is one object, {SHAPE}")
        for key in found:
            if key not in LINE_KEYS:
                self._fail(f"unknown key {key!r}; {did_you_mean(key, LINE_KEYS)}")
        self._weigh(found)
        ops = found.get("ops")
        if type(ops) is not list:
            self._fail(f'"ops" must be a list of operations, as in {SHAPE}')
        self._neighbours.append(self._net(ops))
        if text.count(":") != _keys(found):  # a key that stands twice, or a colon in a value: look again
            self._parsed(self._strict_json, text)

    # ---- JSON ----------------------------------------------------------------------------------------------------

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode().removeprefix("\ufeff").strip()
        except UnicodeDecodeError as error:
            self._mistaken(error, SHAPE)

    def _parsed(self, parse: Callable[[str], tuple[Any, int]], text: str) -> Any:
        try:
            found, end = parse(text)
        except MISTAKES as error:
            self._mistaken(error, f"write one neighbour a line, {SHAPE}")
        if end < len(text):
            self._fail(f"something after the neighbour, at column {end + 1}; write one neighbour a line, {SHAPE}")
        return found

    # ---- operations ----------------------------------------------------------------------------------------------

    def _net(self, ops: list[Any]) -> Neighbour:
        """What a line's operations make of each row that they touch."""
        changed: dict[int, _Change] = {}
        inserted: list[Values] = []
        for op in ops:
            kind = self._operation(op)
            if kind == "insert":
                inserted.append(self._values(op["insert"], "insert"))
                continue
            row = self._row(op[kind])
            values = self._values(op["values"], "values") if kind == "set" else None
            if row in changed:
                values = self._after(row, changed[row], values)
            changed[row] = values
        return Neighbour(changed, tuple(inserted))

    def _after(self, row: int, before: _Change, now: _Change) -> _Change:
        """What two operations on a row do together."""
        if before is None and now is None:
            self._fail(f"row {row} is deleted twice; delete it once")
        if before is None:
            self._fail(f"row {row} is set after it is deleted; leave one of the two out")
        return None if now is None else before | now

    def _operation(self, op: Any) -> str:
        """Which operation it is; a mistake unless it is one, with all it needs and nothing else."""
        if type(op) is not dict:
            self._fail(f"an operation is an object, as in {SHAPE}")
        if len(op) == 2 and "set" in op and "values" in op:
            return "set"
        if len(op) == 1 and ("insert" in op or "delete" in op):
            return "insert" if "insert" in op else "delete"
        known = (*OPERATIONS, "values")
        for key in op:
            if key not in known:
                self._fail(f"unknown key {key!r} in an operation; {did_you_mean(key, known)}")
        kinds = [key for key in OPERATIONS if key in op]
        if len(kinds) > 1:
            self._fail(f'"{kinds[0]}" and "{kinds[1]}" in one operation; make it two')
        if kinds == ["set"]:
            self._fail('"set" without "values"; say which: {"set": 3, "values": {…}}')
        if kinds:
            self._fail(f'"values" goes with "set" only, not with "{kinds[0]}"')
        self._fail('an operation without "set", "insert" or "delete"; give one of them')

    def _row(self, row: Any) -> int:
        if type(row) is not int:  # true is an int, too
            self._fail("a row number must be a whole number; rows are counted from 0")
        if not 0 <= row < self._rows:
            there = f"rows are numbered from 0 to {self._rows - 1}" if self._rows else "the relation has no rows"
            self._fail(f"no row {row}; {there}")
        return row

    def _values(self, values: Any, key: str) -> dict[str, str | None]:
        if type(values) is not dict:
            self._fail(f'"{key}" must be an object of columns and their values')
        for column, value in values.items():
            if column not in self._columns:
                self._fail(f"no column {column!r}; {did_you_mean(column, self._columns)}")
            try:
                values[column] = self._texts[value]
            except (KeyError, TypeError):
                values[column] = self._text(column, value)
        return values

    def _text(self, column: str, value: Any) -> str | None:
        """A value as text, kept once however many neighbours have it."""
        text = super()._text(column, value)
        return self._texts.setdefault(value, text) if isinstance(value, str) else text

    # ---- weights -------------------------------------------------------------------------------------------------

    def _weigh(self, found: dict[str, Any]) -> None:
        given = "weight" in found
        if self._neighbours and given != bool(self._weights):
            here, there = ("a weight", "have none") if given else ("no weight", "have one")
            self._fail(f"{here} where the lines before {there}; give a weight on all lines or on none")
        if not given:
            return
        weight = found["weight"]
        if type(weight) is not Decimal and type(weight) is not int:  # true is an int, too
            self._fail('"weight" must be a number of credits')
        amount = self._amounts.get(weight)
        if amount is None:
            amount = self._amounts[weight] = self._amount(weight)
        self._weights.append(amount)

    def _amount(self, weight: Decimal | int) -> int:
        if weight < 0:
            self._fail("a negative weight; a neighbour weighs 0 or more")
        if weight > MOST_TOTAL // CREDIT:
            self._fail(f"a weight of more than {credits_text(MOST_TOTAL)} credits; write a smaller one")
        try:
            return int(Decimal(weight).quantize(_NANOCREDIT, context=_EXACTLY).scaleb(9))
        except Inexact:
            self._fail("a weight of more than nine decimals; a nanocredit is the least")


def _keys(line: dict[str, Any]) -> int:
    """How many keys a line has, those of its objects included."""
    keys = len(line)
    for op in line["ops"]:
        keys += len(op) + len(op.get("values", op.get("insert", ())))
    return keys
