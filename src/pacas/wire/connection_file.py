"""Connection files (`buyer.pacas`): all that a buyer needs to reach a provider, for its owner's eyes only."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pacas.errors import FileError

KEY_PATH = "/v1/key"
"""Where a provider's server publishes its public key, and those before it."""
SUFFIX = ".pacas"
FORMAT = 1
_TEXTS = ("url", "account", "token", "public_key")


@dataclass(frozen=True, slots=True)
class ConnectionFile:
    """Where a provider answers, an account there and its token, until when it counts, and the provider's key."""

    url: str
    account: str
    token: str = field(repr=False)
    public_key: str
    """In PEM: receipts are to be signed with it."""
    expires: str | None = None
    """The moment, as ISO writes it, in UTC; None for a token that does not expire."""

    def write(self, path: Path) -> None:
        """Write it, readable by its owner only; what is there already stays."""
        content = json.dumps({"pacas": FORMAT, **asdict(self)}, indent=2) + "\n"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(content)
        except FileExistsError:
            raise FileError(f"{path} is there already; give another name for the connection file") from None
        except OSError as error:
            raise FileError(f"{path} cannot be written ({error.strerror})") from None

    def expired(self, now: float, name: str) -> str | None:
        """A line that says so, if its token counts no more."""
        if self.expires is None or datetime.fromisoformat(self.expires).timestamp() > now:
            return None
        return f"{name}: its token expired on {self.expires[:10]}; ask the provider for a new file"


def is_connection_file(named: str) -> bool:
    return named.lower().endswith(SUFFIX) and "://" not in named


def read_connection_file(path: Path) -> ConnectionFile:
    """A connection file, whole and well-formed; one that others can read is refused: its token spends money."""
    try:
        mode = path.stat().st_mode
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}); give the connection file of a provider") from None
    except (ValueError, RecursionError):
        raise _no_connection(path) from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise FileError(f"{path} can be read by others, and its token spends money; chmod 600 {path.name}")
    return _checked(document, path)


def _checked(document: Any, path: Path) -> ConnectionFile:
    if not isinstance(document, dict) or "pacas" not in document:
        raise _no_connection(path)
    if document["pacas"] != FORMAT:
        raise FileError(
            f"{path.name} is a connection file of another release; ask the provider for one of this release"
        )
    for name in _TEXTS:
        if not isinstance(document.get(name), str) or not document[name].strip():
            raise FileError(f"{path.name}: {name!r} is missing; ask the provider for the whole file")
    if not document["url"].startswith(("https://", "http://")):
        raise FileError(f"{path.name}: 'url' is no address, such as https://shop.example:8321")
    expires = document.get("expires")
    try:
        if expires is not None and datetime.fromisoformat(expires).tzinfo is None:
            raise ValueError
    except (TypeError, ValueError):
        raise FileError(f"{path.name}: 'expires' is no moment, such as 2027-02-15T12:00:00+00:00") from None
    return ConnectionFile(**{name: document[name] for name in _TEXTS}, expires=expires)


def moment(seconds: float) -> str:
    """A moment as the file has it.

    >>> moment(1_800_000_000)
    '2027-01-15T08:00:00+00:00'
    """
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()


def _no_connection(path: Path) -> FileError:
    return FileError(f"{path.name} is no connection file; pacas account add NAME provider.toml --profile writes one")
