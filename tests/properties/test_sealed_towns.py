"""The gate where asking is dear: after restarts, in two processes, on both stores, on engines that hold nothing.

One provider is in memory and never stops. Another has other private values, in another order, and is in the way that is
tried; it must say the same bytes, but for the value in a paid answer. Each town has many worlds, each of which counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import engines
import pytest
from hypothesis import find, given
from oracles.sealed_cases import ENGINE, MANY, ROOMLESS, Case, Inputs, Operation, Private, opened
from oracles.sealed_towns import ladders, rounds, said, terms_told, town_examples, towns
from postgres import POSTGRES

import pacas
from pacas.engine.contract import Engine
from pacas.provider.audit import audit
from pacas.provider.ledger.entry import Purchase
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.quoter.public_view import Reserve
from pacas.provider.quoter.quoter import Quoter
from pacas.provider.sealed.sales import SealedSales
from pacas.storage.url import open_ledger


def sold_by(public: Inputs, private: Private, ledger: Ledger, engine: Engine[Any] = ENGINE) -> pacas.Provider:
    return opened(public, private, sealing=public.sealing, ledger=ledger, engine=engine)


# ---- after restarts ----------------------------------------------------------------------------------------------


def is_told_apart_after_a_restart(public: Inputs, one: Private, other: Private) -> bool:
    """Does a provider that stops, with other values, say something else than one that goes on?"""
    steady, ledger = sold_by(public, one, MemoryLedger()), MemoryLedger()
    for some in rounds(public):
        again = sold_by(public, other, ledger)
        for number, operation in some:
            if said(public, steady, number, operation) != said(public, again, number, operation):
                return True
        if any(ladders(public, steady, buyer) != ladders(public, again, buyer) for buyer in "uv"):
            return True
    return terms_told(steady) != terms_told(again)


def sees_others_after_a_restart(public: Inputs, private: Private, _: Private) -> bool:
    """Is a buyer told something else when another buyer has bought nothing?"""
    told = []
    for buyers in ("uv", "u"):
        ledger = MemoryLedger()
        for some in rounds(public):
            seller = sold_by(public, private, ledger)
            for number, one in some:
                if one.buyer in buyers:
                    told.append((buyers, number, one.buyer, said(public, seller, number, one)))
        told.append((buyers, -1, "u", repr(ladders(public, sold_by(public, private, ledger), "u"))))
    together, alone = ([line[1:] for line in told if line[0] == who and line[2] == "u"] for who in ("uv", "u"))
    return together != alone


@town_examples(32)
@given(towns(32))
def test_what_is_said_after_a_restart_is_a_function_of_what_is_public(case: Case) -> None:
    assert not is_told_apart_after_a_restart(*case)


@town_examples(32)
@given(towns(32, Reserve.FIXED))
def test_after_a_restart_a_buyer_is_told_nothing_of_what_others_buy(case: Case) -> None:
    assert not sees_others_after_a_restart(*case)


def _an_answer_enters_the_state(patch: pytest.MonkeyPatch) -> None:
    honest = SealedSales.add

    def add(self: SealedSales, purchase: Purchase, quoter: Quoter, unit: int) -> None:
        honest(self, purchase, quoter, unit if len(purchase.answer) < 4 else -1)

    patch.setattr(SealedSales, "add", add)


def _others_count_for_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SealedSales, "bought", lambda self, buyer: self.opened.pooled)


@pytest.mark.parametrize(
    ("mutate", "finds"),
    [
        (_an_answer_enters_the_state, is_told_apart_after_a_restart),
        (_others_count_for_all, sees_others_after_a_restart),
    ],
)
def test_a_mutant_is_caught(
    mutate: Callable[[pytest.MonkeyPatch], None], finds: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    assert find(towns(8, Reserve.FIXED), lambda case: finds(*case), settings=MANY)


# ---- in two processes, on both stores ----------------------------------------------------------------------------


class Elsewhere:
    """A provider in another process, which opens one after the other."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()

    def ask(self, *asked: Any) -> Any:
        self._connection.send(asked)
        told = self._connection.recv()
        if isinstance(told, Exception):
            raise told
        return told

    def end(self) -> None:
        self._connection.send(None)
        self._process.join()


def _serve(connection: Connection) -> None:
    public: Inputs
    provider: pacas.Provider | None = None
    while (asked := connection.recv()) is not None:
        told: Any = None
        try:
            match asked:
                case "open", drawn, private, url:
                    public, provider = drawn, sold_by(drawn, private, open_ledger(url, Path()))
                case "say", number, operation:
                    assert provider is not None
                    provider.refresh()
                    told = said(public, provider, number, operation)
                case "ladders", buyer:
                    assert provider is not None
                    provider.refresh()
                    told = ladders(public, provider, buyer)
                case ("close",):
                    assert provider is not None
                    provider.close()
        except Exception as error:
            told = error
        connection.send(told)


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    process = Elsewhere()
    yield process
    process.end()


_numbers = count(1)


@contextmanager
def new_ledger(store: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a ledger that is not there yet."""
    if store == "postgres":
        yield f"{request.getfixturevalue('postgres_url')}_{next(_numbers)}"
        return
    with TemporaryDirectory() as folder:
        yield f"sqlite:///{Path(folder) / 'provider.ledger.db'}"


@pytest.mark.parametrize("store", ["sqlite", POSTGRES])
def test_what_two_processes_say_is_what_one_says_of_other_values(
    store: str, elsewhere: Elsewhere, request: pytest.FixtureRequest
) -> None:
    """One buyer is here, the other there, on one ledger; both start anew in between."""

    @town_examples(64)
    @given(towns(64))
    def agree(case: Case) -> None:
        public, one, other = case
        steady = sold_by(public, one, MemoryLedger())
        with new_ledger(store, request) as url:
            for some in rounds(public):
                with closing(sold_by(public, other, open_ledger(url, Path()))) as here:
                    elsewhere.ask("open", public, other, url)

                    def told(number: int, operation: Operation, here: pacas.Provider = here) -> str:
                        if operation.buyer == "v":
                            answer: str = elsewhere.ask("say", number, operation)
                            return answer
                        here.refresh()
                        return said(public, here, number, operation)

                    for number, operation in some:
                        assert told(number, operation) == said(public, steady, number, operation)
                    here.refresh()
                    assert ladders(public, here, "u") == ladders(public, steady, "u")
                    assert elsewhere.ask("ladders", "v") == ladders(public, steady, "v")
                    elsewhere.ask("close")

    agree()


# ---- on engines that hold nothing --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark(request: pytest.FixtureRequest, spark_session: Any) -> Iterator[Engine[Any]]:
    made = engines.spark(request)
    yield made
    made.close()


def agrees_on(engine: Engine[Any], case: Case, last: int) -> None:
    """What is bought in memory counts on an engine, which goes on: it says the same of other values."""
    public, one, other = case
    steady, ledger = sold_by(public, one, MemoryLedger()), MemoryLedger()
    in_memory = sold_by(public, other, ledger)
    numbered = [*enumerate(public.operations)]
    for number, operation in numbered[: len(numbered) - last]:
        assert said(public, in_memory, number, operation) == said(public, steady, number, operation)
    on_engine = sold_by(public, other, ledger, engine)
    for number, operation in numbered[len(numbered) - last :]:
        assert said(public, on_engine, number, operation) == said(public, steady, number, operation)
    assert all(ladders(public, on_engine, buyer) == ladders(public, steady, buyer) for buyer in "uv")
    found, expected = (audit(provider) for provider in (on_engine, steady))
    assert repr(found.policies) == repr(expected.policies)
    assert terms_told(on_engine)[-1] == terms_told(steady)[-1]


@town_examples(16)
@given(towns(16))
def test_an_engine_that_holds_nothing_says_the_same_of_other_values(case: Case) -> None:
    agrees_on(ROOMLESS, case, 8)


@town_examples(256)
@given(towns(256).filter(lambda case: bool(case[0].policies)))
def test_spark_says_the_same_of_other_values(spark: Engine[Any], case: Case) -> None:
    agrees_on(spark, case, 3)
