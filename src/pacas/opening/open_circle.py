"""A provider's place in a circle, as its file describes it: the house, the members' secret, and its own name there."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pacas.errors import ConfigError, FileError, HouseError, InputError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.protocol.circle import CircleLine, CircleLines, House, check_secret
from pacas.provider.circle import Circle
from pacas.storage.url import open_house


def open_circle(file: ProviderFile, *, is_asked: bool = True) -> Circle | None:
    """The circle that a file names a house for; None where it names none. With `is_asked` off the house is left alone.

    `https://…` is a PACAS service that keeps one, `postgresql://…` a schema of a database.
    """
    given = file.circle
    if given.house is None:
        if given.secret or given.member or given.token:
            raise ConfigError(
                "circle.house: secret, member and token are for a clearing house; name it, or leave them out"
            )
        return None
    if given.secret is None or given.member is None:
        raise ConfigError("circle: a house needs secret, the file that all members have, and member, your name there")
    secret = _read(file.folder / given.secret, "circle.secret")
    try:
        check_secret(secret)
        return Circle(_house(file, given.house) if is_asked else _LeftAlone(), given.member, secret)
    except InputError as error:
        raise ConfigError(f"circle: {error}") from None


def _house(file: ProviderFile, url: str) -> House:
    if url.partition(":")[0].lower() in ("postgresql", "postgres"):
        return open_house(url)
    token = file.circle.token
    if token is None:
        raise ConfigError("circle.token: a house at a service needs the file with the token of your account there")
    opened = import_module("pacas.remote.http_house").HttpHouse  # takes a moment to load
    ca = None if file.circle.ca is None else file.folder / file.circle.ca
    house: House = opened(url, _read(file.folder / token, "circle.token").decode("ascii", "replace"), ca=ca)
    return house


def _read(path: Path, key: str) -> bytes:
    try:
        return path.read_bytes().strip()
    except OSError as error:
        raise FileError(f"{key}: {path.name} cannot be read ({error.strerror})") from None


class _LeftAlone:
    """A house that nobody asks: for who only looks at what was sold."""

    def read(self, key: str) -> CircleLines:
        raise HouseError("the clearing house is not asked here, so nothing is sold")

    def reserve(self, key: str, if_version: int, line: CircleLine) -> bool:
        raise HouseError("the clearing house is not asked here, so nothing is sold")

    def close(self) -> None:
        pass
