"""`pacas.open_provider` and `pacas.open_client`: what the parties' files describe, in Python."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from running_service import service

import pacas
from pacas.cli.demo.files import PAPER, write_files
from pacas.protocol.messages import Quote
from pacas.wire.connection_file import ConnectionFile

FIRST = pacas.Request({"GEN": "male", "AGE": "51"}, "MED", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The running example's files; its provider gives the paper's quotes."""
    write_files(tmp_path)
    (tmp_path / "provider.toml").write_text(PAPER)
    return tmp_path


def test_a_provider_is_opened_with_its_ledger(folder: Path) -> None:
    with pacas.open_provider(folder / "provider.toml") as provider:
        assert provider.quote(FIRST) == Quote(700_000_000)
        assert isinstance(provider.pay(FIRST, 10**9, "a"), pacas.Answer)
    with pacas.open_provider(str(folder / "provider.toml")) as again:
        assert again.quote(FIRST) == Quote(0), "it was bought"
        assert again.ledger.head().entries == 2


def test_a_ledger_that_begins_anew_is_warned_of(folder: Path) -> None:
    pacas.open_provider(folder / "provider.toml").close()
    (folder / "provider.toml").write_text(PAPER.replace("k = 3", "k = 2"))
    with pytest.warns(UserWarning, match="policies changed, and nothing had been sold: the ledger begins anew"):
        pacas.open_provider(folder / "provider.toml").close()


def test_a_url_is_for_another_name() -> None:
    with pytest.raises(pacas.InputError, match=r"pacas\.RemoteProvider\(url, token\)"):
        pacas.open_provider("https://values.example.org")


def test_a_client_is_its_table_its_dependencies_and_its_hierarchies(folder: Path) -> None:
    client = pacas.open_client(folder / "client.toml")
    assert client.data.name == "client.csv"
    assert list(map(str, client.fds)) == ["GEN, DIAG -> MED"]
    assert list(client.hierarchies) == ["MED"]
    assert client.check().violations == 4


def test_a_client_cleans_with_a_provider_or_the_file_of_one(folder: Path) -> None:
    client = pacas.open_client(folder / "client.toml")
    with pacas.open_provider(folder / "provider.toml") as provider:
        dry = client.clean(provider, budget=2, strategy="paper", dry_run=True)
        assert (dry.violations_after, provider.ledger.head().entries) == (0, 1)
        result = client.clean(provider, budget=2, strategy="paper")
    assert (result.violations_before, result.violations_after, result.spent) == (4, 0, 1.4)
    again = client.clean(folder / "provider.toml", budget=2, strategy="paper")
    assert again.spent == 0, "the ledger knows"
    assert again.relation.table.equals(result.relation.table)


def test_a_clients_file_names_its_provider_its_budget_and_its_columns(folder: Path) -> None:
    table = (folder / "client.csv").read_text().replace("MED", "DRUG", 1)
    (folder / "other.csv").write_text(table)
    names = 'data = "other.csv"\nfds = ["GEN, DIAG -> DRUG"]\nprovider = "provider.toml"\nbudget = 2\n'
    (folder / "other.toml").write_text(names + '[columns]\nDRUG = "MED"\n')
    result = pacas.open_client(folder / "other.toml").clean(strategy="paper")
    assert (result.budget, result.spent, result.violations_after) == (2.0, 1.4, 0)


def test_without_a_provider_own_evidence_repairs_for_nothing(folder: Path) -> None:
    client = pacas.open_client(folder / "client.toml")
    assert client.clean().spent == 0
    with pytest.raises(pacas.InputError, match="say what all values together may cost"):
        client.clean(folder / "provider.toml")


def test_a_client_sends_what_its_file_allows_and_no_more(folder: Path) -> None:
    client, connection = folder / "client.toml", folder / "buyer.pacas"
    text = client.read_text()
    with pacas.open_provider(folder / "provider.toml") as provider, service(provider) as (url, token):
        key = httpx.get(f"{url}/v1/key", trust_env=False).json()["public_key"]
        ConnectionFile(url, "ann", token, key).write(connection)
        client.write_text(text + '\n[send]\nMED = ["GEN"]\n')
        with pytest.raises(pacas.errors.InputError, match=r"asks for AGE to find MED, which \[send\] does not allow"):
            pacas.open_client(client).clean(connection, 2)
        client.write_text(text + '\n[send]\nMED = ["GEN", "AGE"]\n')
        assert pacas.open_client(client).clean(connection, 2, strategy="paper").purchases
