"""What is said of tuples that find nobody, and would if the same values were written in another way."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pacas.cli.options import printable
from pacas.client.buying.respelling import Respelled, respelled
from pacas.formats.requests_file import Asked
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Offer, Quote, Reason, Refusal

Found = Mapping[str, Respelled]
"""By attribute."""


def found_otherwise(
    marketplace: Marketplace,
    catalogue: Mapping[str, Offer],
    asked: Sequence[Asked],
    told: Sequence[Quote | Refusal | list[Quote | Refusal]],
) -> dict[str, Respelled]:
    """Of requests that find nobody: what other spellings find."""
    found = {}
    for attribute, offer in catalogue.items():
        left = [
            one.tuple
            for one, quoted in zip(asked, told, strict=True)
            if one.attribute == attribute and _is_none(quoted)
        ]
        if left and (other := respelled(marketplace, offer, left)) is not None:
            found[attribute] = other
    return found


def _is_none(quoted: Quote | Refusal | list[Quote | Refusal]) -> bool:
    first = quoted[0] if isinstance(quoted, list) else quoted
    return isinstance(first, Refusal) and first.reason is Reason.NO_MATCH


def would_match(found: Found) -> dict[str, Any]:
    """As JSON has it, where there is anything to say."""
    told = [{"attribute": a, "found": one.found, "tried": one.tried} for a, one in found.items()]
    return {"would_match": told} if told else {}


def print_would_match(found: Found) -> None:
    for attribute, one in found.items():
        print(f"pacas: {printable(attribute)}: {printable(str(one))}", file=sys.stderr)
