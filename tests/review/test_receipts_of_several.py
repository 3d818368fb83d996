"""Receipts of several providers at URLs, in a review: each in its provider's folder, and held to its key alone."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest
from example_shop import example_provider
from reviewed_offices import reviewing, settled, until
from running_service import served, with_account

from pacas import example
from pacas.cli.clean.choices import HowToClean
from pacas.cli.clean.job import Options, make_job
from pacas.cli.data_options import AS_NAMED
from pacas.cli.market.named_panel import opened_markets, whom_to_ask
from pacas.cli.options import HowToBuy
from pacas.cli.review import _receipts, _review_job
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError
from pacas.formats.client_file import read_client_file
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.review.views.receipts import receipt_file, receipts_page
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.signing_key import SigningKey
from pacas.wire.connection_file import ConnectionFile


@pytest.fixture
def names(tmp_path: Path) -> Any:
    pa_csv.write_csv(example.client.table, tmp_path / "client.csv")
    (tmp_path / "client.toml").write_text(
        'data = "client.csv"\nfds = ["GEN, DIAG -> MED"]\n[send]\nMED = ["GEN", "AGE"]\n'
    )
    with ExitStack() as stack:
        for name in ("A", "B"):
            accounts, key = MemoryAccounts(), SigningKey.generate()
            token = with_account(accounts, "ann")
            url = stack.enter_context(served(create_app(example_provider(), accounts, ServiceSettings(), key)))
            ConnectionFile(url, "ann", token, key.public_key).write(tmp_path / f"{name}.pacas")
        yield [f"{name}={tmp_path / name}.pacas" for name in ("A", "B")]


def test_each_receipt_is_in_its_providers_folder_and_verified_with_its_key(tmp_path: Path, names: list[str]) -> None:
    engine, client = DuckEngine(threads=1), read_client_file(tmp_path / "client.toml")
    named = whom_to_ask(names, client, HowToBuy())
    how = HowToClean(budget="4", strategy="paper")
    job = make_job(Options(client=client, read=AS_NAMED, provider=named, budget="4", how=how), engine)
    folder = _receipts(job, named, None)
    assert folder is not None and named is not None
    with opened_markets(named, folder, engine) as market:
        reviewed = _review_job(job, market, engine, folder, "pacas review", named, goes_on=False)
        with reviewing(reviewed) as session:
            settled(session)
            with pytest.raises(InputError, match="no receipt"):
                receipts_page(session, {"verify": "1"})
            session.allow(4 * 10**9)
            until(lambda: session.run.state == "done")
            page = receipts_page(session, {"verify": "1"})
            assert {line["provider"] for line in page["lines"]} == {"A", "B"}
            for line in page["lines"]:
                assert line["file"].startswith(f"{line['provider']}/") and line["holds"] and line["entry"] is not None
                assert receipt_file(session, line["file"]).exists()
            assert [one.provider for one in page["checked"]] == ["A", "B"]
            assert len({one.key_id for one in page["checked"]}) == 2 and not any(o.failing for o in page["checked"])
            crossed = replace(reviewed, verify={"A": reviewed.verify["B"], "B": reviewed.verify["A"]})
            session.job = crossed
            assert all(one.failing for one in receipts_page(session, {"verify": "1"})["checked"])
            for bad in ("A/../client.toml", "../client.csv", "receipt-1.json"):
                with pytest.raises(InputError, match="no such receipt"):
                    receipt_file(session, bad)
