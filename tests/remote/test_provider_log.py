"""A provider that forgets, alters or forks its log is caught by its own clients, and by a witness."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from remote_shop import CREDIT, SECRET, shop
from running_service import KEY, app_of, served, with_account

import pacas
from pacas.cli.main import run
from pacas.core.rates.schedule import Schedule
from pacas.core.rates.tab import AgreedTerms
from pacas.errors import RemoteError
from pacas.protocol.messages import Answer, Request
from pacas.protocol.receipt import SignedReceipt
from pacas.protocol.tree_head import TreeHead
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.provider.ledger.entry import AcceptedTerms, Purchase, purchase_record, terms_record
from pacas.provider.ledger.ledger import Ledger
from pacas.remote.provider_log import ProviderLog
from pacas.remote.remote_provider import RemoteProvider
from pacas.server.signing_key import SigningKey
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.wire.shapes.receipts import ReceiptDocument

pytestmark = pytest.mark.attack


@pytest.fixture(autouse=True)
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "receipts").mkdir()
    (tmp_path / "key.pem").write_text(KEY.public_key)
    monkeypatch.chdir(tmp_path)


@contextmanager
def serving(ledger: Ledger | None = None, key: SigningKey = KEY) -> Iterator[str]:
    accounts = MemoryAccounts()
    with_account(accounts, "ann", token=SECRET)
    with served(app_of(shop(ledger), accounts)) as url:
        yield url


@contextmanager
def kept(name: str) -> Iterator[str]:
    with closing(SqliteLedger(Path(name))) as ledger, serving(ledger) as url:
        yield url


def buy(url: str, *keys: str, level: int = 2) -> list[SignedReceipt]:
    """Buy the same for one key after the other: the first costs, and each is an entry."""
    with RemoteProvider(url, SECRET, patience=2) as remote:
        found = []
        for key in keys:
            answer = remote.pay(Request({"GEN": "male", "AGE": "51"}, "MED", level), CREDIT, key)
            assert isinstance(answer, Answer) and answer.receipt is not None
            found.append(answer.receipt)
            document = ReceiptDocument.of(answer.receipt).model_dump_json()
            Path("receipts", f"{answer.receipt.receipt.hash[:16]}.json").write_text(document)
    return found


def verify(url: str | None = None, *more: str) -> tuple[int, dict[str, Any]]:
    asked = () if url is None else ("--log", url, "--token", SECRET)
    told = io.StringIO()
    with redirect_stdout(told):
        code = run(["verify", "receipts", "--key", "key.pem", "--json", *asked, *more])
    return code, json.loads(told.getvalue() or "{}")


def test_receipts_bring_a_head_and_the_proof_that_they_are_in_it() -> None:
    with serving() as url:
        receipts = buy(url, *"abcde")
        for number, signed in enumerate(receipts, start=1):
            assert signed.logged is not None and signed.is_in_log
            assert (signed.receipt.sequence, signed.logged.signed_head.head.size) == (number, number + 1)
        assert verify()[0] == 0
        code, told = verify(url)
    assert (code, told["problems"], told["log"]["size"]) == (0, [], 6)
    assert all(one["logged"] for one in told["receipts"])
    assert len(Path("receipts/log-heads.jsonl").read_text().splitlines()) == 1


def test_before_something_is_sold_the_log_is_empty_and_then_grows_out_of_that() -> None:
    with serving() as url, ProviderLog(url, SECRET, KEY.public_key) as log:
        first = log.head().head
        assert (first.size, first.root[:8]) == (0, "e3b0c442")
        buy(url, "a", "b")
        now = log.head().head
        assert now.size == 3 and list(log.problems(now, [first])) == []


def test_a_provider_that_restores_an_older_ledger_has_forgotten_what_was_seen() -> None:
    with kept("shop.db") as url:
        buy(url, "a", "b")
    shutil.copy("shop.db", "older.db")
    with kept("shop.db") as url:
        buy(url, "c", "d")
        assert verify(url)[0] == 0
    with kept("older.db") as url:
        code, told = verify(url)
        assert code == 1 and told["problems"] == ["the log has 3 entries, and 5 were seen: it has forgotten some"]
        buy(url, "x", "y", "z")  # it grows beyond what was seen, and is another log still
        code, told = verify(url)
    assert code == 1
    assert "there are two heads of 5 entries: the provider has shown different logs" in told["problems"]
    assert any("has not grown out of the head of" in problem for problem in told["problems"])


def test_who_was_shown_two_logs_needs_nobody_else_to_see_it() -> None:
    for name in ("one", "two"):
        with kept(f"{name}.db") as url:
            buy(url, name)
    code, told = verify()
    assert code == 1 and told["problems"] == ["there are two heads of 2 entries: the provider has shown different logs"]


def test_receipts_of_earlier_releases_must_be_in_the_log_by_their_hash() -> None:
    with serving() as url:
        for signed in buy(url, "a", "b"):
            name = Path("receipts", f"{signed.receipt.hash[:16]}.json")
            name.write_text(ReceiptDocument.of(replace(signed, logged=None)).model_dump_json())
        assert verify(url)[0] == 0
        forged = KEY.sign(replace(signed.receipt, hash="ab" * 32))
        Path("receipts/forged.json").write_text(ReceiptDocument.of(forged).model_dump_json())
        code, told = verify(url)
    assert code == 1 and told["problems"] == ["entry 2 of a receipt is not in the log"]


def test_a_head_by_another_key_and_a_proof_of_another_entry_do_not_hold() -> None:
    with serving() as url:
        one, two = buy(url, "a", "b")
    assert one.logged is not None and two.logged is not None
    other = SigningKey.generate().sign_head(two.logged.signed_head.head)
    for wrong in (
        replace(two, logged=one.logged),
        replace(two, logged=replace(two.logged, signed_head=other)),
        replace(two, logged=replace(two.logged, path=two.logged.path[1:])),
        replace(two, logged=replace(two.logged, path=("zz", *two.logged.path[1:]))),
    ):
        assert not pacas.verify(wrong, "key.pem").holds
    assert pacas.verify([one, two], "key.pem").holds


def test_a_witness_cosigns_what_grows_and_nothing_else_and_its_heads_find_out_a_fork() -> None:
    witness = ("witness", "{url}", "--key", "key.pem", "--token", SECRET)

    def cosign(url: str) -> int:
        return run([part.format(url=url) for part in witness])

    with kept("shop.db") as url:
        buy(url, "a")
        assert cosign(url) == 0
        buy(url, "b")
        assert cosign(url) == 0
    assert len(Path("witnessed-heads.jsonl").read_text().splitlines()) == 2
    shutil.rmtree("receipts")
    Path("receipts").mkdir()
    with kept("another.db") as url:  # for one client alone
        buy(url, "x", "y", "z")
        assert verify(url)[0] == 0  # who sees but one log cannot know
        code, told = verify(url, "--witnessed", "witnessed-heads.jsonl", "--witness-key", "witness-key.pem.pub")
        assert code == 1 and len(told["problems"]) == 4
        assert cosign(url) == 1
    assert len(Path("witnessed-heads.jsonl").read_text().splitlines()) == 2


def test_proofs_of_what_is_not_in_the_log_are_not_given() -> None:
    with serving() as url, ProviderLog(url, SECRET, KEY.public_key) as log:
        buy(url, "a")
        with pytest.raises(pacas.PacasError, match="the log has 2 entries, and not all that is asked about"):
            list(log.problems(TreeHead(9, "ab" * 32, 0), [TreeHead(8, "ab" * 32, 0)]))
        with (
            pytest.raises(RemoteError, match="no signed history joins them"),
            ProviderLog(url, SECRET, SigningKey.generate().public_key) as other,
        ):
            other.head()


def test_a_hash_of_the_log_tells_nobody_what_another_has_bought() -> None:
    """Who knows all of an entry but its answer cannot try answers: each entry has a salt that follows from a secret."""
    request = Request({"GEN": "male", "AGE": "51"}, "MED", 1)
    bought = Purchase("bob", "k", request, 700_000_000, "NSAID", None, 1_800_000_000)
    same_place = [purchase_record(bought, 1, "0" * 64, seed).hash for seed in (b"\1" * 32, b"\2" * 32, b"")]
    assert len(set(same_place)) == 3
    salts = [json.loads(purchase_record(bought, place, "0" * 64, b"\1" * 32).details)["salt"] for place in (1, 2, 3)]
    assert len(set(salts)) == 3 and {len(salt) for salt in salts} == {32}  # 128 bits
    accepted = AcceptedTerms("bob", "offer", AgreedTerms(Schedule.of([(0, 50)]), 0, None), 1_800_000_000)
    terms = [terms_record(accepted, 1, "0" * 64, seed).hash for seed in (b"\1" * 32, b"\2" * 32)]
    assert len(set(terms)) == 2


def test_what_the_log_tells_is_hashes_and_nothing_else() -> None:
    with serving() as url, ProviderLog(url, SECRET, KEY.public_key) as log:
        receipts = buy(url, "a", "b", "c")
        told = log._connection.ask("GET", "/v1/log").json()
        assert set(told) == {"size", "root", "time", "key_id", "signature"}
        proofs = log._proofs(4, heads=[1, 2, 3], entries=[1, 2, 3])
        assert proofs.model_fields_set == {"consistency", "inclusion"}
        given = {one for path in (*proofs.consistency, *proofs.inclusion) for one in path}
        assert all(len(one) == 64 and int(one, 16) >= 0 for one in given)
        assert not given & {signed.receipt.hash for signed in receipts}  # not even the hashes of entries
