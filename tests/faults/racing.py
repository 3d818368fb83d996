"""Clients that hammer the same X-groups through two servers over one ledger, and what must be true afterwards.

They buy at the same moments, and each account has its own way through the people of a group. Two clients share each
account, one at each server, and so ask about the same person at once: at level 0 with the same key, to own the purchase
together, else each with a key of its own.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import httpx

from pacas.protocol.messages import Quote, Refusal, Request
from pacas.remote.remote_provider import RemoteProvider

from .literal_replay import Acknowledged, check_ledger
from .orders import CEILING
from .processes import Launcher
from .shops import GROUPS, PEOPLE, Shop, fragile_world, open_shop

LIMITS = {"ann": 40_000_000, "bob": 60_000_000}
BUYERS = (*LIMITS, "cyd", "dan")
SERVERS = 2
"""Processes over one ledger; each account has a client at each of them, eight in all."""


@dataclass
class Tally:
    """What happened, added up."""

    races: int = 0
    bought: int = 0
    sold: int = 0
    """Entries of the ledgers: fewer than were bought, as clients share keys."""
    refused: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return f"{self.races} races; {self.bought} answers, {self.sold} sales; refused: {dict(self.refused)}"


def race(
    launcher: Launcher,
    folder: Path,
    ledger_url: Callable[[int], str],
    races: int,
    tell: Callable[[str], None],
) -> Tally:
    """Race after race, each over a ledger of its own."""
    tally = Tally()
    for number in range(races):
        shop = open_shop(folder / f"shop-{number}", fragile_world(number), ledger_url(number))
        told = _race(launcher, shop, number, tally)
        tally.races += 1
        tally.bought += len(told)
        tally.sold += len({(one.buyer, one.key) for one in told})
        tell(f"{tally.races} of {races} races: {tally}")
    return tally


def _race(launcher: Launcher, shop: Shop, seed: int, tally: Tally) -> list[Acknowledged]:
    tokens = {buyer: launcher.add_account(shop.folder, buyer, credit=LIMITS.get(buyer)) for buyer in BUYERS}
    servers = [launcher.serve(shop.folder) for _ in range(SERVERS)]
    start = Barrier(len(BUYERS) * SERVERS, timeout=120)
    racers = [
        Racer(shop, server.url, buyer, tokens[buyer], start, random.Random(f"{seed}/{buyer}/{number}"))
        for buyer in BUYERS
        for number, server in enumerate(servers)
    ]
    with ThreadPoolExecutor(len(racers)) as pool:
        for future in [pool.submit(racer.run) for racer in racers]:
            future.result()
    public_key = httpx.get(f"{servers[0].url}/v1/key", trust_env=False, timeout=60).json()["public_key"]
    for server in servers:
        server.stop()
    told = [one for racer in racers for one in racer.told]
    for racer in racers:
        tally.refused.update(racer.refused)
    check_ledger(shop, told, public_key, LIMITS)
    return told


class Racer:
    """One client of an account, at one of the servers."""

    def __init__(self, shop: Shop, url: str, buyer: str, token: str, start: Barrier, chance: random.Random) -> None:
        self._shop, self._url, self._buyer, self._token = shop, url, buyer, token
        self._start, self._chance = start, chance
        self.told: list[Acknowledged] = []
        self.refused: Counter[str] = Counter()

    def run(self) -> None:
        """Go through the groups with all the others."""
        try:
            with RemoteProvider(self._url, self._token) as market:
                market.catalogue()
                for group in range(GROUPS):
                    self._hammer(market, group)
        except BrokenBarrierError:
            pass  # another one's error is told
        except BaseException:
            self._start.abort()
            raise

    def _hammer(self, market: RemoteProvider, group: int) -> None:
        people = [str(row["ID"]) for row in self._shop.world.rows[group * PEOPLE : (group + 1) * PEOPLE]]
        for who in random.Random(f"{self._buyer}/{group}").sample(people, PEOPLE):
            level = self._chance.choice([0, 1])
            key = f"{who}/{level}" if level == 0 else f"{who}/{level} at {self._url}"
            self._buy(market, Request({"ID": who}, "MED", level), key)

    def _buy(self, market: RemoteProvider, request: Request, key: str) -> None:
        """Now and then at the price that was quoted; what is bought in between can only lower it."""
        ceiling = CEILING
        if self._chance.random() < 0.25 and isinstance(quoted := market.quote(request), Quote):
            ceiling = quoted.price
        self._start.wait()
        bought = market.pay(request, ceiling, key)
        if isinstance(bought, Refusal):
            self.refused[bought.reason.value] += 1
        else:
            self.told.append(Acknowledged(self._buyer, key, request, bought))
