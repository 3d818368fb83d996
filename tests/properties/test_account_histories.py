"""Whatever happens to accounts: the entries say it all, and whatever happens behind their back is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

from pacas.protocol.messages import Request
from pacas.provider.ledger.account_change import AccountChange, AccountState
from pacas.provider.ledger.account_history import account_histories
from pacas.provider.ledger.accounts import Account, Role, token_hash
from pacas.provider.ledger.entry import Entry, Purchase
from pacas.provider.ledger.memory_ledger import MemoryLedger

NAMES = ("ann", "bob", "cyd")
TOKENS = [token_hash(str(number)) for number in range(4)]
CHANGES: dict[str, st.SearchStrategy[Any]] = {
    "credit": st.one_of(st.none(), st.integers(0, 30)),
    "role": st.sampled_from([Role.CLIENT, Role.OPERATOR]),
    "revoked": st.booleans(),
    "token_hash": st.sampled_from(TOKENS),
    "quotes_per_minute": st.one_of(st.none(), st.integers(1, 3)),
    "certificate": st.sampled_from([None, *TOKENS]),
    "expires": st.one_of(st.none(), st.integers(0, 3)),
    "previous_hash": st.one_of(st.none(), st.sampled_from(TOKENS)),
}
CHANGED = st.sampled_from(sorted(CHANGES)).flatmap(lambda field: st.tuples(st.just(field), CHANGES[field]))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("change"), st.sampled_from(NAMES), CHANGED),
        st.tuples(st.just("behind"), st.sampled_from(NAMES), CHANGED),
        st.tuples(st.just("buy"), st.sampled_from(NAMES), st.integers(0, 12)),
    ),
    max_size=25,
)


@examples(200)
@given(STEPS)
def test_entries_say_what_was_done_and_show_what_was_done_beside_them(steps: list[tuple[str, str, Any]]) -> None:
    """Beside a literal account of it: what was said of each account, and where the next word did not follow."""
    ledger = MemoryLedger()
    ledger.open({"relation": "ab"}, b"seed")
    kept: dict[str, Account] = {}
    said: dict[str, list[Account]] = {}
    strayed: set[str] = set()
    beyond = dict.fromkeys(NAMES, 0)
    spent = dict.fromkeys(NAMES, 0)
    is_sold = False
    for number, (what, name, how) in enumerate(steps):
        if what == "buy":
            ledger.append(Purchase(name, str(number), Request({}, "MED", 0), how, "x"))
            if not is_sold:
                said = {one: [account] for one, account in kept.items()}
            elif name in said:
                last, after = said[name][-1], spent[name] + how
                beyond[name] += how > 0 and (last.revoked or (last.credit is not None and after > last.credit))
            is_sold = True
            spent[name] += how
            continue
        before = kept.get(name)
        field, value = how
        kept[name] = replace(before or Account(name, Role.CLIENT, 10, False, TOKENS[0]), **{field: value})
        if what == "behind":
            with ledger._store() as store:
                store.put_account(kept[name])
            continue
        ledger.change_account(name, lambda found, name=name: kept[name])  # type: ignore[misc]
        if is_sold and kept[name] != before:
            if name in said and said[name][-1] != before:
                strayed.add(name)
            said.setdefault(name, []).append(kept[name])
    entries: list[Entry] = []
    found = ledger.verify(visit=entries.append)
    assert found.holds and {one.name: one for one in found.accounts} == kept
    histories = account_histories(entries, found.accounts)
    if not is_sold:
        assert histories == {} and len(entries) == 1
        return
    assert sorted(histories) == sorted({*said, *kept})
    for name, history in histories.items():
        mine = said.get(name, [])
        assert [step.change.after for step in history.steps] == list(map(AccountState.of, mine))
        is_off = name in strayed or (mine[-1] != kept[name] if mine else bool(said))
        assert (history.problem is not None) == is_off
        assert history.beyond == beyond[name]
    again = [entry.payload for entry in ledger.entries(1) if isinstance(entry.payload, AccountChange)]
    assert sum(len(one) for one in said.values()) == len(again)
