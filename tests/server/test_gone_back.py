"""A ledger that goes back under a running service stops its sales, and the service says so."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from example_shop import OpenShop, error_of, example_provider, med

from pacas.errors import LedgerWentBackError
from pacas.protocol.messages import Request
from pacas.provider.ledger.chain import Head
from pacas.storage.backup import backup, restore
from pacas.storage.sqlite.ledger import SqliteLedger

pytestmark = pytest.mark.attack

SAID = "the provider's ledger no longer holds what was sold: nothing is sold until it is put right"


def test_a_ledger_that_is_taken_away_stops_sales_until_it_is_back(open_shop: OpenShop, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(SqliteLedger(path)) as ledger:
        shop = open_shop(example_provider(ledger))
        assert shop.buy("one", med("male", "51", 1)).status_code == 200
        away = path.rename(tmp_path / "away.db")
        assert error_of(shop.buy("two", med("male", "51", 2))) == (503, "unavailable", SAID)
        while (ready := shop.call("GET", "/v1/ready", None)).status_code == 200:
            pass
        assert error_of(ready) == (503, "unavailable", SAID)
        while not (told := [line for line in shop.log_lines() if line["event"] == "ledger is away"]):
            pass
        assert "shop.db was removed or replaced by another file" in told[0]["problem"]
        away.rename(path)
        while shop.call("GET", "/v1/ready", None).status_code == 503:
            pass
        assert shop.buy("two", med("male", "51", 2)).status_code == 200


def test_a_restore_fences_a_service_that_runs(open_shop: OpenShop, tmp_path: Path) -> None:
    with closing(SqliteLedger(tmp_path / "shop.db")) as ledger:
        shop = open_shop(example_provider(ledger))
        assert shop.buy("one", med("male", "51", 1)).status_code == 200
        backup("sqlite:///shop.db", tmp_path, tmp_path / "copy.db")
        restore("sqlite:///shop.db", tmp_path, tmp_path / "copy.db")
        assert error_of(shop.buy("two", med("male", "51", 2))) == (503, "unavailable", SAID)
        while (ready := shop.call("GET", "/v1/ready", None)).status_code == 200:
            pass
        assert error_of(ready) == (503, "unavailable", SAID)


def test_what_was_known_is_noted_once_when_it_is_lost(tmp_path: Path) -> None:
    """At once, not at the end of the process: somebody may have gone back on purpose by then."""
    with closing(SqliteLedger(tmp_path / "shop.db")) as ledger:
        provider, noted = example_provider(ledger), list[Head]()
        provider.till.note_lost = noted.append
        provider.pay(Request({"GEN": "male", "AGE": "51"}, "MED", 2), 10**10, "k")
        (tmp_path / "shop.db").unlink()
        for _ in range(2):
            with pytest.raises(LedgerWentBackError):
                provider.refresh()
        assert noted == [provider.till.known] and noted[0].entries == 2
