"""A sealed provider in a process of its own, as a script: it answers what it reads, line by line, in JSON.

`quote` has no private cells, and must not need any: it is made from the public columns alone. `sell` is a whole
provider, on a ledger that others may sell from, too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import Any

import pacas
from pacas.core.dependency import FunctionalDependency, MatchingDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import Answer, Request
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.provider.quoter.index_part import IndexPart
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.quoter.quoters import HeldQuoter, Quoters
from pacas.provider.quoter_on_engine.quoters import LookedUpQuoters
from pacas.provider.sealed.opening import public_columns, public_view
from pacas.provider.sealed.shop import SealedShop
from pacas.provider.terms import Terms
from pacas.storage.url import open_ledger

JOBS = Hierarchy.from_rows([(f"job{i}", f"field{i // 2}", "*") for i in range(8)])
PAY = Hierarchy.from_rows([(f"pay{i}", "*") for i in range(3)])
TREES = {"JOB": JOBS, "PAY": PAY}
MATCH = {"JOB": "ID = ID", "PAY": "CITY = CITY"}
POLICIES = (pacas.Policy(("CITY",), ("JOB",), {"JOB": 0}, 2, allow_linkage=True),)
SEALING = Sealing([DeclaredDependency(FunctionalDependency(("CITY",), "PAY"))])
PEOPLE = 40


def rows() -> dict[str, list[str]]:
    """People of several cities, in each of which all are paid alike."""
    numbers = range(PEOPLE)
    jobs, pay = [f"job{(i * i) % 8}" for i in numbers], [f"pay{i % 7 % 3}" for i in numbers]
    return {"ID": [f"p{i}" for i in numbers], "CITY": [f"c{i % 7}" for i in numbers], "JOB": jobs, "PAY": pay}


class NoCells:
    """What is sold is not here."""

    may_be_absent = False

    def answer(self, *_: Any) -> str:
        raise AssertionError("a private cell was asked for")


def quoting(path: Path, looks_up: bool) -> Callable[[dict[str, Any]], Any]:
    """All that is free, from the public columns of a file, whatever else is in it."""
    match = {attribute: MatchingDependency.parse(text) for attribute, text in MATCH.items()}
    terms = Terms(TREES, match, POLICIES, total=10**9, sealing=SEALING)
    engine, names = DuckEngine(threads=1), public_columns(terms, SEALING)
    table = engine.open(pacas.scan_relation(path), names)
    if looks_up:
        view = public_view(terms, SEALING, IndexPart.nothing(names, len(table)))
        quoters: Quoters = LookedUpQuoters(engine, table, view)
    else:
        quoters = HeldQuoter(public_view(terms, SEALING, PublicIndex(engine.columns(table, names))))
    shop = SealedShop(quoters, NoCells(), terms, {}, Lock())
    return lambda asked: shop.ladders(asked["attribute"], asked["tuples"], asked["buyer"]).prices.tolist()


def selling(path: Path, looks_up: bool, url: str) -> Callable[[dict[str, Any]], Any]:
    """Sales and quotes of a whole provider."""
    engine = DuckEngine(threads=1)
    engine.holdable_bytes = 0 if looks_up else engine.holdable_bytes
    provider = pacas.Provider(
        pacas.scan_relation(path),
        match=MATCH,
        policies=POLICIES,
        hierarchies=TREES,
        total=1,
        sealing=SEALING,
        ledger=open_ledger(url, Path()),
        engine=engine,
    )
    return lambda asked: answered(provider, asked)


def answered(provider: pacas.Provider, asked: dict[str, Any]) -> Any:
    """What a buyer is told of a purchase, or of many tuples."""
    if "tuples" in asked:
        return provider.quote_batch(asked["attribute"], asked["tuples"], buyer=asked["buyer"]).prices.tolist()
    request = Request(asked["tuple"], asked["attribute"], asked["level"])
    sold = provider.pay(request, 10**15, asked["key"], buyer=asked["buyer"])
    return [sold.value, sold.level, sold.price] if isinstance(sold, Answer) else sold.reason.value


def serve(lines: Iterable[str], answer: Callable[[dict[str, Any]], Any]) -> None:
    for line in lines:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    what, file, how, *ledger = sys.argv[1:]
    looks_up = how == "looked up"
    serve(sys.stdin, selling(Path(file), looks_up, *ledger) if what == "sell" else quoting(Path(file), looks_up))
