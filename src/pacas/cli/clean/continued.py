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
from pacas.formats.journal.journal import recorded_run
from pacas.formats.journal.run_parts import offers_digest
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Offer

CHANGED = "it does not offer what it did when this run was begun"


def of_that_run(path: Path, market: OpenedMarkets) -> OpenedMarkets:
    """Those of several that a run was begun with, in that order: it goes on with these.

    Who is away by now, and named, takes part in what is recorded; it is called again at the end. So does who offers
    something else by now, and is asked for nothing. Somebody must be there, and journals of earlier releases keep
    nothing of those who are not. Who was away when the run was begun is called at the end, or has been.
    """
    recorded = recorded_run(path)
    if recorded is None or not isinstance(market.markets, Mapping) or isinstance(market.buyer, str):
        return market
    header = recorded.header
    digests, buyers, kept = header.parts.get("provider"), header.parts.get("buyer"), header.catalogues
    if not isinstance(digests, Mapping) or not isinstance(buyers, Mapping):
        return market
    there, joined = market.markets, {name: one for name, one in recorded.joined.items() if one.is_there}
    catalogues = {name: kept for name in kept.offers} if kept else {}
    catalogues |= {name: one.catalogues for name, one in joined.items() if one.catalogues is not None}
    buyers = {**buyers, **{name: one.buyer for name, one in joined.items()}}
    of_joined = {n: offers_digest(catalogues[n].catalogue(n, path.name)) for n in joined if n in catalogues}
    changed = _changed(there, digests)
    if changed - catalogues.keys() or changed >= digests.keys() & there.keys():
        changed = set()  # the journal says that it is of another run
    changed |= _changed(there, of_joined) | {n for n in of_joined if n in there and market.buyer[n] != buyers[n]}
    away = [name for name in (*digests, *joined) if name not in there]
    known = {name: market.left_out[name] for name in away if name in catalogues and name in market.left_out}
    if lost := away if not digests.keys() & there.keys() else [name for name in away if name not in known]:
        raise RemoteError(
            f"{', '.join(lost)}: not there now, or not named, and the run was begun with it; try again later, or "
            f"remove {path.name} and begin anew with the others: what was bought costs the same buyer nothing again"
        )
    markets: dict[str, Marketplace] = {}
    for name, digest in {**digests, **dict.fromkeys(joined, ""), **of_joined}.items():
        if name in there and name not in changed:
            markets[name] = there[name]
            continue
        offers = catalogues[name].catalogue(name, path.name)
        if name in changed:
            markets[name], how = AbsentMarket(offers, CHANGED, _does_not_offer_that), f"{CHANGED}; "
        else:
            markets[name], how = _absent(known[name], offers, digest, str(buyers[name])), ""
        how += "the run goes on with what is recorded of it, and may call it again at the end"
        print(f"pacas: {printable(name)}: {how}", file=sys.stderr)
    for name in there.keys() - markets.keys():
        print(f"pacas: {printable(name)} was away when this run was begun: it is called at the end", file=sys.stderr)
    late = {**market.late, **there, **markets}
    return market._replace(
        markets={name: markets[name] for name in digests},
        buyer={name: market.buyer[name] if markets[name] is there.get(name) else str(buyers[name]) for name in digests},
        late={name: one for name, one in late.items() if name not in digests},
    )


def _changed(there: Mapping[str, Marketplace], digests: Mapping[str, str]) -> set[str]:
    """Who does not offer what it did."""
    return {name for name, one in there.items() if name in digests and offers_digest(one.catalogue()) != digests[name]}


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
