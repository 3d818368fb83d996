"""`pacas catalogue`: what is for sale, of a file and at a URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running_service import app_of, served, with_account

from pacas import example
from pacas.cli.demo.files import PROVIDER
from pacas.cli.opened_provider import opened_provider, read_provider
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.remote.remote_provider import RemoteProvider

MED = {
    "attribute": "MED",
    "columns": ["GEN", "AGE"],
    "height": 3,
    "values": [6, 3, 2, 1],
    "digest": example.med.digest,
    "may_be_absent": False,
    "floor": 0,
    "bounds": None,
}
FLAT = [{"above": 0.0, "per_cent": 100.0}]
LADDER = [0.9, 0.65, 0.4, 0.0]
LISTED = {
    "keys": 6,
    "linked": ["MED"],
    "ladders": [{"prices": LADDER, "floor": 0, "keys": 4}, {"prices": LADDER, "floor": 3, "keys": 2}],
    "has_list": True,
}


@pytest.fixture
def sealed(folder: Path) -> Path:
    (folder / "provider.toml").write_text(PROVIDER)
    return folder / "provider.toml"


def test_a_file_with_sealed_quotes_lists_prices(pacas: Any, sealed: Path) -> None:
    told = pacas("catalogue", "provider.toml", "--json").document
    assert told == {"quotes": "sealed", "total": 5.4, "schedule": FLAT, "attributes": [{**MED, "prices": LISTED}]}


def test_the_paper_s_prices_are_told_from_where_to_where(pacas: Any) -> None:
    told = pacas("catalogue", "provider.toml", "--json").document
    bounds = [[1.0, 1.0], [0.7, 1.0], [0.4, 1.0], [0.0, 0.0]]
    paper = {**MED, "prices": None, "bounds": bounds}
    assert told == {"quotes": "paper", "total": 6.0, "schedule": FLAT, "attributes": [paper]}
    assert pacas("catalogue", "provider.toml").lines == [
        "1 attribute for sale, paper quotes, 6 credits for everything",
        "attribute  a request needs  levels  values from level 0 on",
        "MED        GEN, AGE              4  6 → 3 → 2 → 1",
        "",
        "MED: credits for one row, by its value, for who has bought nothing; more where a policy needs it",
        "level 0   level 1   level 2  level 3",
        "      1  0.7 to 1  0.4 to 1        0",
        "",
        "pacas quote says what a request costs",
    ]


@pytest.mark.parametrize("match", ["GEN ~ GEN normalized, AGE ~ AGE normalized", "GEN = GEN, AGE ~ AGE within 1"])
def test_prices_are_told_where_no_list_can_be_had(pacas: Any, sealed: Path, match: str) -> None:
    """Of a file and at a URL, where a client asks for its quotes."""
    sealed.write_text(PROVIDER.replace("GEN = GEN, AGE = AGE", match))
    told = [{**MED, "prices": {**LISTED, "has_list": False}}]
    assert pacas("catalogue", "provider.toml", "--json").document["attributes"] == told
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    with opened_provider(read_provider("provider.toml")) as provider, served(app_of(provider, accounts)) as url:
        assert pacas("catalogue", url, "--token", token, "--json").document["attributes"] == told
        with RemoteProvider(url, token) as remote:
            prices = remote.catalogue()["MED"].prices
            assert prices is not None and not prices.has_list
            quoted = remote.quote_batch("MED", {"GEN": ["male"], "AGE": ["51"]}).prices
        assert quoted.tolist() == provider.quote_batch("MED", {"GEN": ["male"], "AGE": ["51"]}).prices.tolist()


def test_bounds_of_the_paper_s_prices_are_told_at_a_url(pacas: Any, folder: Path) -> None:
    (told,) = pacas("catalogue", "provider.toml", "--json").document["attributes"]
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    with opened_provider(read_provider("provider.toml")) as provider:
        for publish, bounds in ((True, told["bounds"]), (False, None)):
            with served(app_of(provider, accounts, publish_prices=publish)) as url:
                (seen,) = pacas("catalogue", url, "--token", token, "--json").document["attributes"]
            assert seen["bounds"] == bounds


def test_for_people_it_shows_what_keys_cost_and_what_is_not_sold(pacas: Any, sealed: Path) -> None:
    assert pacas("catalogue", "provider.toml").lines[3:] == [
        "",
        "MED: 6 keys; credits for who has bought nothing",
        "keys  level 0  level 1  level 2  level 3",
        "   4      0.9     0.65      0.4        0",
        "   2        –        –        –        0",
    ]


def test_a_floor_is_told_of_a_file_and_at_a_url(pacas: Any, sealed: Path) -> None:
    sealed.write_text(f"floor = {{ MED = 1 }}\n{PROVIDER}")
    ladders = [{"prices": LADDER, "floor": 1, "keys": 4}, {"prices": LADDER, "floor": 3, "keys": 2}]
    floored = {**MED, "floor": 1, "prices": {**LISTED, "ladders": ladders}}
    assert pacas("catalogue", "provider.toml", "--json").document["attributes"] == [floored]
    assert "MED: nobody is sold it below level 1" in pacas("catalogue", "provider.toml").lines
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    with opened_provider(read_provider("provider.toml")) as provider, served(app_of(provider, accounts)) as url:
        assert pacas("catalogue", url, "--token", token, "--json").document["attributes"] == [floored]


def test_a_schedule_is_told_of_a_file_and_at_a_url(pacas: Any, sealed: Path) -> None:
    sealed.write_text(PROVIDER.replace("[pricing]", "[pricing]\nschedule = [[0, 100], [2, 62.5]]"))
    steps = [{"above": 0.0, "per_cent": 100.0}, {"above": 2.0, "per_cent": 62.5}]
    assert pacas("catalogue", "provider.toml", "--json").document["schedule"] == steps
    said = "who buys more pays less: 100 % of the list, above 2 list credits 62.5 %"
    assert said in pacas("catalogue", "provider.toml").lines
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    with opened_provider(read_provider("provider.toml")) as provider, served(app_of(provider, accounts)) as url:
        assert pacas("catalogue", url, "--token", token, "--json").document["schedule"] == steps
    sealed.write_text(PROVIDER.replace("[pricing]", "[pricing]\nschedule = [[0, 80], [2, 100]]"))
    assert "pricing.schedule: rates may not rise" in pacas("catalogue", "provider.toml").complaint


def test_a_url_tells_the_same_but_the_total(pacas: Any, sealed: Path) -> None:
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    with opened_provider(read_provider("provider.toml")) as provider, served(app_of(provider, accounts)) as url:
        told = pacas("catalogue", url, "--token", token, "--json").document
        assert "the token is missing" in pacas("catalogue", url).complaint
        assert "for everything" not in pacas("catalogue", url, "--token", token).out
    assert told == {"quotes": "sealed", "total": None, "schedule": FLAT, "attributes": [{**MED, "prices": LISTED}]}


def test_values_that_are_not_told_are_not_counted(pacas: Any, folder: Path) -> None:
    (folder / "provider.toml").write_text(
        '[relation]\ndata = "sp.csv"\n[match]\nMED = "GEN = GEN"\n[pricing]\nquotes = "paper"\n'
    )
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    with opened_provider(read_provider("provider.toml")) as provider, served(app_of(provider, accounts)) as url:
        (told,) = pacas("catalogue", url, "--token", token, "--json").document["attributes"]
    assert (told["height"], told["values"]) == (1, None)
