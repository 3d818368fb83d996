"""`pacas clean`, `buy` and `quote` with a provider at a URL: all as with its file, and signed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from certificates import Authority
from running_service import KEY, app_of, served, with_account

from pacas.cli.opened_provider import opened_provider, read_provider
from pacas.formats.client_file import read_client_file
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.provider.ledger.chain import Total
from pacas.remote.remote_provider import RemoteProvider
from pacas.server.serving import Tls
from pacas.storage.sqlite.ledger import SqliteLedger

TOKEN = "token-of-ann"
CLEAN = ("clean", "client.toml", "--budget", "2", "--strategy", "paper")


class Shop:
    """The folder's provider behind HTTP, and what it has sold."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self.accounts = MemoryAccounts()
        with_account(self.accounts, "ann", token=TOKEN)
        self.url = ""

    def start(self, *, port: int = 0, **more: Any) -> str:
        provider = self._stack.enter_context(opened_provider(read_provider(str(self._folder / "provider.toml"))))
        self.url = self._stack.enter_context(served(app_of(provider, self.accounts), port=port, **more))
        return self.url

    def stop(self) -> None:
        self._stack.close()

    def totals(self) -> dict[str, Total]:
        with closing(SqliteLedger(self._folder / "provider.ledger.db")) as ledger:
            return ledger.totals()


@pytest.fixture
def shop(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("PACAS_TOKEN", TOKEN)
    found = Shop(folder)
    found.start()
    yield found
    found.stop()


def in_process(pacas: Any, folder: Path, *options: str) -> tuple[dict[str, Any], str]:
    """The same run with the provider's file, in the folder as it was before; what it said, and its table."""
    told = pacas(*CLEAN, "--provider", "provider.toml", "--output", "expected.csv", "--json", *options).document
    for name in ("provider.ledger.db", "provider.ledger.db-wal", "provider.ledger.db-shm", "expected.csv.journal"):
        (folder / name).unlink(missing_ok=True)
    return told, (folder / "expected.csv").read_text()


SAME = ("budget", "spent", "violations_before", "violations_after", "rounds", "purchases", "unrepaired", "repair_error")


def test_a_clean_over_http_ends_as_one_in_process(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACAS_TOKEN", TOKEN)
    options = ("--rounds", "2", "--truth", "client.csv")
    expected, table = in_process(pacas, folder, *options)
    shop = Shop(folder)
    shop.start()
    try:
        told = pacas(*CLEAN, "--provider", shop.url, "--output", "out.csv", "--report", "r.html", "--json", *options)
    finally:
        shop.stop()
    assert told.code == 0
    assert {key: told.document[key] for key in SAME} == {key: expected[key] for key in SAME}
    assert (folder / "out.csv").read_text() == table
    assert "violations" in (folder / "r.html").read_text("utf-8")
    spent = round(expected["spent"] * 10**9)
    assert shop.totals() == {"ann": Total(len(expected["purchases"]), spent)}
    assert len(expected["purchases"]) == 2


def test_hierarchies_come_from_the_catalogue(pacas: Any, folder: Path, shop: Shop) -> None:
    (folder / "client.toml").write_text('data = "client.csv"\nfds = ["GEN, DIAG -> MED"]\n')
    told = pacas(*CLEAN, "--provider", shop.url, "--json").document
    assert [bought["value"] for bought in told["purchases"]] == ["NSAID", "NSAID"]
    assert [bought["written"] for bought in told["purchases"]] == ["ibuprofen", "naproxen"]


def test_values_of_an_attribute_without_a_hierarchy_repair_as_in_process(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PACAS_TOKEN", TOKEN)
    (folder / "p.csv").write_text("ID,CITY\n1,Ulm\n2,Aachen\n3,Kiel\n")
    provider = '[relation]\ndata = "p.csv"\n[match]\nCITY = "ID = ID"\n[pricing]\nquotes = "paper"\n'
    (folder / "provider.toml").write_text(provider)
    (folder / "c.csv").write_text("ID,CITY\n1,Ulm\n1,Bonn\n2,Köln\n2,Trier\n3,Kiel\n3,\n")
    (folder / "client.toml").write_text('data = "c.csv"\nfds = ["ID -> CITY"]\n')
    expected, table = in_process(pacas, folder)
    shop = Shop(folder)
    shop.start()
    try:
        told = pacas(*CLEAN, "--provider", shop.url, "--output", "out.csv", "--json").document
    finally:
        shop.stop()
    assert (folder / "out.csv").read_text() == table
    assert {key: told[key] for key in SAME} == {key: expected[key] for key in SAME}
    assert sorted(bought["value"] for bought in told["purchases"]) == ["Aachen", "Kiel", "Ulm"]


def test_changes_name_the_receipts(pacas: Any, folder: Path, shop: Shop) -> None:
    options = ("--receipts", "receipts", "--changes", "changes.csv")
    assert pacas(*CLEAN, "--provider", shop.url, *options, "--json").code == 0
    with (folder / "changes.csv").open(newline="") as file:
        named = {line["receipt"] for line in csv.DictReader(file)}
    assert named == {path.name for path in (folder / "receipts").iterdir()} and len(named) == 2


def test_a_dry_run_pays_and_writes_nothing(pacas: Any, folder: Path, shop: Shop) -> None:
    told = pacas(*CLEAN, "--provider", shop.url, "--dry-run", "--receipts", "receipts", "--json").document
    assert len(told["purchases"]) == 2
    assert shop.totals() == {}
    assert not (folder / "client.clean.csv").exists() and not (folder / "receipts").exists()


def test_an_interrupted_clean_is_resumed_at_the_same_url_and_nothing_is_paid_twice(
    pacas: Any, folder: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    pay_many = RemoteProvider.pay_many

    def interrupted(remote: RemoteProvider, payments: Any) -> Any:
        assert len(pay_many(remote, payments)) == 2
        raise KeyboardInterrupt  # paid, and the answers never seen

    monkeypatch.setattr(RemoteProvider, "pay_many", interrupted)
    options = ("--provider", shop.url, "--output", "out.csv", "--receipts", "receipts")
    stopped = pacas(*CLEAN, *options)
    assert stopped.code == 130
    assert "continue with --resume" in stopped.err
    monkeypatch.setattr(RemoteProvider, "pay_many", pay_many)
    told = pacas(*CLEAN, *options, "--resume", "--json").document
    assert told["spent"] == 1.4
    assert shop.totals() == {"ann": Total(2, 1_400_000_000)}
    assert len(list((folder / "receipts").iterdir())) == 2
    again = pacas(*CLEAN, *options, "--resume")
    assert "nothing was bought now" in again.out
    assert shop.totals() == {"ann": Total(2, 1_400_000_000)}


def test_a_run_is_not_resumed_by_another_account_or_in_process(
    pacas: Any, folder: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pacas(*CLEAN, "--provider", shop.url, "--output", "out.csv").code == 0
    token = with_account(shop.accounts, "bob")
    other = pacas(*CLEAN, "--provider", shop.url, "--output", "out.csv", "--resume", "--token", token)
    assert "is of another run: buyer differs" in other.complaint
    assert (
        "is of another run: "
        in pacas(*CLEAN, "--provider", "provider.toml", "--output", "out.csv", "--resume", "--as", "ann").complaint
    )
    assert list(shop.totals()) == ["ann"]


def test_a_server_that_is_gone_leaves_a_journal_if_something_was_paid(
    pacas: Any, folder: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    pay_many = RemoteProvider.pay_many
    port = int(shop.url.rpartition(":")[2])

    def gone(remote: RemoteProvider, payments: Any) -> Any:
        pay_many(remote, payments)
        shop.stop()
        return pay_many(remote, payments)

    monkeypatch.setattr(RemoteProvider, "pay_many", gone)
    monkeypatch.setattr("pacas.remote.connection.AT_FIRST", 0.0)
    monkeypatch.setattr("pacas.remote.connection.SHORTEST_WAIT", 1000.0)
    monkeypatch.setattr("pacas.remote.connection.LONGEST_WAIT", 1000.0)
    options = ("--provider", shop.url, "--output", "out.csv")
    complaint = pacas(*CLEAN, *options).complaint
    assert complaint.startswith(f"no provider answers at {shop.url}; is it running? (1 try in 0 s)")
    assert "what was bought is in out.csv.journal: continue with --resume" in complaint
    monkeypatch.setattr(RemoteProvider, "pay_many", pay_many)
    complaint = pacas(*CLEAN, *options, "--resume").complaint
    assert complaint == f"no provider answers at {shop.url}; is it running? (1 try in 0 s)"
    shop.start(port=port)
    assert pacas(*CLEAN, *options, "--resume", "--json").document["spent"] == 1.4
    assert shop.totals() == {"ann": Total(2, 1_400_000_000)}


def test_the_credit_is_shown_before_and_used_up_is_a_reason_of_its_own(pacas: Any, shop: Shop) -> None:
    shop.accounts.set_credit("ann", 700_000_000)
    told = pacas(*CLEAN, "--provider", shop.url, "--json")
    short = f"pacas: ann at {shop.url} may spend 0.7 credits more, and the budget is 2 credits; what is more is refused"
    assert told.err == f"{short} (credit_used_up)\n"
    document = json.loads(told.out)
    assert (document["credit"], document["spent"]) == (0.7, 0.7)
    assert [left["reason"] for left in document["unrepaired"]] == ["credit_used_up"]
    rich = with_account(shop.accounts, "bob", credit=9 * 10**9)
    told = pacas(*CLEAN, "--provider", shop.url, "--output", "again.csv", "--token", rich)
    assert told.err == f"pacas: bob at {shop.url} may spend 9 credits more\n"


def test_the_token_is_given_or_in_the_environment(pacas: Any, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "the token is missing, wrong or revoked; give it with --token or PACAS_TOKEN"
    assert wrong in pacas(*CLEAN, "--provider", shop.url, "--token", "wrong").complaint
    monkeypatch.setenv("PACAS_TOKEN", f"{TOKEN}\n")
    assert pacas(*CLEAN, "--provider", shop.url, "--dry-run").code == 0
    monkeypatch.delenv("PACAS_TOKEN")
    assert wrong in pacas(*CLEAN, "--provider", shop.url).complaint
    shop.accounts.revoke("ann")
    assert wrong in pacas(*CLEAN, "--provider", shop.url, "--token", TOKEN).complaint


def test_who_goes_on_with_a_review_keeps_receipts_where_it_did(
    pacas: Any, folder: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = folder / "out.csv.receipts"
    kept.mkdir()
    options = ("--provider", shop.url, "--output", "out.csv")
    with monkeypatch.context() as patch:
        patch.setattr(RemoteProvider, "pay_many", Mock(side_effect=KeyboardInterrupt))
        assert pacas(*CLEAN, *options).code == 130 and not list(kept.iterdir())
    pacas(*CLEAN, *options, "--resume")
    assert len(list(kept.iterdir())) == 2


# ---- buying, and the receipts ------------------------------------------------------------------------------------


def test_a_purchase_at_a_url_has_a_receipt_that_verifies(pacas: Any, folder: Path, shop: Shop) -> None:
    (folder / "key.pem").write_text(KEY.public_key)
    bought = pacas("buy", shop.url, "--requests", "requests.jsonl", "--receipts", "receipts", "--json")
    assert [(one.get("price"), one.get("answer")) for one in bought.document["purchases"]] == [
        (0.7, "NSAID"),
        (0.4, "analgesic"),
        (None, None),
        (None, None),
    ]
    assert bought.document["spent"] == 1.1
    assert bought.document["purchases"][2] == {"refused": "unsafe"}
    assert shop.totals() == {"ann": Total(2, 1_100_000_000)}
    (folder / "bought.json").write_text(bought.out)
    verified = pacas("verify", "bought.json", "--key", f"{shop.url}/v1/key", "--json")
    assert verified.code == 0
    assert [one["answer"] for one in verified.document["receipts"]] == ["NSAID", "analgesic"]
    files = sorted((folder / "receipts").iterdir())
    assert len(files) == 2
    for file in files:
        assert pacas("verify", str(file), "--key", "key.pem").code == 0
    altered = json.loads(files[0].read_text()) | {"price": 1}
    files[0].write_text(json.dumps(altered))
    assert pacas("verify", str(files[0]), "--key", "key.pem").code == 1


def test_receipts_that_cannot_be_written_are_named_before_anything_is_bought(
    pacas: Any, folder: Path, shop: Shop
) -> None:
    for options in (("buy", shop.url, "--requests", "requests.jsonl"), (*CLEAN, "--provider", shop.url)):
        assert "client.csv is no folder for receipts" in pacas(*options, "--receipts", "client.csv").complaint
    assert shop.totals() == {}


def test_a_quote_at_a_url_is_the_quote_of_the_file(pacas: Any, folder: Path, shop: Shop) -> None:
    (folder / "r.jsonl").write_text((folder / "requests.jsonl").read_text() + '{"tuple": {"GEN": "male", "AGE": 51}, ')
    with (folder / "r.jsonl").open("a") as file:
        file.write('"attribute": "MED"}\n')
    told = pacas("quote", shop.url, "--requests", "r.jsonl", "--json").document
    assert told == pacas("quote", "provider.toml", "--requests", "r.jsonl", "--json").document
    assert len(told["quotes"]) == 5 and len(told["quotes"][4]["levels"]) == 4


def test_a_key_of_another_request_is_named_with_its_line(pacas: Any, folder: Path, shop: Shop) -> None:
    one = {"tuple": {"GEN": "male", "AGE": "51"}, "attribute": "MED", "level": 1, "key": "a"}
    (folder / "r.jsonl").write_text(json.dumps(one))
    for _ in range(2):
        assert pacas("buy", shop.url, "--requests", "r.jsonl", "--json").document["spent"] == 0.7
    (folder / "r.jsonl").write_text(json.dumps(one | {"level": 2}))
    assert (
        "r.jsonl, line 1: the idempotency key was used before"
        in pacas("buy", shop.url, "--requests", "r.jsonl").complaint
    )
    assert shop.totals() == {"ann": Total(1, 700_000_000)}


def test_a_private_authority_and_a_clients_certificate(
    pacas: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PACAS_TOKEN", TOKEN)
    authority = Authority(tmp_path)
    certificate, key = authority.sign("client")
    shop = Shop(folder)
    url = shop.start(context=Tls(*authority.sign("server"), authority.certificate).context())
    try:
        trusted = ("--ca", str(authority.certificate), "--cert", str(certificate), "--cert-key", str(key))
        assert pacas("quote", url, "--requests", "requests.jsonl", *trusted).code == 0
        assert pacas(*CLEAN, "--provider", url, "--dry-run", *trusted).code == 0
        bought = pacas("buy", url, "--requests", "requests.jsonl", *trusted, "--json")
        (tmp_path / "bought.json").write_text(bought.out)
        assert pacas("verify", str(tmp_path / "bought.json"), "--key", f"{url}/v1/key", *trusted).code == 0
        assert "is not trusted" in pacas("quote", url, "--requests", "requests.jsonl").complaint
    finally:
        shop.stop()


def test_a_client_file_says_what_may_be_sent(pacas: Any, folder: Path, shop: Shop) -> None:
    client = folder / "client.toml"
    text = client.read_text()
    client.write_text(text + '\n[send]\nMED = ["GEN"]\n')
    said = pacas(*CLEAN, "--provider", shop.url, "--output", "out.csv").complaint
    assert 'asks for AGE to find MED, which [send] does not allow; to send it, write MED = ["GEN", "AGE"]' in said
    assert shop.totals() == {}
    client.write_text(text + '\n[send]\nMED = ["GEN", "AGE"]\n')
    assert pacas(*CLEAN, "--provider", shop.url, "--output", "out.csv").code == 0


class Typed(io.StringIO):
    """A terminal at which somebody has typed something."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def far(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The shop as one on another machine, where what is sent leaves this one."""
    monkeypatch.setattr("pacas.remote.address.is_loopback", lambda host: False)
    return (*CLEAN, "--provider", shop.url, "--insecure", "--output", "out.csv")


def test_where_nobody_can_be_asked_a_column_that_the_file_does_not_name_is_not_sent(
    pacas: Any, folder: Path, shop: Shop, far: tuple[str, ...]
) -> None:
    said = pacas(*far).complaint
    assert "asks for AGE to find MED, which the client's file does not name" in said
    assert 'write MED = ["GEN", "AGE"] in [send]' in said
    assert shop.totals() == {} and not (folder / "out.csv").exists()
    client = folder / "client.toml"
    client.write_text(client.read_text() + '\n[columns]\nAGE = "AGE"\n')
    assert pacas(*far).code == 0, "the file names all that is asked for"


def test_the_first_use_asks_in_a_terminal_and_notes_what_was_agreed_to(
    pacas: Any, folder: Path, shop: Shop, far: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (folder / "client.toml").read_text()
    monkeypatch.setattr("sys.stdin", Typed("n\n"))
    refused = pacas(*far)
    assert refused.code == 2 and "is sent GEN, AGE to find MED" in refused.err
    assert shop.totals() == {} and (folder / "client.toml").read_text() == text
    monkeypatch.setattr("sys.stdin", Typed("y\n"))
    assert pacas(*far).code == 0
    assert read_client_file(folder / "client.toml").send == {"MED": ["GEN", "AGE"]}
    assert (folder / "client.toml").read_text().startswith(text.rstrip())
    monkeypatch.setattr("sys.stdin", Typed(""))
    assert "is sent" not in pacas(*far).err, "it is asked once"


def test_what_is_agreed_to_for_one_of_several_stays_agreed_to(folder: Path) -> None:
    file = read_client_file(folder / "client.toml")
    file.agree({"MED": ["GEN"]})
    file.agree({"MED": ["GEN", "AGE"], "DIAG": ["ZIP"]})
    assert read_client_file(folder / "client.toml").send == {"MED": ["GEN", "AGE"], "DIAG": ["ZIP"]} == file.may_send
