"""Where a provider answers: its URL, checked before anything is sent there."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from pacas.errors import InputError

SHAPE = "give it as https://host, with a port or a path if it has one"


class Address(NamedTuple):
    """A provider's URL without a slash at its end, and whether it is this very machine's."""

    url: str
    is_secure: bool
    is_loopback: bool

    @classmethod
    def parse(cls, url: str, *, insecure: bool = False) -> Address:
        """Read a URL. Requests hold a client's data and its token, so that plain HTTP must stay on the machine."""
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise InputError(f"{_shown(url)} is no URL; {SHAPE}") from None
        if "@" in parts.netloc:
            raise InputError(f"a provider's URL holds no name and no password; {SHAPE}, and the token apart from it")
        if parts.scheme not in ("https", "http"):
            raise InputError(f"{_shown(url)} is no URL of a provider; {SHAPE}")
        if not host or parts.query or parts.fragment or not url.isprintable() or " " in url:
            raise InputError(f"{_shown(url)} is no URL of a provider; {SHAPE}")
        address = cls(url.rstrip("/"), parts.scheme == "https", is_loopback(host))
        if not (address.is_secure or address.is_loopback or insecure):
            raise InputError(
                f"over http everybody on the way to {_shown(host)} could read the token and what is bought; give its "
                "https:// address (--insecure sends it nevertheless)"
            )
        return address


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, whatever its network is.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "192.168.0.7", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")
