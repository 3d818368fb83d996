"""The X-groups behind each margin are those that the definitions give, in memory and on the engine, page by page."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from engines import Roomless
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_provider, to_request
from oracles.cleaning import tree_of
from oracles.pricing import LiteralProvider, Policy, shown_values
from oracles.tree import Value
from oracles.worlds import World, fragile_worlds, worlds

from pacas import example
from pacas.core import anonymity
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import Request
from pacas.provider.audit import PolicyAudit, audit
from pacas.provider.on_engine.shop import EngineShop
from pacas.provider.provider import Provider
from pacas.provider.shop.x_groups import XGroup

HIGH = 10**18
ENGINE, ROOMLESS = DuckEngine(threads=1), Roomless()


def literal_margins(literal: LiteralProvider, policy: Policy) -> dict[tuple[Value, ...], int]:
    """Per X-group how far it is above k, with what all have bought or, per buyer, with what each alone has."""
    if not literal.per_buyer:
        shown = shown_values(literal.rows, literal.surviving_all(), policy, literal.trees)
        return {group: values - policy.k for group, values in shown.items()}
    buyers = {buyer for buyer, _, _ in literal.ledger}
    of_each = [
        shown_values(literal.rows, left, policy, literal.trees)
        for left in [literal.surviving(), *map(literal.surviving, buyers)]
    ]
    return {group: min(shown[group] for shown in of_each) - policy.k for group in of_each[0]}


def every_group(found: PolicyAudit, page: int = 1000) -> list[XGroup]:
    """All groups, read in pages."""
    listed: list[XGroup] = []
    while more := found.behind.page(-1000, 1000, len(listed), page):
        assert len(more) <= page
        listed += more
    return listed


@examples(80)
@given(fragile_worlds() | worlds(), st.booleans(), st.integers(1, 3))
def test_in_memory_the_groups_behind_a_margin_are_the_definitions(world: World, per_buyer: bool, page: int) -> None:
    literal = world.provider(per_buyer=per_buyer)
    provider = to_provider(world, history="per_buyer" if per_buyer else "pooled", engine=ENGINE)
    for number, (buyer, request) in enumerate(world.requests):
        literal.buy(request, buyer)
        provider.pay(to_request(request), HIGH, str(number), buyer=buyer)
    for policy, found in zip(world.policies, audit(provider).policies, strict=True):
        listed = every_group(found, page)
        keyed = {
            tuple(tree_of(a, world.trees).key(value) for a, value in zip(policy.x, group.x, strict=True)): group.margin
            for group in listed
        }
        assert keyed == literal_margins(literal, policy)
        assert Counter(group.margin for group in listed) == found.margins
        for margin, groups in found.margins.items():
            behind = found.behind.page(margin, margin, 0, 1000)
            assert len(behind) == groups and {group.margin for group in behind} == {margin}
        assert sum(group.rows for group in listed) == len(world.rows) - found.unlinked_rows


MEDICINES = ["dolex", "ibuprofen", "naproxen", "intropes"]


@examples(30)
@given(
    st.lists(st.tuples(st.sampled_from(["w1", "w2", "w3", None]), st.sampled_from(MEDICINES)), min_size=6, max_size=30),
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 2)), max_size=6),
)
def test_on_the_engine_the_groups_are_those_of_memory(
    rows: list[tuple[str | None, str]], bought: list[tuple[int, int]]
) -> None:
    table = pa.table(
        {
            "ID": [str(number) for number in range(len(rows))],
            "WARD": pa.array([ward for ward, _ in rows], pa.string()),
            "MED": [med for _, med in rows],
        }
    )
    policy = anonymity.Policy(("WARD",), ("MED",), {"MED": 0}, 2, allow_linkage=True)
    both = [
        Provider(
            table,
            match={"MED": "ID = ID"},
            policies=[policy],
            hierarchies={"MED": example.med},
            quotes="paper",
            seed=7,
            engine=engine,
        )
        for engine in (ENGINE, ROOMLESS)
    ]
    assert isinstance(both[1].shop, EngineShop)
    for number, (row, level) in enumerate(bought):
        for provider in both:
            provider.pay(Request({"ID": str(row)}, "MED", level), HIGH, str(number))
    held, asked = (audit(provider).policies[0] for provider in both)
    assert sorted(every_group(held, 2)) == sorted(every_group(asked, 2))
    assert asked.margins == Counter(group.margin for group in every_group(asked))


def test_a_group_shows_no_value_when_it_is_printed() -> None:
    assert repr(XGroup(("secret",), 3, 0)) == "XGroup(rows=3, margin=0)"
