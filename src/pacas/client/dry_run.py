"""A marketplace at which nothing is paid: what would be bought first for each class, at the prices of now.

Without paying nobody learns the value, so a dry run has to suppose one. It supposes that each repair clears its class
with the class's own most frequent value, and that quotes stay what they are. In a true run later quotes follow what has
been bought: prices only fall, and a request may come to be refused.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import Observer
from pacas.client.repair import refine
from pacas.client.safe_clean import SafeClean
from pacas.engine.contract import Engine
from pacas.engine.questions import Data
from pacas.protocol.marketplace import Forwarding, Marketplace
from pacas.protocol.messages import Answer, Refusal, Request


def dry_run(
    cleaner: SafeClean, data: Data, marketplace: Marketplace, observer: Observer, engine: Engine[Any]
) -> Cleaning:
    """What a cleaning would buy. The values of its purchases, and so its relation, are supposed."""
    supposing = copy(cleaner)
    supposing.rule = refine  # with an answer that rules nothing out: the class's most frequent value
    return supposing.clean(data, DryRun(marketplace), observer=observer, engine=engine)


class DryRun(Forwarding):
    """Quotes like the marketplace behind it, and answers every purchase with the root, which tells nothing."""

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        """Nothing is paid; the price is the one that was quoted."""
        hierarchy = self.catalogue()[request.attribute].hierarchy
        return Answer(str(hierarchy.label(hierarchy.root)), request.level, ceiling)
