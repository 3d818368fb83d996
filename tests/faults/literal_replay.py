"""A ledger against what buyers were told, and against the paper's definitions, entry by entry.

Prices and safety are those of the oracles: every neighbour is an instance of its own, and each is asked. What an
instance answers never changes, so that each is asked once; the end is judged anew, with nothing remembered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import cache
from typing import NamedTuple

from oracles.anonymity import linked_tuples
from oracles.pricing import Question, Request, admissible, linked_values, short_groups
from oracles.tree import Value
from oracles.worlds import World

from pacas.protocol import messages
from pacas.protocol.messages import Answer
from pacas.provider.ledger.entry import Entry, Purchase
from pacas.storage.url import open_ledger
from pacas.wire.signatures import verify

from .shops import Shop


class Acknowledged(NamedTuple):
    """What a buyer was told once, and must stay true."""

    buyer: str
    key: str
    request: messages.Request
    answer: Answer


def check_ledger(shop: Shop, acknowledged: Iterable[Acknowledged], public_key: str, credit: dict[str, int]) -> None:
    """All that must hold when nothing is on its way any more."""
    with closing(open_ledger(shop.ledger_url, shop.folder)) as ledger:
        verified = ledger.verify()
        assert verified.holds, f"the chain is broken: {verified.problem}"
        entries = [entry for entry in ledger.entries(1) if isinstance(entry.payload, Purchase)]
        totals = ledger.totals()
    _check_acknowledged(entries, acknowledged, public_key)
    spent: dict[str, int] = defaultdict(int)
    for entry in entries:
        spent[entry.purchase.buyer] += entry.purchase.price
    assert {buyer: total.spent for buyer, total in totals.items()} == spent, "a buyer is charged something else"
    for buyer, limit in credit.items():
        assert spent[buyer] <= limit, f"{buyer} has spent {spent[buyer]} of {limit}"
    Replay(shop.world).run(entries)


def _check_acknowledged(entries: Sequence[Entry], told: Iterable[Acknowledged], public_key: str) -> None:
    """The ledger holds what buyers were told, once, with the same receipt; and nothing else."""
    sold = {(entry.purchase.buyer, entry.purchase.idempotency_key): entry for entry in entries}
    assert len(sold) == len(entries), "a purchase is charged twice under one key"
    heard = set()
    for buyer, key, request, answer in told:
        entry = sold.get((buyer, key))
        assert entry is not None, f"an answer was given for {key}, and the ledger does not have it"
        purchase, signed = entry.purchase, answer.receipt
        assert purchase.request == request, f"{key} is another request's"
        assert (purchase.answer, purchase.price) == (answer.value, answer.price), f"{key} was answered otherwise"
        assert signed is not None and verify(signed, public_key), f"the receipt of {key} is not signed"
        receipt = signed.receipt
        assert (receipt.sequence, receipt.hash) == (entry.sequence, entry.hash), f"the receipt of {key} is another's"
        assert (receipt.account, receipt.idempotency_key, receipt.answer, receipt.price, receipt.level) == (
            buyer,
            key,
            answer.value,
            answer.price,
            request.level,
        ), f"the receipt of {key} says something else"
        heard.add((buyer, key))
    assert heard == set(sold), f"{len(set(sold) - heard)} purchases are charged that nobody was told of"


class Replay:
    """A history, sold again by the literal definitions."""

    def __init__(self, world: World) -> None:
        self._world, self._literal = world, world.provider()
        self._everything = frozenset(self._literal.support)
        self._rules_out = cache(self._rules_out_of)
        self._is_safe = cache(self._is_safe_with)
        self._links = {
            (number, n): [
                frozenset(linked_values(t, instance, policy, world.trees))
                for instance in self._literal.support.values()
            ]
            for number, policy in enumerate(world.policies)
            for n, t in enumerate(linked_tuples(world.rows, policy.x))
        }

    def run(self, entries: Iterable[Entry]) -> None:
        """Every sale has the price of its moment, the true answer, and leaves the policies whole."""
        known: dict[str, frozenset[int]] = defaultdict(lambda: self._everything)
        pooled, asked = self._everything, set()
        for entry in entries:
            sequence, purchase = entry.sequence, entry.purchase
            request = (purchase.request.tuple["ID"], purchase.request.level)
            asked.add(request)
            answers = self._question(*request)(self._world.rows)
            assert answers == {purchase.answer}, f"entry {sequence} has not the true answer"
            gone = self._rules_out(*request)
            price = sum(self._literal.weights[number] for number in known[purchase.buyer] & gone)
            assert purchase.price == price, f"entry {sequence} cost {purchase.price}; its price was {price}"
            known[purchase.buyer] -= gone
            pooled -= gone
            assert self._is_safe(pooled), f"entry {sequence} breaks a policy"
        self._check_end(asked, pooled)

    def _check_end(self, asked: Iterable[tuple[Value, int]], expected: frozenset[int]) -> None:
        left = self._literal.support
        for request in asked:
            left = admissible(self._question(*request), self._world.rows, left)
        assert set(left) == expected
        short = short_groups(self._world.rows, left, self._world.policies, self._world.trees)
        assert not short, f"{len(short)} X-groups are linked to fewer values than the policy asks for"

    def _question(self, who: Value, level: int) -> Question:
        return self._literal.question(Request({"ID": who}, "MED", level))

    def _rules_out_of(self, who: Value, level: int) -> frozenset[int]:
        left = admissible(self._question(who, level), self._world.rows, self._literal.support)
        return self._everything - set(left)

    def _is_safe_with(self, left: frozenset[int]) -> bool:
        """Every tuple of R stays linked to k values, over all the instances that are left."""
        for (number, _), links in self._links.items():
            found = frozenset[tuple[Value, ...]]().union(*(links[instance] for instance in left))
            if len(found) < self._world.policies[number].k:
                return False
        return True
