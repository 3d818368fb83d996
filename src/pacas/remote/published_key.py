"""A provider's public key, as its server publishes it."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from pacas.remote.address import Address
from pacas.remote.connection import TIMEOUT, Certificate, Connection, no_provider
from pacas.wire.shapes import KeyAnswer
from pacas.wire.signatures import KEY_PATH, checked_key


def published_key(url: str, *, ca: Path | None = None, client_certificate: Certificate | None = None) -> str:
    """The key that the server at https://…/v1/key publishes, in PEM.

    A key over plain HTTP could be anybody's; `Address` refuses it.
    """
    address = Address.parse(url.removesuffix("/").removesuffix(KEY_PATH))
    connection = Connection(
        address, None, timeout=TIMEOUT, patience=TIMEOUT, ca=ca, client_certificate=client_certificate
    )
    try:
        answer = KeyAnswer.model_validate_json(connection.ask("GET", KEY_PATH).content)
    except ValidationError:
        raise no_provider(address.url) from None
    finally:
        connection.close()
    return checked_key(answer.public_key, url)
