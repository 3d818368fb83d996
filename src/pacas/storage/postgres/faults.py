"""What PostgreSQL complains about, in one clear line that names the ledger and no value and no password."""

from __future__ import annotations

import psycopg

from pacas.errors import StorageError
from pacas.storage.postgres.address import PostgresAddress

LOST = (
    "has lost its connection to PostgreSQL; what was under way is recorded whole or not at all: "
    "try again, a purchase with the same key"
)
_STATES = {
    "55P03": "is in use: another process has not finished its purchase in time; try again",
    "57014": "did not answer in time; nothing was recorded, try again",
    "53100": "cannot grow: the disk is full; nothing was recorded",
    "53300": "cannot be opened: PostgreSQL has as many connections as it allows; try again, or raise max_connections",
    "25006": "cannot be written: this PostgreSQL only reads, as a standby does",
    "42501": "may not be read and written by this user; grant it the schema, or CREATE on the database to make one",
    "42P01": "is no longer there, or not as it was made; restore a copy",
    "42703": "is no longer there, or not as it was made; restore a copy",
    "3F000": "is no longer there, or not as it was made; restore a copy",
    "XX001": "is damaged; keep it as it is, and go on with a copy from before",
    "XX002": "has a damaged index; REINDEX it, and verify the ledger then",
}
_GONE = ("08", "57P")
"""The classes of states in which a connection ends: its own, and the server's."""
_REFUSALS = {
    "password": "let nobody in with this user and password",
    "no pg_hba.conf entry": "lets nobody in with this user from here; see pg_hba.conf",
    "role ": "has no such user",
    "database ": "has no such database; createdb makes one",
    "refused": "is not running at this host and port",
    "could not translate host name": "cannot be found: no such host",
    "failed to resolve host": "cannot be found: no such host",
    "timeout": "did not answer in time",
    "starting up": "is still starting; try again",
    "shutting down": "is being stopped; try again later",
    "too many clients": "has as many connections as it allows; try again, or raise max_connections",
    "remaining connection slots": "has as many connections as it allows; try again, or raise max_connections",
    "No such file": "has no socket there; is it running?",
    "certificate": "and this side do not accept each other's certificates",
    "SSL": "and this side do not agree on TLS; see sslmode",
}


def fault(address: PostgresAddress, problem: str) -> StorageError:
    """The error for a ledger in PostgreSQL."""
    return StorageError(f"the ledger {address} {problem}")


def problem(error: psycopg.Error) -> str:
    """What is wrong with a statement. PostgreSQL's own words may quote values, so none is kept."""
    state = error.sqlstate
    if state is None:
        return "was used in a way that PostgreSQL does not allow"
    if state.startswith(_GONE):
        return LOST
    return _STATES.get(state, f"cannot be read or written (PostgreSQL's error {state})")


def refusal(error: psycopg.Error) -> str:
    """Why no connection could be made: libpq has no codes for it, so its words are looked through, and not kept."""
    said = str(error)
    because = next((why for words, why in _REFUSALS.items() if words in said), "cannot be reached, or lets nobody in")
    return f"cannot be opened: PostgreSQL {because}"
