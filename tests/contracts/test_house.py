"""What every clearing house must do: in this process, in SQLite, in PostgreSQL, at a service."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from circles import MemoryHouse
from example_shop import example_provider
from postgres import POSTGRES
from running_service import KEY, served, stop_the_clock_of_limits, with_account

from pacas.errors import HouseError
from pacas.protocol.circle import CircleLine, CircleLines
from pacas.provider.ledger.accounts import MemoryAccounts, Role
from pacas.remote.http_house import HttpHouse
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.storage.url import open_house, open_kept_house

A, B = "a" * 64, "b" * 64
DRUG, CONDITION = CircleLine("DRUG", 0, "m"), CircleLine("CONDITION", 2, "m")


@pytest.fixture(params=["memory", "sqlite", "service", POSTGRES])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with ExitStack() as stack:
        made: Any
        match request.param:
            case "memory":
                made = MemoryHouse()
            case "sqlite":
                made = open_kept_house("sqlite:///shop.db", tmp_path)
                assert (tmp_path / "shop.db.circle").exists() and not (tmp_path / "shop.db").exists()
            case "service":
                accounts = MemoryAccounts()
                token = with_account(accounts, "m", role=Role.MEMBER)
                app = create_app(example_provider(), accounts, ServiceSettings(), KEY, house=MemoryHouse())
                made = HttpHouse(stack.enter_context(served(app)), token, patience=1)
            case _:
                made = open_house(request.getfixturevalue("postgres_url"))
        stack.callback(made.close)
        yield made


def test_lines_are_added_to_the_version_that_was_read(house: Any) -> None:
    assert house.read(A) == CircleLines(0, ())
    assert not house.reserve(A, 1, DRUG) and house.read(A).version == 0
    assert house.reserve(A, 0, DRUG)
    assert house.read(A) == CircleLines(1, (DRUG,)) and house.read(B) == CircleLines()
    assert not house.reserve(A, 0, CONDITION)
    assert house.reserve(A, 1, DRUG), "it is there"
    assert house.read(A) == CircleLines(1, (DRUG,))
    assert house.reserve(A, 1, CONDITION)
    assert house.read(A) == CircleLines(2, (DRUG, CONDITION))


def test_of_many_who_read_the_same_version_one_adds(house: Any) -> None:
    lines = [CircleLine("DRUG", level, "m") for level in range(4)]
    for version in range(3):
        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(lambda line, v=version: house.reserve(A, v, line), lines))
        assert sum(done) == 1
        assert house.read(A).version == version + 1
        lines = [line for line in lines if line not in house.read(A).lines]


def test_a_service_lets_members_in_and_nobody_else() -> None:
    accounts = MemoryAccounts()
    tokens = {role: with_account(accounts, role.value, role=role) for role in (Role.MEMBER, Role.CLIENT)}
    kept = MemoryHouse()
    with ExitStack() as stack:

        def asked_by(role: Role, url: str) -> HttpHouse:
            return stack.enter_context(closing(HttpHouse(url, tokens[role], patience=0.5)))

        with served(create_app(example_provider(), accounts, ServiceSettings(), KEY, house=kept)) as url:
            member = asked_by(Role.MEMBER, url)
            assert member.reserve(A, 0, CircleLine("DRUG", 0, "somebody else"))
            assert kept.kept[A].lines == (CircleLine("DRUG", 0, "member"),), "a line is its account's"
            with pytest.raises(HouseError, match="64 hex digits"):
                member.read("short")
            with pytest.raises(HouseError, match="role 'member'"):
                asked_by(Role.CLIENT, url).read(A)
        with pytest.raises(HouseError, match="nothing is sold"):
            member.read(A)
        url = stack.enter_context(served(create_app(example_provider(), accounts, ServiceSettings(), KEY)))
        with pytest.raises(HouseError, match="keeps no clearing house"):
            asked_by(Role.MEMBER, url).read(A)


@pytest.mark.parametrize("told", [b"<html>welcome</html>", b"{}", b'{"version": 1, "lines": []}'])
def test_a_line_that_is_not_told_back_is_not_reserved(told: bytes) -> None:
    """Something in between says 200 to everything: who would sell by that sells what nobody knows of."""
    accounts = MemoryAccounts()
    token = with_account(accounts, "m", role=Role.MEMBER)
    app = create_app(example_provider(), accounts, ServiceSettings(), KEY, house=MemoryHouse())

    async def forgetful(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "PUT":
            return await app(scope, receive, send)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": told})

    with served(forgetful) as url, closing(HttpHouse(url, token, patience=0.5)) as house:
        assert house.read(A) == CircleLines()
        with pytest.raises(HouseError, match="nothing is sold"):
            house.reserve(A, 0, DRUG)


@pytest.mark.attack
def test_a_service_counts_what_a_member_asks_and_who_asks_too_much_sells_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop_the_clock_of_limits(monkeypatch)
    accounts, kept = MemoryAccounts(), MemoryHouse()
    greedy, modest = (with_account(accounts, name, role=Role.MEMBER) for name in ("greedy", "modest"))
    app = create_app(example_provider(), accounts, ServiceSettings(quotes_per_minute=10), KEY, house=kept)
    with served(app) as url, ExitStack() as stack:
        houses = (HttpHouse(url, token, patience=0.5) for token in (greedy, modest))
        many, one = (stack.enter_context(closing(house)) for house in houses)
        for number in range(8):
            many.read(f"{number:064x}")
        assert many.reserve(A, 0, DRUG) and not many.reserve(A, 0, CONDITION), "a conflict counts, too"
        with pytest.raises(HouseError, match=r"nothing is sold: .* too much was asked"):
            many.read(B)
        with pytest.raises(HouseError, match="too much was asked"):
            many.reserve(B, 0, DRUG)
        assert B not in kept.kept, "what is too much is not done"
        assert one.read(A).lines == (CircleLine("DRUG", 0, "greedy"),), "each member has its own"


@pytest.mark.attack
def test_lines_that_fill_a_key_count_for_who_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_the_clock_of_limits(monkeypatch)
    accounts, kept = MemoryAccounts(), MemoryHouse()
    token = with_account(accounts, "m", role=Role.MEMBER)
    kept.kept[A] = CircleLines(499, tuple(CircleLine(f"X{n}", 0, "other") for n in range(499)))
    app = create_app(example_provider(), accounts, ServiceSettings(quotes_per_minute=10), KEY, house=kept)
    with served(app) as url, closing(HttpHouse(url, token, patience=0.5)) as house:
        for _ in range(2):
            assert house.read(A).version == 499
        with pytest.raises(HouseError, match="too much was asked"):
            house.read(A)
