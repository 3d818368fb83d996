"""A server that is killed over and over while several clients buy, and what must be true afterwards.

A kill is aimed: at the sight of an answer; or some calls after the clients began, and then a part of the time that a
purchase takes here, so that most of them meet one. Some kills meet a server before it listens, and some end PostgreSQL
instead, which leaves the server to find it again.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from postgres import Cluster

from .literal_replay import check_ledger
from .orders import PATIENCE, PAUSE, OrderingClient
from .processes import Launcher, Server
from .rounds import Round
from .shops import Shop, fragile_world, open_shop

BUYERS = ("ann", "bob", "cyd")
LIMITS = {"bob": 50_000_000}
"""What some of them may spend."""
EACH = 2
"""Clients of each account."""
EPISODE = 10
"""Kills after which the ledger is judged, and the next one begun."""


@dataclass
class Tally:
    """What happened, added up."""

    kills: int = 0
    hits: int = 0
    """Kills that cut a call."""
    starting: int = 0
    """Kills of a server that did not listen yet."""
    postgres: int = 0
    """Crashes of PostgreSQL, which leave the server; they come on top of the kills."""
    episodes: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def add(self, client: OrderingClient) -> None:
        seen = client.seen
        self.counts.update(
            acknowledged=len(client.acknowledged),
            calls=seen.calls,
            retried=seen.retried,
            recovered=seen.recovered,
            unavailable=seen.unavailable,
            again=seen.again,
        )
        self.refused.update(seen.refused)

    def cut(self, calls: int) -> None:
        """A kill cut so many calls."""
        self.hits += calls > 0
        self.counts["cut"] += calls

    def __str__(self) -> str:
        counts = self.counts
        return (
            f"{self.kills} kills of the server ({self.hits} cut calls under way, {self.starting} before it listened) "
            f"and {self.postgres} of PostgreSQL, {self.episodes} ledgers; "
            f"{counts['calls']} calls, {counts['cut']} cut, {counts['unavailable']} told to come back, "
            f"{counts['retried']} answered on another try; "
            f"{counts['acknowledged']} purchases acknowledged, {counts['recovered']} of them sold before a kill and "
            f"answered after it; {counts['again']} calls made once more at the end; refused: {dict(self.refused)}"
        )


def crash(
    launcher: Launcher,
    folder: Path,
    ledger_url: Callable[[int], str],
    kills: int,
    tell: Callable[[str], None],
    cluster: Cluster | None = None,
) -> Tally:
    """Kill servers, so many times in all, ledger after ledger. A `cluster` is crashed now and then, too."""
    tally = Tally()
    while tally.kills < kills:
        number = tally.episodes
        world = fragile_world(number)
        shop = open_shop(folder / f"shop-{number}", world, ledger_url(number))
        wanted = min(kills, tally.kills + EPISODE)
        _Episode(launcher, shop, random.Random(1000 + number), tally, cluster).run(wanted)
        tally.episodes += 1
        tell(f"{tally.kills} of {kills} kills: {tally}")
    return tally


class _Episode:
    """One provider, from its first start to the audit of its ledger."""

    def __init__(
        self, launcher: Launcher, shop: Shop, chance: random.Random, tally: Tally, cluster: Cluster | None
    ) -> None:
        self._launcher, self._shop, self._chance, self._tally, self._cluster = launcher, shop, chance, tally, cluster
        self._server: Server | None = None
        self._took = [0.02]
        self._rounds = 0

    def run(self, kills: int) -> None:
        add = partial(self._launcher.add_account, self._shop.folder)
        operator = add("eve", role="operator")
        tokens = {buyer: add(buyer, credit=LIMITS.get(buyer)) for buyer in BUYERS}
        with self._clients(tokens) as clients, ThreadPoolExecutor(len(clients)) as pool:
            while self._tally.kills < kills:
                if self._server is None and self._chance.random() < 0.1:
                    self._kill_while_it_starts()
                else:
                    self._kill_while_they_buy(pool, clients, operator)
            self._come_to_an_end(pool, clients)
            for client in clients:
                self._tally.add(client)

    @contextmanager
    def _clients(self, tokens: dict[str, str]) -> Iterator[list[OrderingClient]]:
        owners = [buyer for buyer in tokens for _ in range(EACH)]
        clients = [
            OrderingClient(number, buyer, tokens[buyer], self._shop.world, random.Random(self._chance.random()))
            for number, buyer in enumerate(owners)
        ]
        try:
            yield clients
        finally:
            for client in clients:
                client.close()

    def _serve(self) -> Server:
        if self._server is None:
            self._server = self._launcher.serve(self._shop.folder)
        return self._server

    # ---- killing ------------------------------------------------------------------------------------------------

    def _kill_while_it_starts(self) -> None:
        server = self._launcher.begin(self._shop.folder)
        time.sleep(self._chance.uniform(0, 0.3))
        server.shoot()
        server.bury()
        self._tally.kills += 1
        self._tally.starting += 1

    def _kill_while_they_buy(self, pool: ThreadPoolExecutor, clients: list[OrderingClient], operator: str) -> None:
        self._rounds += 1
        server = self._serve()
        entries = _entries(server.url, operator)
        crashes_postgres = self._cluster is not None and self._rounds % 4 == 2
        at_an_answer = not crashes_postgres and self._chance.random() < 0.5
        fatal = self._chance.randint(1, 2 * len(clients)) if at_an_answer else None
        buying = Round(pool, clients, server, entries, fatal)
        if at_an_answer:
            buying.wait_for_the_shot()
        else:
            self._took.append(buying.wait_for_calls(self._chance.randint(1, 4 * len(clients))))
            time.sleep(self._chance.random() * 1.5 * median(self._took[-9:]))
        if crashes_postgres:
            self._crash_postgres()
        elif not at_an_answer:
            buying.shoot()
        self._tally.cut(buying.end())
        if not crashes_postgres:
            self._server = None
            self._tally.kills += 1

    def _crash_postgres(self) -> None:
        """The server has to do without for a while, and clients go on asking it."""
        assert self._cluster is not None
        self._cluster.stop(signal.SIGQUIT)
        self._cluster.start()
        self._tally.postgres += 1

    # ---- judging ------------------------------------------------------------------------------------------------

    def _come_to_an_end(self, pool: ThreadPoolExecutor, clients: list[OrderingClient]) -> None:
        """Nobody is killed any more: what is open is settled, all is asked for once more, and the ledger judged."""
        url = self._serve().url
        list(pool.map(lambda client: client.ask_again(url), clients))
        for client in clients:
            prices = [told.answer.price for c in clients if c.buyer == client.buyer for told in c.acknowledged.values()]
            spent = _told(f"{url}/v1/account?limit=1", client.token)["spent"]
            assert spent == sum(prices), f"{client.buyer} is charged something else"
        public_key = _told(f"{url}/v1/key")["public_key"]
        self._serve().stop()
        told = [told for client in clients for told in client.acknowledged.values()]
        check_ledger(self._shop, told, public_key, LIMITS)


def _entries(url: str, operator: str) -> int:
    """The purchases that are in the ledger."""
    return sum(line["purchases"] for line in _told(f"{url}/v1/accounts", operator))


def _told(url: str, token: str | None = None) -> Any:
    """What a service that stays says; it may have lost its connection to PostgreSQL, and find it only now."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    for _ in range(PATIENCE):
        told = httpx.get(url, headers=headers, trust_env=False, timeout=60)
        if told.status_code == 200:
            return told.json()
        assert told.status_code == 503, f"{told.status_code}: {told.text}"
        time.sleep(PAUSE)
    raise AssertionError("the service has no ledger any more")
