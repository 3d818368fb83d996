"""The providers of a run that is continued. One that is away is known by what the journal keeps of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from pacas.cli.market.named_panel import LeftOut, OpenedMarkets
from pacas.cli.market.named_provider import keeping_receipts
from pacas.cli.options import printable
from pacas.client.buying.absent_market import AbsentMarket
from pacas.errors import RemoteError
from pacas.formats.journal import offers_digest, recorded_run
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Offer

CHANGED = "it does not offer what it did when this run was begun"


def of_that_run(path: Path, market: OpenedMarkets) -> OpenedMarkets:
    """Those of several that a run was begun with, in that order: it goes on with these.

    Who is away by now, and named, takes part in what is recorded; it is called again at the end. So does who offers
    something else by now, and is asked for nothing. Somebody must be there, and journals of earlier releases keep
    nothing of those who are not.
    """
    recorded = recorded_run(path)
    if recorded is None or not isinstance(market.markets, Mapping) or isinstance(market.buyer, str):
        return market
    header = recorded.header
    digests, buyers, kept = header.parts.get("provider"), header.parts.get("buyer"), header.catalogues
    if not isinstance(digests, Mapping) or not isinstance(buyers, Mapping):
        return market
    there = market.markets
    away = [name for name in digests if name not in there]
    changed = {n for n, one in there.items() if n in digests and offers_digest(one.catalogue()) != digests[n]}
    if not kept or changed - kept.offers.keys() or changed >= digests.keys() - set(away):
        changed = set()  # the journal says that it is of another run
    known = {name: market.left_out[name] for name in away if kept and name in kept.offers and name in market.left_out}
    if lost := away if len(away) == len(digests) else [name for name in away if name not in known]:
        raise RemoteError(
            f"{', '.join(lost)}: not there now, or not named, and the run was begun with it; try again later, or "
            f"remove {path.name} and begin anew with the others: what was bought costs the same buyer nothing again"
        )
    markets: dict[str, Marketplace] = {}
    buyer: dict[str, str] = {}
    for name, digest in digests.items():
        if name in there and name not in changed:
            markets[name], buyer[name] = there[name], market.buyer[name]
        elif kept:
            offers = kept.catalogue(name, path.name)
            buyer[name] = str(buyers.get(name))
            if name in changed:
                markets[name], how = AbsentMarket(offers, CHANGED, _does_not_offer_that), f"{CHANGED}; "
            else:
                markets[name], how = _absent(known[name], offers, digest, buyer[name]), ""
            how += "the run goes on with what is recorded of it, and may call it again at the end"
            print(f"pacas: {printable(name)}: {how}", file=sys.stderr)
    for name in market.markets:
        if name not in digests:
            print(f"pacas: {printable(name)} is left out: it was away when this run was begun", file=sys.stderr)
    return market._replace(markets=markets, buyer=buyer)


def _absent(left_out: LeftOut, offers: Mapping[str, Offer], digest: str, buyer: str) -> Marketplace:
    """A provider as it was; once it is there, it must offer the same to the same buyer."""

    def opened() -> Marketplace:
        market = left_out.again()
        if offers_digest(market.marketplace.catalogue()) != digest:
            raise RemoteError(CHANGED)
        if market.buyer != buyer:
            raise RemoteError("it is bought from by another account than when this run was begun")
        return market.marketplace

    return keeping_receipts(AbsentMarket(offers, left_out.why, opened), left_out.receipts)


def _does_not_offer_that() -> Marketplace:
    raise RemoteError(CHANGED)
