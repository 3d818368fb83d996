"""A provider that begins at a checkpoint is the one that has read the whole ledger, whatever was sold."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from checkpoint_shops import BUYERS, KEY, KINDS, ROWS, KeptInMemory, said, shop
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

from pacas.core.rates.schedule import Schedule
from pacas.protocol.messages import Request
from pacas.provider.audit import audit
from pacas.provider.ledger.checkpoint import Checkpoints
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.provider import Provider

HIGH = 10**18
HALF = Schedule.of([[0, 50]])


class Sale(NamedTuple):
    buyer: str
    attribute: str
    row: int
    level: int


class Agreement(NamedTuple):
    buyer: str
    prepaid: int


class Restart(NamedTuple):
    """The process ends without a word, and another begins; while it kept a checkpoint, perhaps."""

    has_kept: bool


EVENTS = st.lists(
    st.one_of(
        st.builds(
            Sale, st.sampled_from(BUYERS), st.sampled_from("MN"), st.integers(0, len(ROWS) - 1), st.integers(0, 2)
        ),
        st.builds(Agreement, st.sampled_from(BUYERS), st.integers(0, 5)),
        st.builds(Restart, st.booleans()),
    ),
    min_size=1,
    max_size=14,
)


def make(provider: Provider, number: int, event: Sale | Agreement) -> object:
    if isinstance(event, Agreement):
        if provider.till.tab(event.buyer).unused(provider.till.schedule):
            return None
        return provider.till.agree(f"a{number}", HALF, event.prepaid, 3, buyer=event.buyer)
    ward, bed, _ = ROWS[event.row]
    request = Request({"W": ward, "BED": bed}, event.attribute, event.level)
    return provider.pay(request, HIGH, str(number), buyer=event.buyer)


@pytest.mark.parametrize("kind", KINDS)
@examples(25)
@given(EVENTS)
def test_begun_at_a_checkpoint_is_begun_at_the_opening(kind: str, events: list[Sale | Agreement | Restart]) -> None:
    ledger, store = MemoryLedger(), KeptInMemory()
    provider = shop(kind, ledger, Checkpoints(lambda: store, lambda: KEY, least=1))
    for number, event in enumerate([*events, Restart(True)]):
        if not isinstance(event, Restart):
            make(provider, number, event)
            continue
        before = store.kept
        provider.refresh()
        if not event.has_kept:
            store.kept = before  # it died before that was durable
        provider = shop(kind, ledger, Checkpoints(lambda: store, lambda: KEY, least=1))
        whole = shop(kind, ledger)
        assert said(provider) == said(whole)
    assert audit(provider) == audit(whole)
    sold = [make(one, 99, Sale("ann", "M", 0, 0)) for one in (provider, whole)]
    assert sold[0] == sold[1] and said(provider) == said(shop(kind, ledger))
