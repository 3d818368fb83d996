"""A provider that leaves its relation on the engine: the same prices, refusals, answers and ledger as one in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest
from engines import ENGINES, Roomless
from hypothesis import HealthCheck, event, given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_generated, to_hierarchy, to_literal, to_request
from oracles.cleaning import tree_of
from oracles.pricing import Policy as LiteralPolicy
from oracles.pricing import Purchase as LiteralPurchase
from oracles.pricing import short_groups
from oracles.tree import Tree, Value
from oracles.worlds import AGES, NAMES, PLACES, World, clauses, domain, hierarchies, requests, values_at

from pacas import example
from pacas.core.anonymity import Policy
from pacas.core.query import GeneralizedQuery
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.duck.index import DuckIndex
from pacas.errors import InputError, LedgerChangedError
from pacas.protocol.messages import Answer, Payment, QuotedLadder, Reason, Refusal, Request, refused
from pacas.provider.audit import audit
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.matching import index_matcher, row_lookup
from pacas.provider.matching.row_lookup import FoundLately
from pacas.provider.on_engine import audit as audit_on_engine
from pacas.provider.on_engine import covering, memory_limit
from pacas.provider.on_engine import shop as engine_shop
from pacas.provider.on_engine.shop import EngineShop
from pacas.provider.provider import Provider
from pacas.provider.support.edits import Neighbour
from pacas.provider.support.mix import Mix
from pacas.provider.support.support_set import Generated, GivenSupport
from pacas.provider.terms import ViewPrice

LARGE = [HealthCheck.too_slow, HealthCheck.data_too_large]
MANY = examples(30, suppress_health_check=LARGE)
FEWER = examples(12, suppress_health_check=LARGE)
HIGH = 10**18
BUYERS = ("ann", "bob", "cyd")


ROOMLESS, ROOMY = Roomless(), DuckEngine(threads=1)


@pytest.fixture(autouse=True, scope="module")
def little_at_a_time() -> Iterator[None]:
    """So that small relations, too, come in several batches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(covering, "AT_A_TIME", 7)
        patch.setattr(audit_on_engine, "AT_A_TIME", 7)
        patch.setattr(row_lookup, "FIRST_KEYS", 2)
        patch.setattr(row_lookup, "MOST_ROWS", 20)
        patch.setattr(index_matcher, "WIDE", 2)
        yield


# ---- random worlds of some size --------------------------------------------------------------------------------------


BROAD = Tree([[f"v{i}", f"g{i // 3}", "*"] for i in range(9)])
DEEP = Tree([[f"w{i}", f"g{i // 2}", f"h{i // 4}", "*"] for i in range(8)])


@st.composite
def large_worlds(draw: st.DrawFn) -> World:
    """Some dozens of rows in a few X-groups, so that no sale comes near the last neighbours; nobody is found by M or N.

    X and match columns have nulls, spellings of one number and what no tree knows; policies may share attributes.
    """
    some = st.sampled_from([BROAD, BROAD, DEEP]) | hierarchies()
    trees: dict[str, Tree] = {"M": draw(some), "H": AGES}
    if draw(st.booleans()):
        trees["N"] = draw(some)
    if draw(st.booleans()):
        trees["G"] = PLACES
    values: dict[str, st.SearchStrategy[Value]] = {
        "G": st.sampled_from(["p1", "p2", "q1", "p1", "p2", "zz", None]),
        "H": st.sampled_from(["1", "2", "3", "2.0", "2", "1", None]),
        "K": st.sampled_from([*NAMES, *NAMES, None]),
        "M": st.sampled_from(domain("M", [], trees)),
        "N": st.sampled_from(domain("N", [], trees) if "N" in trees else ["n1", "n2", "n3"]),
    }
    kinds = draw(st.lists(st.fixed_dictionaries(values), min_size=5, max_size=14))
    which = [*range(len(kinds)), *draw(st.lists(st.integers(0, len(kinds) - 1), min_size=16, max_size=30))]
    rows = [dict(kinds[i]) for i in which]
    matches = {}
    for a in draw(st.sampled_from([["M"], ["M", "N"], ["N", "M"]])):
        columns = draw(st.lists(st.sampled_from("GHK"), min_size=1, max_size=2, unique=True))
        matches[a] = tuple(draw(clauses(c, trees)) for c in columns)
    policies = draw(st.lists(_policies(rows, trees), min_size=draw(st.sampled_from([0, 1, 1, 1])), max_size=2))
    world = World(rows, trees, matches, policies, [], {})
    world.requests = draw(st.lists(st.tuples(st.sampled_from(BUYERS), requests(world)), min_size=3, max_size=8))
    return world


@st.composite
def _policies(draw: st.DrawFn, rows: list[dict[str, Value]], trees: Mapping[str, Tree]) -> LiteralPolicy:
    y = draw(st.sampled_from(["M", "N", "MN", "NM"]))
    x = draw(st.lists(st.sampled_from("GHK"), min_size=1, max_size=3, unique=True))
    levels = {a: draw(st.integers(0, tree_of(a, trees).height - 1)) for a in y}
    most = prod(values_at(a, level, rows, trees) for a, level in levels.items())
    return LiteralPolicy(tuple(x), levels, min(draw(st.sampled_from([2, 3, 5, 8])), most))


def pair(world: World, **options: Any) -> tuple[Provider, Provider]:
    """On the engine, and in memory."""
    support = Generated(per_cell=options.pop("per_cell", 1))
    if "M" in {*world.matches, *(a for policy in world.policies for a in policy.levels)}:
        options = {"sensitivity": {"M": 3}, **options}
    apart = to_generated(world, support=support, engine=ROOMLESS, seed=5, **options)
    held = to_generated(world, support=support, engine=ROOMY, seed=5, **options)
    assert isinstance(apart.shop, EngineShop) and not isinstance(held.shop, EngineShop)
    return apart, held


def plain(ledger: Any) -> list[Any]:
    """The purchases of a ledger, row numbers included."""
    return [entry.purchase for entry in ledger.entries(1)]


def near_the_end(apart: Provider, request: Request, buyer: str) -> bool:
    """Would a sale leave so few neighbours that an X-group elsewhere might lose a value of its own?"""
    shop = apart.shop
    assert isinstance(shop, EngineShop)
    (rows,) = shop._rows(request.attribute, [request.tuple])
    most = shop.summary.per_cell + shop.summary.covering.most_of_a_row
    return shop.sales.judged(buyer).in_all().alive - len(rows) * most <= shop.summary.most_droppers


def check_quotes(world: World, apart: Provider, held: Provider, buyer: str) -> None:
    for attribute in world.matches:
        asked = [to_request(r) for _, r in world.requests if r.attribute == attribute]
        columns = {c: [r.tuple[c] for r in asked] for c in held.catalogue()[attribute].columns}
        mine, theirs = (p.quote_batch(attribute, columns, buyer=buyer) for p in (apart, held))
        for place, request in enumerate(asked):
            alone = [apart.quote(Request(request.tuple, attribute, n), buyer=buyer) for n in range(len(mine[place]))]
            assert list(mine[place]) == alone
            if near_the_end(apart, request, buyer):
                event("near the end")
                pairs = zip(mine[place], theirs[place], strict=True)
                assert all(one == other or one == Refusal(Reason.UNSAFE) for one, other in pairs)
            else:
                assert list(mine[place]) == list(theirs[place])


@MANY
@given(
    large_worlds(), st.sampled_from(["pooled", "per_buyer"]), st.sampled_from([1000, 4]), st.sampled_from([1, 1, 2, 3])
)
def test_prices_refusals_answers_and_entries_are_those_of_a_relation_in_memory(
    world: World, history: str, max_matches: int, per_cell: int
) -> None:
    apart, held = pair(world, history=history, max_matches=max_matches, per_cell=per_cell)
    for attribute, offer in held.catalogue().items():
        mine = apart.catalogue()[attribute]
        assert (mine.columns, mine.hierarchy.labels) == (offer.columns, offer.hierarchy.labels)
    assert apart.ledger.opening() == held.ledger.opening()
    assert (apart.shop.total, apart.shop.neighbours) == (held.shop.total, held.shop.neighbours)
    check_quotes(world, apart, held, "ann")
    for number, (buyer, request) in enumerate(world.requests):
        if near_the_end(apart, to_request(request), buyer):
            continue
        outcomes = [p.pay(to_request(request), HIGH, str(number), buyer=buyer) for p in (apart, held)]
        assert outcomes[0] == outcomes[1]
        event(type(outcomes[0]).__name__)
    assert plain(apart.ledger) == plain(held.ledger)
    for buyer in BUYERS:
        check_quotes(world, apart, held, buyer)
    assert isinstance(apart.shop, EngineShop)
    covering_neighbours = apart.shop.summary.covering
    event(f"covering: {bool(len(covering_neighbours))}, with edits: {bool(len(covering_neighbours.edit_rows))}")


@FEWER
@given(large_worlds(), st.sampled_from(["pooled", "per_buyer"]), st.booleans())
def test_a_ledger_goes_on_in_either_way_and_audits_agree(world: World, history: str, starts_apart: bool) -> None:
    one, other = pair(world, history=history)[:: 1 if starts_apart else -1]
    options = {"history": history, "ledger": one.ledger}
    for number, (buyer, request) in enumerate(world.requests):
        one.pay(to_request(request), HIGH, str(number), buyer=buyer)
    apart, held = pair(world, **options)
    assert apart.shop.sales.totals() == held.shop.sales.totals() == one.ledger.totals()
    for buyer in BUYERS:
        check_quotes(world, apart, held, buyer)
    assert audit(apart) == audit(held)
    assert audit(apart).holds or history == "per_buyer"
    assert other.ledger.head().entries == 1


@FEWER
@given(large_worlds())
def test_what_is_sold_from_the_engine_is_safe_by_the_literal_definition(world: World) -> None:
    apart, held = pair(world)
    literal = to_literal(held, world)
    for number, (buyer, request) in enumerate(world.requests):
        bought = apart.pay(to_request(request), HIGH, str(number), buyer=buyer)
        if isinstance(bought, Answer):
            made = literal.buy(request, buyer)
            assert isinstance(made, LiteralPurchase)
            assert (bought.value, bought.price) == (made.answer, made.price)
            assert not short_groups(world.rows, literal.surviving_all(), world.policies, world.trees)


@FEWER
@given(large_worlds(), st.integers(0, 40))
def test_a_small_cache_changes_nothing(world: World, most: int) -> None:
    apart, held = pair(world)
    assert isinstance(apart.shop, EngineShop)
    for lookup in apart.shop._row_lookups.values():
        lookup.recent = FoundLately(most)
    for buyer in BUYERS:
        check_quotes(world, apart, held, buyer)
    for lookup in apart.shop._row_lookups.values():
        recent = lookup.recent
        assert sum(len(found.rows) + len(found.keys) for found in recent) == recent.currsize <= most
        assert set(recent.of_key.values()) <= set(recent)


@FEWER
@given(large_worlds(), st.integers(1, 5))
def test_groups_that_are_judged_by_some_of_their_rows_err_on_the_safe_side(world: World, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_shop, "MOST_OF_A_GROUP", most)
        apart, held = pair(world)
        for attribute in world.matches:
            asked = [to_request(r) for _, r in world.requests if r.attribute == attribute]
            columns = {c: [r.tuple[c] for r in asked] for c in held.catalogue()[attribute].columns}
            mine, theirs = (p.quote_batch(attribute, columns).prices for p in (apart, held))
            assert ((mine == theirs) | (mine == refused(Reason.UNSAFE))).all()


# ---- where groups are short ------------------------------------------------------------------------------------------


PAIRS = [{"K": f"k{i}", "G": f"g{i // 2}", "M": f"v{i * i % 9}", "N": f"w{i % 7}"} for i in range(30)]
"""Each X-group has two rows, so that with one neighbour a cell it is short of all but a few values."""


def covered(engine: DuckEngine, k: int = 5, of_pairs: int = 9, level: int = 1, **options: Any) -> Provider:
    """A provider whose X-groups need more values of M, and more pairs of M and N; each row is found by its key."""
    policies = [
        Policy(("G",), ("M",), {"M": 0}, k, True),
        Policy(("G",), ("N", "M"), {"N": level, "M": 0}, of_pairs, True),
    ]
    return Provider(
        {c: [row[c] for row in PAIRS] for c in PAIRS[0]},
        match={"M": "K = K", "N": "K = K"},
        policies=policies,
        hierarchies={"M": to_hierarchy(BROAD), "N": to_hierarchy(DEEP)},
        support=Generated(per_cell=1),
        engine=engine,
        **{"seed": 11, **options},
    )


@pytest.mark.parametrize("boundary", ["M", "N", "edits"])
@pytest.mark.parametrize("history", ["pooled", "per_buyer"])
def test_covering_neighbours_are_the_same_in_place_and_weight(boundary: str, history: str) -> None:
    shop = covered(ROOMLESS).shop
    assert isinstance(shop, EngineShop)
    summary = shop.summary
    assert min(summary.covering.count("M"), len(summary.covering.edit_rows)) > 10
    half = {"M": summary.counts["M"] // 2, "N": summary.first["N"] + summary.counts["N"] // 2}
    # neighbours that weigh one more
    raised = half.get(boundary, summary.neighbours - len(summary.covering.edit_rows) // 2)
    total = f"0.{100 * summary.neighbours + raised:09}"
    apart, held = (covered(engine, total=total, history=history) for engine in (ROOMLESS, ROOMY))
    keys = {"K": [row["K"] for row in PAIRS]}
    outcomes = []
    for number, (row, attribute, level) in enumerate(product(PAIRS[:16], "MN", (1, 0))):
        asked = Request({"K": row["K"]}, attribute, level)
        sold = [p.pay(asked, HIGH, str(number), buyer=BUYERS[number // 4 % 3]) for p in (apart, held)]
        assert sold[0] == sold[1]
        outcomes.append(type(sold[0]))
        if number % 5 == 0:
            for a in "MN":
                quoted = [p.quote_batch(a, keys, buyer="ann").prices.tolist() for p in (apart, held)]
                assert quoted[0] == quoted[1]
    assert {Answer, Refusal} <= set(outcomes)
    assert audit(apart) == audit(held)


def test_a_sale_is_judged_by_policies_that_only_edits_lead_to() -> None:
    """Selling N rules out neighbours that change M, too, and the first policy, which speaks of M alone, counts on."""
    apart, held = (covered(engine, 7, 7, 0, seed=1) for engine in (ROOMLESS, ROOMY))
    outcomes = []
    for group in range(0, len(PAIRS), 2):
        one, other = PAIRS[group : group + 2][:: 1 if group % 4 else -1]
        for row, attribute in ((other, "M"), (one, "N")):
            asked = Request({"K": row["K"]}, attribute, 0)
            sold = [p.pay(asked, HIGH, f"{group}{attribute}") for p in (apart, held)]
            assert sold[0] == sold[1]
            outcomes.append((attribute, type(sold[0])))
    assert {("N", Answer), ("N", Refusal), ("M", Answer)} <= set(outcomes)


def test_an_edit_that_one_purchase_has_ruled_out_is_not_paid_for_with_another() -> None:
    """One buyer, both attributes: an edit that changes M and N is told from R by either, and weighs once."""
    apart, held = (covered(engine, 6, 7, 1, seed=917) for engine in (ROOMLESS, ROOMY))
    order = list(product(PAIRS, "MN", (1, 0)))
    Random(738).shuffle(order)
    for number, (row, attribute, level) in enumerate(order[:40]):
        asked = Request({"K": row["K"]}, attribute, level)
        sold = [p.pay(asked, HIGH, str(number)) for p in (apart, held)]
        assert sold[0] == sold[1]


@pytest.mark.parametrize("made", ENGINES)
def test_every_engine_sells_the_same(made: Any, request: pytest.FixtureRequest) -> None:
    engine = made(request)
    rows = {c: [row[c] for row in TWENTY] for c in TWENTY[0]}
    policies = [Policy(("G", "H"), ("M",), {"M": 0}, 5), Policy(("G",), ("M", "N"), {"M": 1, "N": 0}, 3, True)]
    given: dict[str, Any] = {
        "match": {"M": "G = G, H = H", "N": "G = G, K ~ K edit 0.7"},
        "policies": policies,
        "hierarchies": {"M": to_hierarchy(BROAD), "H": to_hierarchy(AGES)},
        "support": Generated(per_cell=2),
        "seed": 3,
    }
    here, there = Provider(rows, engine=ROOMY, **given), Provider(rows, engine=engine, **given)
    assert there.ledger.opening() == here.ledger.opening()
    for number, row in enumerate(TWENTY[:5]):
        for attribute, columns in (("M", "GH"), ("N", "GK")):
            asked = Request({c: row[c] for c in columns}, attribute, number % 2)
            sold = [p.pay(asked, HIGH, f"{attribute}{number}", buyer="ann") for p in (here, there)]
            assert sold[0] == sold[1]
    assert here.ledger.head().entries > 3
    for attribute, columns in (("M", "GH"), ("N", "GK")):
        tuples = {c: rows[c] for c in columns}
        quoted = [p.quote_batch(attribute, tuples, buyer="bob").prices.tolist() for p in (here, there)]
        assert quoted[0] == quoted[1]
    assert audit(there) == audit(here)
    engine.close()


TWENTY = [
    {
        "G": f"p{i % 3}",
        "H": f"{i % 2}.0" if i % 4 else str(i % 2),
        "K": NAMES[i % 6],
        "M": f"v{i % 9}",
        "N": f"n{i % 3}",
    }
    for i in range(20)
]


# ---- what is looked up ----------------------------------------------------------------------------------------


def broker(engine: DuckEngine, **options: Any) -> Provider:
    """The running example's provider, with the paper's quotes."""
    policy = Policy(("GEN", "AGE", "ZIP"), ("MED",), {"MED": 0}, 2)
    given: dict[str, Any] = {"match": {"MED": "GEN = GEN, AGE = AGE"}, "policies": [policy], "quotes": "paper"}
    given |= {"hierarchies": example.hierarchies}
    return Provider(options.pop("relation", example.provider), engine=engine, **(given | options))


ASKED = Request({"GEN": "male", "AGE": "51"}, "MED", 1)


def test_paying_after_asking_looks_nothing_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = broker(ROOMLESS)
    looks: list[int] = []
    find = DuckIndex.find

    def counted(index: DuckIndex, values: Any, most: int | None = None) -> Any:
        looks.append(1)
        return find(index, values, most)

    monkeypatch.setattr(DuckIndex, "find", counted)
    provider.quote_batch("MED", {"GEN": ["male", "female"], "AGE": ["51", "32"]})
    assert len(looks) == 1
    assert isinstance(provider.pay(ASKED, HIGH, "1"), Answer)
    assert len(looks) == 1


def test_entries_name_no_rows_where_equality_finds_them_again() -> None:
    provider = broker(ROOMLESS)
    provider.pay(ASKED, HIGH, "1")
    (entry,) = provider.ledger.entries(1)
    assert entry.purchase.rows is None


def test_other_entries_carry_their_rows() -> None:
    provider = broker(ROOMLESS, match={"MED": "GEN = GEN, AGE ~ AGE within 0"})
    provider.pay(ASKED, HIGH, "1")
    (entry,) = provider.ledger.entries(1)
    rows = zip(example.provider.table["GEN"].to_pylist(), example.provider.table["AGE"].to_pylist(), strict=True)
    assert entry.purchase.rows == tuple(i for i, row in enumerate(rows) if tuple(map(str, row)) == ("male", "51"))


def test_room_decides_where_a_relation_is_sold_from() -> None:
    engine = DuckEngine(memory="1GB", threads=1)
    assert not isinstance(broker(engine).shop, EngineShop)
    engine.holdable_bytes = 100
    assert isinstance(broker(engine).shop, EngineShop)
    engine.close()


# ---- one clear line --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"support": GivenSupport([Neighbour({0: {"MED": "dolex"}})])}, "neighbour by neighbour"),
        ({"support": Generated(size=100)}, "give per_cell"),
        ({"support": Generated(mix=Mix.of({"update": 0.5, "swap": 0.5}))}, "other neighbours than updates"),
        (
            {"points": [ViewPrice("all", GeneralizedQuery.parse("ID:0, MED:0"), 10**9)]},
            "price points",
        ),
        ({"match": {"MED": "GEN = GEN, AGE = AGE", "AGE": "GEN = GEN"}}, "'AGE' in X or in a match"),
    ],
)
def test_what_cannot_be_sold_on_the_engine_is_held_if_it_is_small_and_else_said_at_the_start(
    options: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not isinstance(broker(ROOMLESS, **options).shop, EngineShop)
    monkeypatch.setattr(memory_limit, "FEW", 2)
    with pytest.raises(InputError, match=told) as error:
        broker(ROOMLESS, **options)
    assert "more memory" in str(error.value) and "\n" not in str(error.value)


def test_generalized_queries_need_a_relation_in_memory() -> None:
    with pytest.raises(InputError, match="held in memory"):
        broker(ROOMLESS).quote_query(GeneralizedQuery.parse("MED:0"))


@pytest.mark.parametrize("values", [["dolex", None, "zz"], ["NSAID", "dolex", "dolex"]])
def test_unusable_cells_are_counted_and_not_shown(values: list[str | None]) -> None:
    relation = {"GEN": ["male"] * 3, "AGE": ["51"] * 3, "ZIP": ["P0T2T0"] * 3, "MED": values}
    told = []
    for engine in (ROOMLESS, ROOMY):
        with pytest.raises(InputError) as error:
            broker(engine, relation=relation)
        told.append(str(error.value))
    assert told[0] == told[1] and "zz" not in told[0]


def test_other_terms_are_another_fingerprint() -> None:
    ledger = MemoryLedger()
    root = Request({"GEN": "male", "AGE": "51"}, "MED", 3)
    assert isinstance(broker(ROOMLESS, ledger=ledger).pay(root, 0, "a"), Answer)
    with pytest.raises(LedgerChangedError, match="support set"):
        broker(ROOMLESS, ledger=ledger, support=Generated(per_cell=3))
    with pytest.raises(LedgerChangedError, match="weights"):
        broker(ROOMLESS, ledger=ledger, total=7)


def test_bad_requests_are_told_as_in_memory() -> None:
    bad = [
        Request({"GEN": "male"}, "MED", 1),
        Request({"GEN": "male", "AGE": "51"}, "MED", 9),
        Request({"GEN": "male", "AGE": "51"}, "DIAG", 1),
    ]
    for request in bad:
        told = []
        for engine in (ROOMLESS, ROOMY):
            with pytest.raises(InputError) as error:
                broker(engine).quote(request)
            told.append(str(error.value))
        assert told[0] == told[1]


SHOPS: dict[str, dict[str, Any]] = {
    "in memory": {},
    "with a floor": {"floor": {"MED": 1}},
    "by similarity": {"match": {"MED": "GEN = GEN, AGE ~ AGE within 1"}},
    "at rates": {"schedule": [[0, 100], [0.001, 70]]},
    "sealed": {"quotes": "sealed", "policies": []},
    "sealed, with a floor": {"quotes": "sealed", "policies": [], "floor": {"MED": 1}},
}


@pytest.mark.parametrize("engine", [ROOMLESS, ROOMY], ids=["on the engine", "held"])
@pytest.mark.parametrize("how", SHOPS.values(), ids=list(SHOPS))
def test_one_tuple_is_quoted_what_it_is_among_many(how: dict[str, Any], engine: DuckEngine) -> None:
    provider = broker(engine, **how)
    asked = {"GEN": ["male", "female", "nobody", "male"], "AGE": ["51", "32", "1", None]}
    for level in (2, 1):
        ladders = provider.shop.ladders("MED", asked, "local").prices.tolist()
        alone = [dict(zip(asked, values, strict=True)) for values in zip(*asked.values(), strict=True)]
        assert [list(provider.shop.ladder("MED", values, "local")) for values in alone] == ladders
        quoted = tuple(map(QuotedLadder, ["MED"] * 4, alone, provider.quote_batch("MED", asked).prices.tolist()))
        payment = Payment(Request(alone[0], "MED", level), HIGH, str(level), quoted)
        assert [type(one) for one in provider.pay_many([payment])] == [Answer]
