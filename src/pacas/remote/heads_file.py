"""Heads of a provider's log that were seen, one JSON line each: what a later head must have grown out of."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from pacas.errors import FileError
from pacas.protocol.tree_head import SignedTreeHead
from pacas.wire.shapes.receipts import TreeHeadDocument


class HeadsFile:
    """A file that heads are added to, and never taken from."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[SignedTreeHead]:
        """All heads in it, in order; none if there is no file yet."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise FileError(f"{self.path} cannot be read ({error.strerror})") from None
        try:
            return [TreeHeadDocument.model_validate_json(line).signed() for line in lines if line.strip()]
        except ValidationError:
            raise FileError(f"{self.path} holds something else than heads of a log, a JSON object a line") from None

    def add(self, signed: SignedTreeHead) -> None:
        """Add a head, durably."""
        try:
            with self.path.open("ab") as file:
                file.write(TreeHeadDocument.of(signed).model_dump_json().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(f"{self.path} cannot be written ({error.strerror}); name another file") from None
