"""What the service says of itself: its types, what it sells, and the settings with which that is bought.

No entity is suggested, previewed, viewed or searched for: whoever could list rows would know who is in the relation.
Names of columns are, which the catalogue publishes: OpenRefine sends a column along only as a property that its user
has named, and from 3.8 on only as one that was suggested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pacas.core.normal_text import normal_text
from pacas.protocol.messages import Offer
from pacas.server.reconcile.asked import FINEST, MOST_BOUGHT
from pacas.server.reconcile.row_types import RowType

VERSION = "0.2"
PROPERTIES = "/properties"
COLUMNS = "/columns"
MOST_QUERIES = 1000
"""Queries of a call that clients are told to send at most: more would keep people waiting for a first answer."""


def manifest(
    types: Sequence[RowType], offers: Mapping[str, Offer], key_id: str, address: str, most: int
) -> dict[str, Any]:
    """The service manifest; `address` is the one that clients call, the token in it; `most` may be asked in a call."""
    each = max(len(type_.attributes) for type_ in types)
    return {
        "versions": [VERSION],
        "name": f"PACAS: {', '.join(offers)}"[:100],
        "identifierSpace": f"urn:pacas:{key_id}:row",
        "schemaSpace": f"urn:pacas:{key_id}:column",
        "batchSize": max(1, min(most // each, MOST_QUERIES)),
        "defaultTypes": [type_.as_json() for type_ in types],
        "suggest": {"property": {"service_url": address, "service_path": COLUMNS}},
        "extend": {
            "propose_properties": {"service_url": address, "service_path": PROPERTIES},
            "property_settings": _settings(max(offer.hierarchy.height for offer in offers.values())),
        },
    }


def _settings(height: int) -> list[dict[str, Any]]:
    """Levels below the root, whether to pay, and how much."""
    levels = [{"value": str(level), "name": _level_name(level)} for level in range(height)]
    return [
        {
            "type": "select",
            "name": "level",
            "label": "Level",
            "default": FINEST,
            "choices": [{"value": FINEST, "name": "the finest that is sold within the ceiling"}, *levels],
            "help_text": "How general a value may be: 0 is the value itself. What was bought as finest stays so.",
        },
        {
            "type": "checkbox",
            "name": "pay",
            "label": f"Buy, and pay: in a preview of up to {MOST_BOUGHT} rows at once, otherwise with OK",
            "default": False,
            "help_text": "Without it, and without a ceiling, the column tells prices and nothing is bought.",
        },
        {
            "type": "text",
            "name": "ceiling",
            "label": "Most to pay for one value, in credits",
            "default": "",
            "help_text": "Such as 0.5. What costs more is left empty, and not charged.",
        },
    ]


def _level_name(level: int) -> str:
    return "level 0: as it is" if level == 0 else f"level {level}"


def proposal(type_id: str, types: Sequence[RowType], offers: Mapping[str, Offer], limit: int | None) -> dict[str, Any]:
    """What is sold of rows of a type; of all, if nobody knows the type."""
    found = next((one.sold for one in types if one.is_named(type_id)), tuple(offers))
    told = {"properties": [{"id": name, "name": name} for name in found[:limit]]}
    return {**({"type": type_id} if type_id else {}), **({} if limit is None else {"limit": limit}), **told}


def suggested_columns(
    typed: str, type_id: str, types: Sequence[RowType], offers: Mapping[str, Offer]
) -> dict[str, Any]:
    """All columns there are to name, those first that begin with what was typed, or have it in them.

    Of rows of a type, those that come as its properties; where no type is told, what is sold besides: OpenRefine asks
    the same when columns are to be added.
    """
    type_ = next((one for one in types if one.is_named(type_id)), None)
    if type_ is not None:
        named = dict.fromkeys(type_.others, f"rows are found by it, with {type_.key}")
    else:
        named = {column: "rows are found by it" for one in types for column in one.columns}
        named |= {name: "is sold" for name in offers if name not in named}
    start = normal_text(typed)
    kept = sorted(named, key=lambda name: (not normal_text(name).startswith(start), start not in normal_text(name)))
    return {"result": [{"id": name, "name": name, "description": named[name]} for name in kept]}
