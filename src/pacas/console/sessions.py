"""Sessions of operators: a cookie after the token, kept in memory, which ends by itself.

What is kept of a cookie is its SHA-256, as of a token. A session belongs to the token that it was begun with: when the
token's account is revoked, or is an operator's no more, the session is worth nothing.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from pacas.provider.ledger.accounts import new_token, token_hash

IDLE = 30 * 60.0
"""Seconds without a call after which a session has ended."""
LONGEST = 12 * 3600.0
"""Seconds after which it has ended in any case."""


@dataclass(eq=False)
class OperatorSession:
    """One operator in one browser."""

    token_hash: str = field(repr=False)
    """Of the operator's token, by which its account is looked up anew for each call."""
    csrf: str = field(repr=False)
    """What every form of this session brings along, and nobody else's page can know."""
    begun: float
    seen: float
    notices: list[tuple[str, str]] = field(default_factory=list, repr=False)
    """Lines for the next page, each with its kind."""

    def is_own(self, given: str) -> bool:
        """Whether a form comes from a page of this session."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.csrf.encode())

    def say(self, text: str, kind: str = "ok") -> None:
        self.notices.append((text, kind))

    def told(self) -> list[tuple[str, str]]:
        """What is to be said, once."""
        told, self.notices = self.notices, []
        return told


class Sessions:
    """All sessions that are open."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = Lock()
        self._open: dict[str, OperatorSession] = {}

    def begin(self, digest: str) -> tuple[str, OperatorSession]:
        """A new session of who has brought a token with this hash, and the cookie that it is known by."""
        now = self._clock()
        cookie, session = new_token(), OperatorSession(digest, secrets.token_urlsafe(32), now, now)
        with self._lock:
            for key in [key for key, one in self._open.items() if self._has_ended(one, now)]:
                del self._open[key]
            self._open[token_hash(cookie)] = session
        return cookie, session

    def find(self, cookie: str) -> OperatorSession | None:
        """The session of a cookie, if it has not ended."""
        now, key = self._clock(), token_hash(cookie)
        with self._lock:
            session = self._open.get(key)
            if session is None:
                return None
            if self._has_ended(session, now):
                del self._open[key]
                return None
            session.seen = now
            return session

    def end(self, session: OperatorSession) -> None:
        with self._lock:
            self._open = {key: one for key, one in self._open.items() if one is not session}

    def _has_ended(self, session: OperatorSession, now: float) -> bool:
        return now - session.seen > IDLE or now - session.begun > LONGEST
