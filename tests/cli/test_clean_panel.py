"""`pacas clean` with several providers."""

from __future__ import annotations

import csv
import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from flaky_proxy import ANSWER, REQUEST, flaky
from running_service import served, with_account

from pacas import open_client
from pacas.cli.opened_provider import opened_provider, read_provider
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.remote.remote_provider import RemoteProvider
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.signing_key import SigningKey
from pacas.wire.connection_file import ConnectionFile

CLEAN = ("clean", "client.toml", "--budget", "4", "--strategy", "paper", "--output", "out.csv")
BOTH = ("--provider", "A=provider.toml", "--provider", "B=other.toml")


@pytest.fixture
def two(folder: Path) -> Path:
    """Beside the example's provider another one, which sells the same table, with a ledger of its own."""
    text = (folder / "provider.toml").read_text()
    (folder / "other.toml").write_text(text.replace("provider.ledger.db", "other.ledger.db"))
    return folder


def test_both_are_asked_within_one_budget(pacas: Any, two: Path) -> None:
    told = pacas(*CLEAN, *BOTH, "--report", "page.html", "--explain", "0", "MED", "--json").document
    assert [one["name"] for one in told["providers"]] == ["A", "B"]
    assert sum(one["spent"] for one in told["providers"]) == pytest.approx(told["spent"])
    assert told["spent"] == pytest.approx(sum(p["price"] for p in told["purchases"])) and told["spent"] <= 4
    assert {p["provider"] for p in told["purchases"]} == {"A", "B"}
    orders = [json.loads(line) for line in (two / "out.csv.journal").read_text().splitlines() if "ordering" in line]
    assert [order["provider"] for order in orders] == [p["provider"] for p in told["purchases"]]
    assert "By provider" in (two / "page.html").read_text() and ">From<" in (two / "page.html").read_text()
    assert (two / "provider.ledger.db").exists() and (two / "other.ledger.db").exists()


def test_it_is_continued_and_says_that_it_was_done(pacas: Any, two: Path) -> None:
    first = pacas(*CLEAN, *BOTH, "--json").document
    again = pacas(*CLEAN, *BOTH, "--resume", "--json").document
    assert {**again, "providers": 0} == {**first, "providers": 0}
    assert "provider, buyer differ" in pacas(*CLEAN, "--provider", "A=provider.toml", "--resume").err
    gone = pacas(*CLEAN, "--provider", "A=provider.toml", "--provider", "B=http://127.0.0.1:9", "--resume").err
    assert "B: not there now" in gone and "or remove out.csv.journal and begin anew with the others" in gone


def test_the_client_file_names_them(pacas: Any, two: Path) -> None:
    text = (two / "client.toml").read_text()
    sections = '[providers.A]\nprovider = "provider.toml"\n[providers.B]\nprovider = "other.toml"\n'
    (two / "client.toml").write_text(text + sections)
    lines = pacas(*CLEAN).lines
    assert any(line.startswith("provider ") and "right, as learnt" in line for line in lines)
    assert any(line.split()[:1] == ["A"] for line in lines) and any(line.split()[:1] == ["B"] for line in lines)
    (two / "client.toml").write_text('provider = "provider.toml"\n' + text + sections)
    assert "leave out one of the two" in pacas(*CLEAN).complaint
    (two / "client.toml").write_text(text + "[providers.A]\n")
    assert "providers.A" in pacas(*CLEAN).complaint


def test_one_that_is_away_costs_a_line(pacas: Any, two: Path) -> None:
    found = pacas(*CLEAN, *BOTH, "--provider", "C=http://127.0.0.1:9", "--token", "t", "--json")
    at_first, at_the_end = found.err.splitlines()
    assert found.code == 0 and at_first.startswith("pacas: C is away, and called again at the end: ")
    *there, left_out = json.loads(found.out)["providers"]
    assert [(one["name"], one["away"]) for one in there] == [("A", None), ("B", None)]
    assert (left_out["name"], left_out["purchases"]) == ("C", 0) and at_the_end == f"pacas: C: {left_out['away']}"


def test_one_whose_token_has_expired_costs_a_line_here_and_in_python(pacas: Any, two: Path) -> None:
    ended = "2023-11-14T00:00:00+00:00"
    ConnectionFile("http://127.0.0.1:9", "ann", "t", SigningKey.generate().public_key, ended).write(two / "C.pacas")
    found = pacas(*CLEAN, *BOTH, "--provider", "C.pacas", "--json")
    line = "pacas: C is away, and called again at the end: C.pacas: its token expired on 2023-11-14"
    assert found.code == 0 and found.err.startswith(line)
    cleaned = open_client("client.toml").clean({"A": "provider.toml", "C": "C.pacas"}, 4, strategy="paper")
    assert cleaned.panel is not None and "its token expired" in cleaned.panel.away["C"]
    (two / "C.pacas").chmod(0o644)
    assert "chmod 600" in pacas(*CLEAN, *BOTH, "--provider", "C.pacas").complaint, "a mistake of one's own is none"


@pytest.mark.parametrize("status", [404, 409, 413, 422])
def test_one_that_answers_otherwise_than_a_provider_costs_a_line(pacas: Any, two: Path, status: int) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (asked := await receive())["type"] == "lifespan.startup":
                await send({"type": f"{asked['type']}.complete"})
            return await send({"type": f"{asked['type']}.complete"})
        body = b'{"error": {"code": "not_found", "message": "nothing is here"}}'
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": body})

    with served(app) as url:
        found = pacas(*CLEAN, *BOTH, "--provider", f"C={url}", "--token", "t", "--json")
    assert found.code == 0 and found.err.startswith("pacas: C is away, and called again at the end: ")
    assert "nothing is here" in found.err


def test_near_names_of_each_are_suggested_and_then_both_are_asked(pacas: Any, two: Path) -> None:
    """One that has another name for what is sold, one for what it is found by: the client has the other's names."""
    sold = (two / "sp.csv").read_text()
    (two / "otherwise.csv").write_text(sold.replace("MED", "Medication").replace("GEN", "Gender"))
    text = (two / "other.toml").read_text().replace("MED", "Medication").replace("GEN", "Gender")
    (two / "other.toml").write_text(text.replace("sp.csv", "otherwise.csv"))
    alone = pacas(*CLEAN, *BOTH, "--dry-run")
    assert (
        "pacas: B: 'MED' is not for sale; if that is the provider's 'Medication', say so in client.toml: " in alone.err
    )
    client = (two / "client.toml").read_text()
    (two / "client.toml").write_text(f'{client}[columns]\nMED = "Medication"\n')
    found = pacas(*CLEAN, *BOTH, "--dry-run")
    assert "pacas: B: if its 'Gender' is your 'GEN', say so in client.toml: [columns] with GEN = " in found.err
    assert "B: the provider finds" in found.err and "not for sale" not in found.err and "A: " not in found.err
    (two / "client.toml").write_text(f'{client}[columns]\nMED = "Medication"\nGEN = "Gender"\n')
    both = pacas(*CLEAN, *BOTH, "--json")
    assert both.err == "" and {p["provider"] for p in both.document["purchases"]} == {"A", "B"}


def test_no_match_says_how_many_would_match_normalized_at_each(pacas: Any, two: Path) -> None:
    dirty = (two / "client.csv").read_text()
    (two / "client.csv").write_text(
        dirty.replace("female", "Female").replace('"male', '"MALE').replace('"51"', '"51.0"')
    )
    told = pacas(*CLEAN, *BOTH, "--dry-run", "--json").document
    assert told["would_match"] == [
        {"provider": name, "attribute": "MED", "found": 4, "tried": 5} for name in ("A", "B")
    ]
    lines = pacas(*CLEAN, *BOTH, "--dry-run").err.splitlines()
    assert [line.split(" if ")[0] for line in lines] == [
        f"pacas: {name}: MED: no_match: at least 4 of 5 tried would match" for name in ("A", "B")
    ]
    toml = (two / "other.toml").read_text()
    (two / "other.toml").write_text(
        toml.replace('"GEN = GEN, AGE = AGE"', '"GEN ~ GEN normalized, AGE ~ AGE normalized"')
    )
    found = pacas(*CLEAN, *BOTH, "--json")
    told = json.loads(found.out)
    assert told["spent"] > 0 and all(one["provider"] == "A" for one in told.get("would_match", ()))


@pytest.mark.parametrize("strategy", ["paper", "weigh"])
@pytest.mark.parametrize("held", [2, 10**9], ids=["for a while", "for ever"])
def test_one_that_is_slow_costs_a_line(pacas: Any, two: Path, held: int, strategy: str) -> None:
    """B sells, and its answers stay away: it is left alone until the end, and an order that it took is paid once."""
    accounts, key, over, asked = MemoryAccounts(), SigningKey.generate(), Event(), []
    token = with_account(accounts, "ann")

    def slow(what: str, data: bytes) -> bool:
        if what == REQUEST and b"POST /v1/purchases" in data:
            asked.append(data)
        if what == ANSWER and 0 < len(asked) < held:
            over.wait()
        return False

    with ExitStack() as stack:
        provider = stack.enter_context(opened_provider(read_provider(str(two / "other.toml"))))
        server = stack.enter_context(served(create_app(provider, accounts, ServiceSettings(), key)))
        url = stack.enter_context(flaky(server, slow))
        stack.callback(over.set)
        ConnectionFile(url, "ann", token, key.public_key).write(two / "B.pacas")
        panel = (*CLEAN, "--strategy", strategy, "--provider", "B=B.pacas", "--provider", "A=provider.toml")
        found = pacas(*panel, "--patience", "2", "--json")
        with RemoteProvider(server, token) as account:
            charged = account.balance().spent
    assert found.code == 0 and charged
    told = json.loads(found.out)
    of_b = next(one for one in told["providers"] if one["name"] == "B")
    sold = sum(one["price"] for one in told["purchases"] if one["provider"] == "B")
    assert sold + told["may_have_cost"] == pytest.approx(charged / 10**9)
    assert told["spent"] + told["may_have_cost"] <= 4 and {one["provider"] for one in told["purchases"]} >= {"A"}
    if held == 2:  # it is back when it is called at the end
        assert sold and not told["may_have_cost"] and of_b["away"] is None
    else:
        assert not sold and len(asked) == 2, "asked once, and once again at the end"
        assert "takes too long for an answer" in of_b["away"]
        assert [line for line in found.err.splitlines() if "pacas: B: " in line] == [f"pacas: B: {of_b['away']}"]


@pytest.mark.parametrize("strategy", ["paper", "weigh"])
def test_one_that_goes_away_ends_no_dry_run_either(pacas: Any, two: Path, strategy: str) -> None:
    """Nothing answers at B from its first quotes on: neither they nor what it offers are known."""
    accounts, key, gone = MemoryAccounts(), SigningKey.generate(), Event()
    token = with_account(accounts, "ann")

    def lost(what: str, data: bytes) -> bool:
        if what == REQUEST and b"POST /v1/quotes" in data:
            gone.set()
        return gone.is_set()

    with ExitStack() as stack:
        provider = stack.enter_context(opened_provider(read_provider(str(two / "other.toml"))))
        server = stack.enter_context(served(create_app(provider, accounts, ServiceSettings(), key)))
        url = stack.enter_context(flaky(server, lost))
        ConnectionFile(url, "ann", token, key.public_key).write(two / "B.pacas")
        both = ("--provider", "B=B.pacas", "--provider", "A=provider.toml", "--dry-run", "--json")
        found = pacas("clean", "client.toml", "--budget", "4", "--strategy", strategy, "--patience", "2", *both)
    assert found.code == 0, found.err
    told = json.loads(found.out)
    assert {one["provider"] for one in told["purchases"]} == {"A"}
    assert [bool(one["away"]) for one in told["providers"]] == [True, False]


def test_names_and_tokens_are_checked(pacas: Any, two: Path) -> None:
    assert "two providers are called 'provider'" in pacas(*CLEAN, *("--provider", "provider.toml") * 2).complaint
    urls = ("--provider", "http://a.example", "--provider", "http://b.example", "--token", "t")
    assert "connection files" in pacas(*CLEAN, *urls).complaint
    assert "repair replace" in pacas(*CLEAN, *BOTH, "--repair", "replace").complaint


def test_a_dry_run_pays_nobody(pacas: Any, two: Path) -> None:
    told = pacas("clean", "client.toml", "--budget", "4", "--strategy", "paper", *BOTH, "--dry-run", "--json").document
    assert told["purchases"] and not (two / "out.csv").exists()
    lines = pacas("clean", "client.toml", "--budget", "4", "--strategy", "paper", *BOTH, "--dry-run").lines
    assert lines[0].split()[:2] == ["attribute", "provider"]
    assert [line.split()[1] for line in lines[1:5]] == [one["provider"] for one in told["purchases"]]
    assert any(line.startswith("It would repair 2 classes for about ") for line in lines), "each is asked about twice"


def test_receipts_are_kept_by_provider_and_hold_by_its_key_alone(pacas: Any, two: Path) -> None:
    """Two services with keys of their own: a folder for each, and changes.csv says which receipt is whose."""
    with ExitStack() as stack:
        for name, file in (("A", "provider.toml"), ("B", "other.toml")):
            provider = stack.enter_context(opened_provider(read_provider(str(two / file))))
            accounts, key = MemoryAccounts(), SigningKey.generate()
            token = with_account(accounts, "ann")
            url = stack.enter_context(served(create_app(provider, accounts, ServiceSettings(), key)))
            ConnectionFile(url, "ann", token, key.public_key).write(two / f"{name}.pacas")
            (two / f"{name}.pem").write_text(key.public_key)
        panel = ("--provider", "A=A.pacas", "--provider", "B=B.pacas", "--receipts", "receipts")
        found = pacas(*CLEAN, *panel, "--changes", "changes.csv", "--json")
    assert found.code == 0, found.err
    told = json.loads(found.out)
    bought = Counter(one["provider"] for one in told["purchases"])
    assert set(bought) == {"A", "B"}
    for name, other in (("A", "B"), ("B", "A")):
        kept = list((two / "receipts" / name).glob("receipt-*.json"))
        assert len(kept) == bought[name]
        prices = [json.loads(path.read_text())["price"] for path in kept]
        spent = next(one["spent"] for one in told["providers"] if one["name"] == name)
        assert sum(prices) / 10**9 == pytest.approx(spent)
        assert pacas("verify", f"receipts/{name}", "--key", f"{name}.pem").code == 0
        assert pacas("verify", f"receipts/{name}", "--key", f"{other}.pem").code == 1
    with (two / "changes.csv").open(newline="") as changes:
        named = [receipt for line in csv.DictReader(changes) for receipt in line["receipt"].split()]
    assert named and all((two / "receipts" / receipt).exists() for receipt in named)
