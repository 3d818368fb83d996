"""What all pages of the console share: the service that they watch, its figures, and how a page is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import Response

from pacas.console.figures import FiguresMaker
from pacas.console.refusal_counts import RefusalCounts
from pacas.console.sales_sums import SalesOverTime
from pacas.console.visits import PATH, Visit
from pacas.pages.answers import page_answer
from pacas.pages.environment import page_environment
from pacas.server.service import Service
from pacas.server.thread_pools import ThreadPool

PAGES = (
    ("", "Overview"),
    ("/stock", "Stock"),
    ("/policies", "Policies"),
    ("/ladder", "Price ladder"),
    ("/accounts", "Accounts"),
    ("/sales", "Sales"),
    ("/ledger", "Ledger"),
)
ASSETS = f"{PATH}/assets"
SOON = 1.0
"""Seconds that a page waits for figures that are on the way."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Board:
    """The service and what is known of it."""

    party: str
    """What its owner calls the provider."""
    service: Service
    figures: FiguresMaker
    refusals: RefusalCounts
    sales: SalesOverTime
    clock: Callable[[], float]
    threads: ThreadPool
    """The console's own: whoever looks at a long ledger keeps no client waiting."""

    @property
    def environment(self) -> Environment:
        return page_environment("pacas.console", assets_at=ASSETS)

    async def ask(self, function: Callable[[], T]) -> T:
        """Call what asks the store, or waits, in a thread of the console's own."""
        return await self.threads.run(function)

    def page(self, visit: Visit, template: str, /, **shown: Any) -> Response:
        """A page for an operator; what is still to be said stands at its top."""
        return page_answer(
            self.environment,
            template,
            party=self.party,
            nav=navigation(visit.request),
            csrf=visit.session.csrf,
            operator=visit.operator.name,
            notices=visit.session.told(),
            at=PATH,
            **shown,
        )

    def part(self, visit: Visit, template: str, /, **shown: Any) -> Response:
        """A part of a page, which htmx puts in."""
        return page_answer(self.environment, template, csrf=visit.session.csrf, at=PATH, **shown)

    def note(self, visit: Visit, done: str, **about: Any) -> None:
        """A line of the log: which operator did what. It never holds a value or a token."""
        self.service.log.info("console", done=done, operator=visit.operator.name, **about)


def navigation(request: Request) -> list[tuple[str, str, bool]]:
    """The pages, and which of them this is."""
    here = request.url.path.removeprefix(PATH).rstrip("/")
    return [(f"{PATH}{path}", text, here == path or (path != "" and here.startswith(path))) for path, text in PAGES]
