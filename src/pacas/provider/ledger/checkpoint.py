"""Checkpoints: what is known of the entries up to a head, signed, so that a start need not read them all again.

A checkpoint is a shortcut and no evidence: an audit reads the whole chain and none of them. It holds who has bought
which cells at which levels, and no answer. One that is damaged, forged, of another key, ledger, kind of sales or
release is not there. One that holds, of a head that the ledger does not hold, shows that the ledger went back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from typing import Any, NamedTuple, Protocol

from pydantic_core import from_json, to_json

from pacas.errors import StorageError
from pacas.provider.ledger.chain import Head

LEAST = 1000
"""Entries that are read as fast as a checkpoint is."""
SHARE = 16
"""One is kept when a sixteenth of all entries came since: who starts then reads few, and all that are ever kept take
time linear in the ledger's length."""


class Checkpoint(NamedTuple):
    """All that is known of the entries up to a head, in values that JSON has."""

    opening: str
    """The hash of entry 0, which stands for the relation, the terms and the seed."""
    kind: str
    """Of the sales that know it."""
    head: Head
    kept: dict[str, Any]


class Signer(Protocol):
    """Who vouches for a checkpoint: the provider's key."""

    def sign_checkpoint(self, text: bytes) -> str: ...

    def has_signed_checkpoint(self, text: bytes, signature: str) -> bool: ...


class CheckpointStore(Protocol):
    """Where the last checkpoint is kept: in the ledger's own database."""

    def last(self) -> tuple[str, str] | None:
        """Its text and its signature."""

    def keep(self, text: str, signature: str) -> None:
        """Keep this one in place of the last: whole, or not at all."""

    def close(self) -> None:
        """Let go of the store."""


class Checkpoints:
    """The checkpoints of one ledger. Store and key are asked for when they are needed; there may be no key yet."""

    def __init__(
        self, store: Callable[[], CheckpointStore], signer: Callable[[], Signer | None], least: int = LEAST
    ) -> None:
        self._store, self._signer, self._least = store, signer, least
        self._kept = 0
        """How many entries the last one was about, as far as is known here."""

    def read(self, opening: str, kind: str) -> Checkpoint | None:
        """The last one, if it can be relied on."""
        with suppress(StorageError, ValueError, TypeError):
            found, signer = self._last(), self._signer()
            if found is None or signer is None:
                return None
            text, signature = found[0].encode(), found[1]
            if signer.has_signed_checkpoint(text, signature):
                form, *named, head, kept = from_json(text)
                if [form, *named] == [_form(), opening, kind]:
                    self._kept = head[0]
                    return Checkpoint(opening, kind, Head(*head), kept)
        return None

    def may_be_there(self, head: Head) -> bool:
        """Are there so many entries that one is worth looking for?"""
        return head.entries >= self._least

    def is_due(self, head: Head) -> bool:
        """Have so many entries come since the last one that another is worth its time?"""
        return head.entries - self._kept >= max(self._least, head.entries // SHARE)

    def keep(self, checkpoint: Checkpoint) -> None:
        """Sign and keep one. Where that cannot be done only time is lost, and it is tried again when it is due."""
        self._kept = checkpoint.head.entries
        with suppress(StorageError):
            if (signer := self._signer()) is not None:
                text = to_json([_form(), *checkpoint])
                store = self._store()
                try:
                    store.keep(text.decode(), signer.sign_checkpoint(text))
                finally:
                    store.close()

    def _last(self) -> tuple[str, str] | None:
        store = self._store()
        try:
            return store.last()
        finally:
            store.close()


def _form() -> str:
    """What is kept, and how it is numbered, is a matter of the release."""
    return f"pacas checkpoint 1, {version('pacas')}"
