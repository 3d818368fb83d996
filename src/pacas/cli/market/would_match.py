"""What is said of tuples that find nobody, and would if the same values were written in another way."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pacas.cli.options import printable
from pacas.client.buying.respelling import Respelled, respelled
from pacas.formats.requests_file import Asked
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Offer, Reason, Refusal

Found = Mapping[tuple[str | None, str], Respelled]
"""By the provider's name, where several are asked, and by attribute."""


def found_otherwise(
    marketplace: Marketplace,
    catalogue: Mapping[str, Offer],
    asked: Sequence[Asked],
    told: Sequence[object],
) -> Found:
    """Of requests that find nobody, by what each was told: what other spellings find."""
    found: dict[tuple[str | None, str], Respelled] = {}
    for attribute, offer in catalogue.items():
        left = [
            one.tuple
            for one, quoted in zip(asked, told, strict=True)
            if one.attribute == attribute and _is_none(quoted)
        ]
        if left and (other := respelled(marketplace, offer, left)) is not None:
            found[None, attribute] = other
    return found


def _is_none(quoted: object) -> bool:
    first = quoted[0] if isinstance(quoted, list) else quoted
    return isinstance(first, Refusal) and first.reason is Reason.NO_MATCH


def would_match(found: Found) -> dict[str, Any]:
    """As JSON has it, where there is anything to say."""
    told = [
        ({} if who is None else {"provider": who})
        | {"attribute": attribute, "found": one.found, "tried": one.tried}
        | ({"dates": one.order.value} if one.order.value else {})
        for (who, attribute), one in found.items()
    ]
    return {"would_match": told} if told else {}


def print_would_match(found: Found) -> None:
    for (who, attribute), one in found.items():
        name = "" if who is None else f"{who}: "
        print(f"pacas: {printable(f'{name}{attribute}: {one}')}", file=sys.stderr)
