"""`pacas offer`, and what accounts, audits and dry runs say of terms."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from running_service import KEY, served, with_account

from pacas.cli.opened_provider import opened_provider, read_provider
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.storage.url import open_offers

MAKE = ("offer", "make", "ann", "provider.toml", "--schedule", "0:80,20:60", "--prepaid", "40", "--days", "90")


def told(pacas: Any, *arguments: str) -> Any:
    """What a command says as JSON; warnings go to stderr."""
    found = pacas(*arguments, "--json")
    assert found.code == 0, found.err
    return json.loads(found.out)


def made(pacas: Any, buyer: str, schedule: str, *more: str) -> Any:
    return told(pacas, "offer", "make", buyer, "provider.toml", "--schedule", schedule, *more)


def test_an_offer_is_made_listed_and_withdrawn(pacas: Any, folder: Path) -> None:
    pacas("account", "add", "ann", "provider.toml")
    offer = told(pacas, *MAKE)
    assert offer["schedule"] == [{"above": 0, "per_cent": 80}, {"above": 20, "per_cent": 60}]
    assert (offer["buyer"], offer["state"], offer["stands"], offer["prepaid"]) == ("ann", "made", True, 40)
    assert told(pacas, "offer", "list", "provider.toml") == {"offers": [offer]}
    assert "80 % of the list, above 20 list credits 60 %" in pacas("offer", "list", "provider.toml").out
    assert told(pacas, "offer", "withdraw", offer["offer"], "provider.toml")["state"] == "withdrawn"
    assert "it is withdrawn" in pacas("offer", "accept", offer["offer"], "provider.toml").complaint


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--schedule", "0:60,20:80"), "rates may not rise"),
        (("--schedule", "0:33.333"), "at most two decimals, not '33.333'"),
        (("--schedule", "5:60"), "begins at 0"),
        (("--schedule", "80"), "as in 0:80,20:60"),
        (("--schedule", "0:100,20:110"), "at most 100 per cent"),
        (("--prepaid", "-1"), "must not be negative"),
        (("--days", "0"), "days"),
        (("--stands", "0"), "days"),
    ],
)
def test_an_offer_that_is_none_is_refused(pacas: Any, folder: Path, change: tuple[str, str], said: str) -> None:
    assert said in pacas(*MAKE, *change).complaint
    assert told(pacas, "offer", "list", "provider.toml") == {"offers": []}


def test_accepted_terms_are_in_account_and_audit(pacas: Any, folder: Path) -> None:
    pacas("account", "add", "ann", "provider.toml")
    offer = made(pacas, "ann", "0:50", "--prepaid", "1")
    assert told(pacas, "offer", "accept", offer["offer"], "provider.toml")["state"] == "accepted"
    (account,) = told(pacas, "account", "list", "provider.toml")["accounts"]
    assert account["terms"]["unused"] == account["terms"]["prepaid"] == 1 and account["listed"] == 0
    assert "50 % of the list, 1 of 1 prepaid left" in pacas("account", "list", "provider.toml").out
    found = told(pacas, "audit", "provider.toml")
    assert found["holds"] and found["buyers"][0]["terms"]["schedule"] == [{"above": 0, "per_cent": 50}]
    assert "50 % of the list, 1 prepaid" in pacas("audit", "provider.toml", "--report", "audit.html").out
    assert "50 % of the list, 1 prepaid" in (folder / "audit.html").read_text()


def test_a_dry_run_says_which_offer_would_pay(pacas: Any, folder: Path) -> None:
    plan = ("clean", "client.toml", "--provider", "provider.toml", "--budget", "2", "--strategy", "paper", "--dry-run")
    before = told(pacas, *plan)
    assert "offers" not in before and before["spent"] > 0
    dear = made(pacas, "local", "0:40", "--prepaid", "50")["offer"]
    good = made(pacas, "local", "0:75")["offer"]
    made(pacas, "another", "0:1")
    found = told(pacas, *plan)["offers"]
    assert [(one["offer"], one["pays"]) for one in found] == [(good, True), (dear, False)]
    assert found[0]["cost_now"] == pytest.approx(before["spent"]) and found[1]["bill"] == 50
    assert found[0]["bill"] == pytest.approx(0.75 * before["spent"])
    shown = pacas(*plan).out
    assert f"pacas offer accept {good}" in shown and "would not pay" in shown
    pacas("offer", "accept", good, "provider.toml")
    assert told(pacas, *plan)["spent"] == pytest.approx(0.75 * before["spent"])


@pytest.mark.parametrize("strategy", ["paper", "weigh"])
def test_a_dry_run_plans_anew_on_the_terms_of_an_offer(pacas: Any, folder: Path, strategy: str) -> None:
    budget = ("--budget", "0.4", "--strategy", strategy, "--dry-run")
    plan = ("clean", "client.toml", "--provider", "provider.toml", *budget)
    before = told(pacas, *plan)
    made(pacas, "local", "0:100", "--prepaid", "0.1")
    good = made(pacas, "local", "0:20", "--prepaid", "0.3")["offer"]
    beyond = made(pacas, "local", "0:10", "--prepaid", "0.5")["offer"]  # than may be spent: no plan is made of it
    found = {one["offer"]: one for one in told(pacas, *plan)["offers"]}
    assert found[beyond]["anew"] is None and not found[beyond]["pays"]
    anew = found[good]["anew"]
    assert sum(one["anew"] is not None for one in found.values()) == 1  # at the same rates the plan is the same
    assert anew["purchases"] > len(before["purchases"]) and anew["list_price"] > found[good]["cost_now"]
    assert anew["bill"] <= 0.4 and anew["violations_after"] <= before["violations_after"]
    assert found[good]["pays"] == (anew["bill"] <= found[good]["cost_now"])
    assert f"planned anew on these terms: {anew['purchases']} purchases" in pacas(*plan).out
    pacas("offer", "accept", good, "provider.toml")
    after = told(pacas, *plan)
    assert len(after["purchases"]) == anew["purchases"]
    assert max(after["spent"], 0.3) == pytest.approx(anew["bill"])


@pytest.fixture
def url(pacas: Any, folder: Path) -> Iterator[str]:
    pacas("account", "list", "provider.toml")  # and with it the ledger
    accounts = MemoryAccounts()
    with_account(accounts, "ann", token="token-of-ann")
    with (
        opened_provider(file := read_provider(str(folder / "provider.toml"))) as provider,
        closing(open_offers(file.ledger_url, file.folder)) as offers,
        served(create_app(provider, accounts, ServiceSettings(), KEY, offers=offers)) as found,
    ):
        yield found


def test_a_buyer_asks_compares_and_accepts_at_a_url(
    pacas: Any, folder: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PACAS_TOKEN", "token-of-ann")
    wish = told(pacas, "offer", "ask", url, "--rate", "62.5", "--prepaid", "4", "--days", "30")
    assert wish["state"] == "asked" and wish["schedule"] == [{"above": 0, "per_cent": 62.5}]
    assert told(pacas, "offer", "list", "provider.toml")["offers"][0]["buyer"] == "ann"
    offer = made(pacas, "ann", "0:70")["offer"]
    assert [one["state"] for one in told(pacas, "offer", "list", url)["offers"]] == ["answered", "made"]
    plan = ("clean", "client.toml", "--provider", url, "--budget", "2", "--strategy", "paper", "--dry-run")
    assert [(one["offer"], one["pays"]) for one in told(pacas, *plan)["offers"]] == [(offer, True)]
    assert told(pacas, "offer", "accept", offer, url)["state"] == "accepted"
    assert "offers" not in told(pacas, *plan)
    assert "in per cent of the list" in pacas("offer", "ask", url, "--rate", "0.7").complaint
    assert "ask a provider at a URL" in pacas("offer", "ask", "provider.toml", "--rate", "5").complaint
