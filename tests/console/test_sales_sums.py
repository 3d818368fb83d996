"""Sums of sales are those of the ledger's entries, however often somebody has looked in between."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

from pacas.console.sales_sums import DAY, SalesOverTime
from pacas.protocol.messages import Request
from pacas.provider.ledger.entry import Purchase
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.ledger.refusals import HOUR

SALES = st.lists(
    st.tuples(
        st.none() | st.integers(0, 5 * DAY),
        st.sampled_from(["ann", "bob"]),
        st.sampled_from(["MED", "AGE"]),
        st.integers(0, 2),
        st.integers(0, 9),
        st.booleans(),
    ),
    max_size=25,
)


@examples(60)
@given(SALES)
def test_sums_are_the_entries(sales: list[tuple[int | None, str, str, int, int, bool]]) -> None:
    ledger = MemoryLedger()
    ledger.open({"relation": "ab"}, b"seed")
    sums = SalesOverTime(ledger)
    for number, (time, buyer, attribute, level, price, looks) in enumerate(sales):
        ledger.append(Purchase(buyer, str(number), Request({}, attribute, level), price, "x", time=time))
        if looks:
            sums.now()
    found = sums.now()
    assert found.entries == len(sales) + 1
    assert found.total() == (len(sales), sum(price for _, _, _, _, price, _ in sales))
    for place, name in ((1, lambda key: key[1]), (2, lambda key: key[2]), (3, lambda key: key[3])):
        counted = Counter(sale[place] for sale in sales)
        assert {key: total.purchases for key, total in found.by(name).items()} == counted
    days = {None if sale[0] is None else sale[0] // DAY for sale in sales}
    for day in days - {None}:
        mine = [sale[4] for sale in sales if sale[0] is not None and sale[0] // DAY == day]
        assert day is not None and found.on(day) == (len(mine), sum(mine))
    assert found.untimed().purchases == sum(sale[0] is None for sale in sales)
    hours = Counter(sale[0] // HOUR for sale in sales if sale[0] is not None)
    assert {hour: total.purchases for hour, total in found.by_hour.items()} == hours
