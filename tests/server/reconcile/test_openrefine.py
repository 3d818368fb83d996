"""OpenRefine itself reconciles a table, previews, buys and fills a column; what it does decides how we answer it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openrefine
import pytest
from example_shop import OpenShop, Shop
from reconcile_client import ReconcileClient, paid
from running_service import with_account

from pacas import example
from pacas.core.anonymity import Policy
from pacas.provider.ledger.accounts import Role
from pacas.provider.provider import Provider

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not openrefine.is_installed(), reason="OpenRefine is not installed: apt install openrefine, or PACAS_OPENREFINE"
    ),
]
CSV = "GEN,AGE,NOTE\nmale,51,a\nmale,79,b\nfemale,32,c\nfemale,99,d\nmale,,e\n"

LONG_PAGE = "GEN,AGE\nmale,51\nfemale,32\n" + "".join(f"male,{age}\n" for age in range(80, 95))


@contextmanager
def buying(open_shop: OpenShop, **settings: Any) -> Iterator[tuple[Shop, str, Any]]:
    """A shop that OpenRefine may buy from, the address to give away, and what is told there."""
    policy = Policy(("GEN",), ("MED",), {"MED": 0}, k=2, allow_linkage=True)
    sold: dict[str, Any] = {"match": {"MED": example.md}, "policies": [policy], "hierarchies": example.hierarchies}
    shop = open_shop(Provider(example.provider, total=6, **sold), reconcile=True, **settings)
    client = ReconcileClient(shop.url, with_account(shop.accounts, "refine", role=Role.RECONCILE, credit=5 * 10**9))
    yield shop, client.address, client.manifest()
    client.close()


@pytest.fixture(scope="module")
def refine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[openrefine.OpenRefine]:
    with openrefine.running(tmp_path_factory.mktemp("openrefine")) as started:
        yield started


def test_a_person_with_an_address_gets_a_column_filled(open_shop: OpenShop, refine: openrefine.OpenRefine) -> None:
    with buying(open_shop) as (shop, address, manifest):
        total = shop.provider.ledger.total
        refine.open(CSV)
        assert refine.guessed_types("GEN", address) == []  # so that it offers the default types
        refine.reconcile("GEN", address, manifest, manifest["defaultTypes"][0], ["AGE"])
        told = refine.preview("GEN", [0, 1, 2, 3, 4], [{"id": "MED", "name": "MED"}])
        assert told[0][1].startswith("1 credit at level 0, ") and told[1][1] == "not sold (unsafe)"
        assert total("refine").purchases == 0  # a click tells prices, and buys nothing
        bought = paid("MED", "1")
        assert refine.preview("GEN", [0], [bought])[0][1] == "ibuprofen"
        assert total("refine") == (1, 10**9)
        refine.extend("GEN", address, manifest, [bought])
        assert refine.exported().splitlines() == [
            "GEN,MED,AGE,NOTE",
            "male,ibuprofen,51,a",
            "male,,79,b",
            "female,naproxen,32,c",
            "female,,99,d",
            "male,,,e",
        ]
        assert total("refine") == (2, 2 * 10**9)  # what the preview bought is not charged again


def test_a_page_of_many_rows_is_looked_at_before_it_is_paid(open_shop: OpenShop, refine: openrefine.OpenRefine) -> None:
    with buying(open_shop, reasons=False) as (shop, address, manifest):  # so that every row is a candidate
        refine.open(LONG_PAGE)
        refine.reconcile("GEN", address, manifest, manifest["defaultTypes"][0], ["AGE"])
        bought = paid("MED", "1")
        looked_at = refine.preview("GEN", list(range(17)), [bought])
        assert looked_at[0][1].startswith(
            "1 credit at level 0, "
        )  # and is no error, which OpenRefine would not explain
        assert shop.provider.ledger.total("refine").purchases == 0
        refine.extend("GEN", address, manifest, [bought])  # ten ids a call, and each call buys
        assert refine.exported().splitlines()[:3] == ["GEN,MED,AGE", "male,ibuprofen,51", "female,naproxen,32"]
        assert shop.provider.ledger.total("refine") == (2, 2 * 10**9)
