"""A clearing house at a PACAS service, as a member asks it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from pacas.errors import HouseError, InputError, KeyReusedError, RemoteError
from pacas.protocol.circle import CircleLine, CircleLines
from pacas.remote.address import Address
from pacas.remote.connection import Connection
from pacas.wire.shapes.base import JSON
from pacas.wire.shapes.circle import CircleAnswer, CircleBody

PATIENCE = 10.0
"""Seconds that a sale waits for the house, and other sales of its provider with it."""


class HttpHouse:
    """A service that keeps lines; the token is that of an account of the role `member`, which is the member's name."""

    def __init__(
        self, url: str, token: str, *, ca: Path | None = None, insecure: bool = False, patience: float = PATIENCE
    ) -> None:
        address = Address.parse(url, insecure=insecure)
        self.url = address.url
        self._connection = Connection(
            address, token, timeout=PATIENCE, patience=patience, ca=ca, client_certificate=None
        )

    def __repr__(self) -> str:
        return f"HttpHouse({self.url!r})"

    def close(self) -> None:
        self._connection.close()

    def read(self, key: str) -> CircleLines:
        with self._faults():
            told = self._connection.ask("GET", f"/v1/circle/{key}")
            return CircleAnswer.model_validate_json(told.content).told()

    def reserve(self, key: str, if_version: int, line: CircleLine) -> bool:
        body = CircleBody(if_version=if_version, attribute=line.attribute, level=line.level)
        with self._faults():
            try:
                told = self._connection.ask(
                    "PUT", f"/v1/circle/{key}", body.model_dump_json().encode(), {"Content-Type": JSON}
                )
            except KeyReusedError:  # 409: somebody else has sold of the same person
                return False
            kept = CircleAnswer.model_validate_json(told.content).lines
            if (line.attribute, line.level) not in {(one.attribute, one.level) for one in kept}:
                raise RemoteError(f"{self.url} has not kept what it was told")
        return True

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (RemoteError, InputError, ValidationError) as error:
            said = "its answer is none" if isinstance(error, ValidationError) else str(error)
            raise HouseError(f"the clearing house cannot be asked, so nothing is sold: {said}") from None
