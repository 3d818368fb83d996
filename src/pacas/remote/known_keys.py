"""The keys by which a provider is believed: the one that is known, and those that its published history joins to it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from pacas.errors import FileError, InputError, RemoteError
from pacas.remote.address import Address
from pacas.remote.connection import TIMEOUT, Certificate, Connection
from pacas.wire.connection_file import KEY_PATH

Ask = Callable[[], bytes]
"""Gets what a provider publishes of its keys."""


class KnownKeys:
    """Keys by their names. What is published is asked for when a name is not known; a forged history is an error.

    Without a `known` key the one that is published at first is believed. There may be nobody to ask.
    """

    def __init__(self, known: str | None, ask: Ask | None, where: str) -> None:
        self._known, self._ask, self._where = known, ask, where
        self._named: dict[str, str] = {}
        self._unknown: set[str] = set()
        """Names that were asked about in vain."""

    def meet(self) -> None:
        """See that who publishes keys has the one that is known, before money goes there: nobody else is to be paid."""
        if self._known is not None and not self._named:
            self._follow()

    def of(self, key_id: str) -> str:
        """The key of a name, in PEM; another one that is known, if none of that name is joined to it."""
        if not self._named and self._known is not None:
            self._named[import_module("pacas.wire.signatures").key_id(self._known)] = self._known
        if key_id not in self._named and key_id not in self._unknown:
            self._follow()
            self._unknown |= {key_id} - self._named.keys()
        return self._named.get(key_id, self.known)

    def _follow(self) -> None:
        if self._ask is None:
            return
        history: Any = import_module("pacas.wire.key_history")  # and so cryptography, which takes a moment to load
        try:
            published = history.read_published(self._ask(), self._where)
            self._named |= history.joined_keys(published, self._known, self._where)
        except InputError as error:
            raise RemoteError(str(error)) from None
        self._known = self._known or published.public_key

    @property
    def known(self) -> str:
        """The key that all others are joined to, in PEM."""
        if self._known is None:
            self._follow()
        assert self._known is not None
        return self._known


def asked(connection: Connection) -> Ask:
    return lambda: connection.ask("GET", KEY_PATH).content


def published_at(
    where: str, *, ca: Path | None = None, client_certificate: Certificate | None = None, insecure: bool = False
) -> bytes:
    """What the server at https://…/v1/key publishes, or a file has of that.

    A key over plain HTTP could be anybody's; `Address` refuses it, unless it is `insecure`, which a signed history
    can be.
    """
    if "://" not in where:
        try:
            return Path(where).read_bytes()
        except OSError as error:
            raise FileError(f"{where} cannot be read ({error.strerror}); give what {KEY_PATH} says") from None
    address = Address.parse(where.removesuffix("/").removesuffix(KEY_PATH), insecure=insecure)
    connection = Connection(
        address, None, timeout=TIMEOUT, patience=TIMEOUT, ca=ca, client_certificate=client_certificate
    )
    try:
        return asked(connection)()
    finally:
        connection.close()
