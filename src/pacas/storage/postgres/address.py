"""Where in PostgreSQL a ledger is: a schema of a database, by a URL. What is shown of it holds no password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import parse_qsl, quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from pacas.errors import ConfigError

LEDGER = "pacas"
"""The ledger, where a URL names none."""
WRITTEN = "postgresql://user:password@host:5432/database?ledger=pacas"

_NAME = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
_TAKEN = ("public", "information_schema")


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """A database, and the schema in it that a ledger has for itself."""

    ledger: str
    parameters: dict[str, str | int | None] = field(repr=False)
    """What libpq connects with, a password perhaps included."""

    @classmethod
    def parse(cls, url: str) -> PostgresAddress:
        """Read `postgresql://user:password@host:port/database?ledger=NAME`; other options are libpq's own."""
        address, _, options = url.partition("?")
        _check_address(address)
        given = parse_qsl(options.replace("+", "%2B"), keep_blank_values=True)  # libpq takes + for itself
        names = [value for name, value in given if name == "ledger"] or [LEDGER]
        _check_name(names)
        rest = urlencode([(name, value) for name, value in given if name != "ledger"], quote_via=quote)
        try:
            parameters = conninfo_to_dict(f"{address}?{rest}" if rest else address)
        except (psycopg.Error, ValueError):  # what they say may quote a password
            raise ConfigError(f"ledger.url: PostgreSQL can't read this URL; it is written {WRITTEN}") from None
        return cls(names[0], parameters)

    @classmethod
    def beside(cls, url: str, what: str) -> str:
        """The URL of another schema of the same database, named after a ledger's own."""
        address, _, options = url.partition("?")
        kept = [part for part in options.split("&") if part and not part.startswith("ledger=")]
        return f"{address}?{'&'.join([*kept, f'ledger={cls.parse(url).ledger}_{what}'])}"

    def __str__(self) -> str:
        host = self.parameters.get("host") or self.parameters.get("hostaddr") or "the default host"
        return f"{self.ledger} in the database {self.parameters.get('dbname') or '(default)'} at {host}"

    @property
    def digest(self) -> str:
        """A short name of the database that the ledger is in, which tells nothing of it."""
        where = [str(self.parameters.get(name)) for name in ("host", "hostaddr", "port", "dbname")]
        return sha256("\n".join(where).encode()).hexdigest()[:8]

    @property
    def lock(self) -> int:
        """The number of the advisory lock that a writer of this ledger holds."""
        digest = sha256(b"pacas ledger " + self.ledger.encode()).digest()
        return int.from_bytes(digest[:8], "big", signed=True)


def _check_address(address: str) -> None:
    """A password is told from the host, which is shown, by the only @ there is."""
    before, _, after = address.partition("://")[2].partition("@")
    if "@" in after or ("/" in before and "@" in address):
        raise ConfigError("ledger.url: percent-encode @ and / in the password (%40, %2F), or give it as PGPASSWORD")


def _check_name(names: list[str]) -> None:
    if len(names) > 1 or names[0] in _TAKEN or not _NAME.fullmatch(names[0]):
        raise ConfigError(
            "ledger.url: ledger= takes one name of at most 63 small letters, digits and _, such as pacas; "
            "it becomes a schema of the database, and public is not one for a ledger"
        )
