"""OpenRefine itself reconciles a table, previews, buys and fills a column; what it does decides how we answer it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openrefine
import pytest
from example_shop import OpenShop
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


def test_a_person_with_an_address_gets_a_column_filled(open_shop: OpenShop, tmp_path: Path) -> None:
    policy = Policy(("GEN",), ("MED",), {"MED": 0}, k=2, allow_linkage=True)
    sold: dict[str, Any] = {
        "match": {"MED": example.md},
        "policies": [policy],
        "hierarchies": example.hierarchies,
        "total": 6,
    }
    shop = open_shop(Provider(example.provider, **sold), reconcile=True)
    client = ReconcileClient(shop.url, with_account(shop.accounts, "refine", role=Role.RECONCILE, credit=5 * 10**9))
    address, manifest = client.address, client.manifest()
    total = shop.provider.ledger.total
    with openrefine.running(tmp_path) as refine:
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
    client.close()
