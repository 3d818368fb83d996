"""A provider's public key, from a file or from its server."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from pacas.errors import FileError, InputError
from pacas.remote.address import Address
from pacas.remote.connection import Certificate, Connection
from pacas.remote.errors import no_provider
from pacas.remote.remote_provider import TIMEOUT
from pacas.wire.shapes import KeyAnswer
from pacas.wire.signatures import read_public_key

PATH = "/v1/key"


def public_key(named: str, *, ca: Path | None = None, client_certificate: Certificate | None = None) -> str:
    """The key that a file holds, or that the server at https://…/v1/key publishes, in PEM."""
    pem = _published(named, ca, client_certificate) if "://" in named else _in_file(named)
    if "PRIVATE KEY" in pem:
        raise InputError(f"{named} holds a private key, which only the provider should have; give the public one")
    try:
        read_public_key(pem)
    except InputError as error:
        raise InputError(f"{named}: {error}") from None
    return pem


def _in_file(path: str) -> str:
    try:
        return Path(path).read_text("ascii")
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}); give the provider's public key") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not a key in PEM; the provider's is at its {PATH}") from None


def _published(url: str, ca: Path | None, client_certificate: Certificate | None) -> str:
    """A key over plain HTTP could be anybody's; `Address` refuses it."""
    address = Address.parse(url.removesuffix("/").removesuffix(PATH))
    connection = Connection(
        address, None, timeout=TIMEOUT, patience=TIMEOUT, ca=ca, client_certificate=client_certificate
    )
    try:
        return KeyAnswer.model_validate_json(connection.ask("GET", PATH).content).public_key
    except ValidationError:
        raise no_provider(address.url) from None
    finally:
        connection.close()
