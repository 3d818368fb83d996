"""Members of a circle are safe together: by the literal definition over all that anybody has sold, in random worlds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from circles import ATTRIBUTES, SECRET, MemoryHouse, World, drawn_world, put_down, request, sealed

import pacas
from pacas.core.dependency import FunctionalDependency
from pacas.errors import HouseError, InputError, LedgerChangedError
from pacas.protocol.circle import CircleLine, CircleLines, circle_key
from pacas.protocol.messages import Answer, Reason, Refusal
from pacas.provider.audit import audit
from pacas.provider.circle import ELSEWHERE, Circle
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.quoter.declared import DeclaredDependency, EarlierSales, Sealing
from pacas.provider.quoter.public_view import Reserve

HIGH = 10**15


def ways(seed: int) -> list[dict[str, Any]]:
    return [sealed(), {"quotes": "paper", "seed": seed}]


def bought_at_random(chance: Random, world: World, members: list[pacas.Provider]) -> tuple[int, int]:
    """How many people were left with fewer than k pairs, and how many values were sold."""
    sold: dict[tuple[str, str], set[str]] = {}
    answers = 0
    for number in range(60):
        asked = request(chance.choice(list(world.rows["K"])), chance.choice(ATTRIBUTES), chance.choice([0, 0, 1, 2]))
        member = chance.choice(members)
        answers += put_down(sold, asked, member.pay(asked, HIGH, str(number), buyer=chance.choice("uvw")))
    return sum(world.possible(sold, person) < world.k for person in world.rows["K"]), answers


@pytest.mark.parametrize("seed", range(8))
def test_members_of_a_circle_leave_k_pairs_of_everybody(seed: int) -> None:
    chance = Random(seed)
    world = drawn_world(chance)
    for how in ways(seed):
        house = MemoryHouse()
        members = [world.member(house, name, **how) for name in ("A", "B", "C")[: chance.randint(2, 3)]]
        broken, answers = bought_at_random(chance, world, members)
        assert broken == 0 and answers > 0
        assert all(audit(member).holds for member in members)


def test_without_a_house_safe_members_are_not_safe_together() -> None:
    """Why there is one: each keeps the policy, and who buys of two of them knows the pair."""
    broken = 0
    for seed in range(8):
        world = drawn_world(Random(seed))
        members = [world.member(None, name, **sealed()) for name in "AB"]
        broken += bought_at_random(Random(seed), world, members)[0]
        assert all(audit(member).holds for member in members)
    assert broken > 10


@pytest.mark.parametrize("number", range(2))
def test_a_member_counts_what_another_has_sold_as_if_it_had_itself(number: int) -> None:
    """Two members sell just what one alone would have sold, in the same order."""
    for seed in range(6):
        chance, world = Random(seed), drawn_world(Random(seed))
        how, house = ways(seed)[number], MemoryHouse()
        alone, members = world.member(None, "alone", **how), [world.member(house, name, **how) for name in "AB"]
        for count in range(40):
            asked = request(chance.choice(list(world.rows["K"])), chance.choice(ATTRIBUTES), chance.choice([0, 1]))
            told = [one.pay(asked, HIGH, str(count), buyer="u") for one in (alone, chance.choice(members))]
            assert isinstance(told[0], Answer) == isinstance(told[1], Answer)


def one_world() -> World:
    """Three drugs and three conditions, of which three pairs must stay possible."""
    tree = {a: pacas.Hierarchy.flat([f"{a}{n}" for n in range(3)]) for a in ATTRIBUTES}
    rows = {"K": [f"p{n}" for n in range(60)], **{a: [f"{a}{n % 3}" for n in range(60)] for a in ATTRIBUTES}}
    return World(rows, tree, 3)


def test_what_is_reserved_and_not_sold_counts_for_others() -> None:
    """A crash between the house and the own ledger: nothing was told, and others do as if it had been."""
    world, house = one_world(), MemoryHouse()
    first, second = (world.member(house, name, **sealed()) for name in "AB")
    asked = request("p1", "DRUG", 0)

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    first.ledger.append = crash  # type: ignore[method-assign, assignment]
    with pytest.raises(KeyboardInterrupt):
        first.pay(asked, HIGH, "1")
    del first.ledger.append
    assert second.pay(request("p1", "CONDITION", 0), HIGH, "1") == Refusal(Reason.UNSAFE)
    assert isinstance(first.pay(asked, HIGH, "1"), Answer), "its own line does not keep it from selling that"
    assert len(next(iter(house.kept.values())).lines) == 1


def test_without_the_house_nothing_is_sold() -> None:
    world, house = one_world(), MemoryHouse()
    member = world.member(house, "A", **sealed())
    house.is_away = True
    with pytest.raises(HouseError, match="nothing is sold"):
        member.pay(request("p1", "DRUG", 0), HIGH, "1")
    assert member.ledger.head().entries == 1
    house.is_away = False
    assert isinstance(member.pay(request("p1", "DRUG", 0), HIGH, "1"), Answer)
    house.is_away = True
    again = member.pay(request("p1", "DRUG", 0), HIGH, "1")
    assert isinstance(again, Answer), "what was sold is told again"


def test_no_value_and_no_name_is_in_the_house() -> None:
    world, house = one_world(), MemoryHouse()
    member = world.member(house, "A", **sealed())
    member.pay(request("p1", "DRUG", 0), HIGH, "1", buyer="ann")
    ((key, kept),) = house.kept.items()
    assert kept == CircleLines(1, (CircleLine("DRUG", 0, "A"),))
    assert key == circle_key(SECRET, {"K": "p1"}) != circle_key(SECRET[::-1], {"K": "p1"})


def test_two_and_four_members_race_over_the_same_people() -> None:
    for members in (2, 4):
        world, house = one_world(), MemoryHouse()
        found = [world.member(house, str(n), **sealed()) for n in range(members)]
        sold: list[dict[tuple[str, str], set[str]]] = [{} for _ in found]

        def sell(number: int, found: Any = found, sold: Any = sold, world: World = world) -> None:
            chance = Random(number)
            for person in world.rows["K"]:
                asked = request(person, chance.choice(ATTRIBUTES), 0)
                put_down(sold[number], asked, found[number].pay(asked, HIGH, person))

        with ThreadPoolExecutor(members) as pool:
            list(pool.map(sell, range(members)))
        together: dict[tuple[str, str], set[str]] = {}
        for one in sold:
            for place, nodes in one.items():
                together.setdefault(place, set()).update(nodes)
        assert min(world.possible(together, person) for person in world.rows["K"]) >= world.k


def test_lines_that_cannot_be_judged_here_refuse() -> None:
    world, house = one_world(), MemoryHouse()
    match = {"DRUG": "K = K"}
    trees = {"DRUG": world.trees["DRUG"].digest}
    member = world.member(house, "A", match=match, common_trees=trees, **sealed())
    key = circle_key(SECRET, {"K": "p1"})
    house.kept[key] = CircleLines(1, (CircleLine("WEIGHT", 0, "B"),))
    assert isinstance(member.pay(request("p1", "DRUG", 0), HIGH, "1"), Answer), "no policy is about it"
    house.kept[key] = CircleLines(2, (CircleLine("CONDITION", 0, "B"),))
    assert member.pay(request("p1", "DRUG", 0), HIGH, "2") == Refusal(Reason.UNSAFE)
    key = circle_key(SECRET, {"K": "p2"})
    house.kept[key] = CircleLines(1, (CircleLine("DRUG", 9, "B"),))
    assert member.pay(request("p2", "DRUG", 0), HIGH, "3") == Refusal(Reason.UNSAFE)


def test_a_circle_is_not_joined_where_lines_would_not_say_enough() -> None:
    world = one_world()
    trees = {a: tree.digest for a, tree in world.trees.items()}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"quotes": "paper", "history": "per_buyer"}, "per_buyer"),
        ({"quotes": "sealed"}, 'reserve = "last"'),
        (sealed() | {"common_trees": {"DRUG": trees["DRUG"]}}, "name that of CONDITION"),
        (
            sealed() | {"match": {"DRUG": "K = K", "CONDITION": "K = K, DRUG = DRUG"}},
            "different columns|linkage|public",
        ),
    ]
    for how, said in wrong:
        with pytest.raises(InputError, match=said):
            world.member(MemoryHouse(), "A", **how)
    rows = {**world.rows, "FAMILY": [f"f{n // 6}" for n in range(60)]}
    rows["CONDITION"] = [f"CONDITION{n // 6 % 3}" for n in range(60)]
    tied = Sealing([DeclaredDependency(FunctionalDependency(("FAMILY",), "CONDITION"))], reserve=Reserve.LAST)
    with pytest.raises(InputError, match=r"what is sold of one tells of others, and a line is about one"):
        world._replace(rows=rows).member(MemoryHouse(), "A", sealing=tied)
    of_one = Sealing([DeclaredDependency(FunctionalDependency(("K", "FAMILY"), "CONDITION"))], reserve=Reserve.LAST)
    world._replace(rows=rows).member(MemoryHouse(), "A", sealing=of_one)
    with pytest.raises(InputError, match="takes a clearing house"):
        world.member(None, "A", common_trees=trees, **sealed())
    with pytest.raises(InputError, match="32 bytes"):
        Circle(MemoryHouse(), "A", b"short")


def test_a_ledger_with_sales_stays_in_its_circle() -> None:
    """What it sold outside is in no house: so it cannot join, nor leave."""
    world, ledger = one_world(), MemoryLedger()
    world.member(None, "A", ledger, **sealed()).pay(request("p1", "DRUG", 0), HIGH, "1")
    with pytest.raises(LedgerChangedError, match="circle"):
        world.member(MemoryHouse(), "A", ledger, **sealed())
    ledger = MemoryLedger()
    world.member(MemoryHouse(), "A", ledger, **sealed()).pay(request("p1", "DRUG", 0), HIGH, "1")
    for house, name in ((None, "A"), (MemoryHouse(), "B")):
        with pytest.raises(LedgerChangedError, match="circle"):
            world.member(house, name, ledger, **sealed())


def test_what_was_sold_before_a_circle_is_in_no_house_and_does_not_come_in_by_a_new_ledger() -> None:
    world, house = one_world(), MemoryHouse()

    def begun_anew(sold: pacas.Provider, circle: MemoryHouse | None, name: str) -> pacas.Provider:
        opening = sold.ledger.opening()
        assert opening is not None
        before = EarlierSales(sold.ledger.requests(), opening.fingerprint)
        return world.member(circle, name, sealing=Sealing(reserve=Reserve.LAST, sold_before=[before]))

    alone, member = world.member(None, "A", **sealed()), world.member(house, "A", **sealed())
    for one in (alone, member):
        one.pay(request("p1", "DRUG", 0), HIGH, "1")
    for sold, circle, name in ((alone, house, "A"), (member, None, "A"), (member, house, "B")):
        with pytest.raises(InputError, match="in another circle, or in none"):
            begun_anew(sold, circle, name)
    again = begun_anew(member, house, "A")
    assert again.pay(request("p1", "CONDITION", 0), HIGH, "1") == Refusal(Reason.UNSAFE)


def test_no_buyer_is_called_as_others_sales_are() -> None:
    with pytest.raises(InputError, match="another name"):
        one_world().member(MemoryHouse(), "A", **sealed()).pay(request("p1", "DRUG", 0), HIGH, "1", buyer=ELSEWHERE)
