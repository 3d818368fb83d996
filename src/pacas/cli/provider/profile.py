"""`--profile` of `pacas account add` and `token`: the connection file of a buyer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pacas.errors import InputError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.remote.address import Address
from pacas.server.signing_key import SigningKey
from pacas.wire.connection_file import SUFFIX, ConnectionFile, moment

UNITS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}


def seconds(given: str, option: str = "--expires") -> int:
    """How long a token counts.

    >>> seconds("90d")
    7776000
    """
    number, unit = given[:-1], given[-1:]
    if not (number.isascii() and number.isdigit() and 0 < len(number) < 6 and int(number)) or unit not in UNITS:
        raise InputError(f"{option} takes hours, days or weeks, such as 12h, 90d or 4w, not {given!r}")
    return int(number) * UNITS[unit]


@contextmanager
def written_profile(
    profile: Path | None, url: str | None, file: ProviderFile, name: str, ends: int | None, token: str
) -> Iterator[None]:
    """Write what the buyer needs before its token counts, and take it away if that fails: no token is lost."""
    if profile is None:
        if url is not None:
            raise InputError("--url is for the file of --profile; give both")
        yield
        return
    _connection(profile, url, file, name, ends, token).write(profile)
    try:
        yield
    except BaseException:
        profile.unlink()
        raise


def _connection(
    profile: Path, url: str | None, file: ProviderFile, name: str, ends: int | None, token: str
) -> ConnectionFile:
    """What the file will hold; everything that can be wrong with it is looked at."""
    if url is None:
        raise InputError("--profile needs --url: where the buyer finds the service, such as https://shop.example:8321")
    if profile.suffix != SUFFIX:
        raise InputError(f"--profile: end the name in {SUFFIX}, by which it is known")
    if profile.exists():
        raise InputError(f"{profile} is there already; give another name for the connection file")
    public = SigningKey.load_or_create(file.signing_key).public_key
    return ConnectionFile(Address.parse(url).url, name, token, public, None if ends is None else moment(ends))
