"""Who is calling: tokens, checked in constant time, and what each role may do."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable
from time import monotonic, time

from pacas.provider.ledger.accounts import Account, Accounts, Role, token_hash
from pacas.server.http.failures import Failure
from pacas.server.http.http_call import HttpCall
from pacas.server.thread_pools import ThreadPool
from pacas.wire.shapes.failures import ErrorCode

STALE = 0.1
"""Seconds for which an account is believed to be what it was; never for a sale."""
LONGEST_TOKEN = 1000


class Authentication:
    """Finds the account of a token. Tokens are known by their SHA-256 only."""

    def __init__(
        self,
        accounts: Accounts,
        store: ThreadPool,
        clock: Callable[[], float] = monotonic,
        calendar: Callable[[], float] = time,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._accounts, self._store, self._clock, self._calendar = accounts, store, clock, calendar
        self._check = check
        """Raises where nobody is to be answered."""
        self._seen: dict[str, tuple[Account, float]] = {}
        self._asking: dict[str, asyncio.Future[Account]] = {}

    async def account(self, call: HttpCall, role: Role | None = None) -> Account:
        """The caller's account, as it was 100 ms ago or later; a Failure if it has none, or another role."""
        return await self.of(digest_of(call), call, role)

    async def of(self, digest: str, call: HttpCall, role: Role | None) -> Account:
        """The account of a token that a call brings, wherever it stands there."""
        if (account := self._recent(digest, call, role)) is not None:
            return account
        asking = self._asking.get(digest)
        if asking is None:  # calls that come at once are told by one answer
            asking = self._asking[digest] = asyncio.ensure_future(self._ask(digest))
            asking.add_done_callback(lambda done: self._asked(digest, done))
        return _admitted(await asyncio.shield(asking), call, role)

    async def _ask(self, digest: str) -> Account:
        asked = self._clock()
        account = await self._store.run(self.now, digest)
        self._seen[digest] = account, asked
        return account

    def _asked(self, digest: str, done: asyncio.Future[Account]) -> None:
        del self._asking[digest]
        if not done.cancelled():
            done.exception()  # is told to who waits, if anybody does still

    def recent(self, call: HttpCall, role: Role | None = None) -> Account | None:
        """The caller's account without waiting for the store; None if it was not asked in the last 100 ms."""
        return self._recent(digest_of(call), call, role)

    def _recent(self, digest: str, call: HttpCall, role: Role | None) -> Account | None:
        self._check()
        seen = self._seen.get(digest)
        if seen is None or self._clock() - seen[1] > STALE or seen[0].has_expired(self._calendar()):
            return None
        return _admitted(seen[0], call, role)

    def now(self, digest: str) -> Account:
        """The account of a token as it is at this moment; it asks the store, so not from the event loop."""
        account = self._accounts.by_token(digest)
        if account is None or not hmac.compare_digest(account.token_hash, digest) or account.revoked:
            self._seen.pop(digest, None)
            raise Failure.unauthorized()
        if account.has_expired(self._calendar()):
            raise Failure.expired()
        return account


def _admitted(account: Account, call: HttpCall, role: Role | None) -> Account:
    """An account that has the role which is needed, if any; the log will name it in either case.

    A token that is bound to a certificate is no token over any other connection.
    """
    if not account.accepts(call.certificate):
        raise Failure.unauthorized()
    call.scope["account"] = account.name
    if role is not None and account.role is not role:
        raise Failure(ErrorCode.FORBIDDEN, f"this needs an account of the role {role.value!r}")
    if role is None and account.role is Role.RECONCILE:
        raise Failure(ErrorCode.FORBIDDEN, "this token opens /reconcile/TOKEN, and nothing else")
    if role is None and account.role is Role.MEMBER:
        raise Failure(ErrorCode.FORBIDDEN, "this token opens /v1/circle, and nothing else")
    return account


def digest_of(call: HttpCall) -> str:
    """The hash of the token that a call brings."""
    return token_hash(_token(call))


def _token(call: HttpCall) -> str:
    scheme, _, token = call.header(b"authorization").partition(b" ")
    token = token.strip()
    if scheme.lower() != b"bearer" or not token or len(token) > LONGEST_TOKEN:
        raise Failure.unauthorized()
    return token.decode("latin-1")
