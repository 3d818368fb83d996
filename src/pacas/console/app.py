"""The console: its pages, and what it counts meanwhile. `pacas serve --console` puts it beside the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from time import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from structlog.typing import FilteringBoundLogger

from pacas.console.board import ASSETS, Board
from pacas.console.figures import FiguresMaker, Look, OwnFindings
from pacas.console.refusal_counts import RefusalCounts
from pacas.console.sales_sums import SalesOverTime
from pacas.console.sessions import Sessions
from pacas.console.tabs import accounts, ladder, ledger, overview, policies, sales, stock
from pacas.console.visits import PATH, Visit, Visits, is_from_here, redirect, set_cookie
from pacas.errors import StorageError
from pacas.pages.answers import PAGE_HEADERS, assets_route, page_answer
from pacas.provider.ledger.refusals import Refusals
from pacas.server.service import Service
from pacas.server.thread_pools import ThreadPool

KEEP = 10.0
"""Seconds between two times at which refusals are handed to the store."""
THREADS = 4
TABS = (overview, stock, policies, ladder, accounts, sales, ledger)


class ProviderConsole:
    """A provider's console: what `create_app` serves beside the service."""

    def __init__(
        self,
        party: str,
        refusals: Refusals,
        look: Look,
        found: OwnFindings | None = None,
        *,
        clock: Callable[[], float] = time,
    ) -> None:
        self._party, self._look, self._found, self._clock = party, look, found, clock
        self.watch = RefusalCounts(refusals, clock)
        self._sessions = Sessions(clock)
        self._figures: FiguresMaker | None = None
        self._threads: ThreadPool | None = None
        self._log: FilteringBoundLogger | None = None

    def routes(self, service: Service) -> Sequence[BaseRoute]:
        provider = service.provider
        figures = FiguresMaker(provider, self._look, self._found, service.log, self._clock)
        sums, threads = SalesOverTime(provider.ledger), ThreadPool("console", THREADS)
        board = Board(self._party, service, figures, self.watch, sums, self._clock, threads)
        self._threads, self._figures, self._log = threads, figures, service.log
        doors = _Doors(board, self._sessions)
        found: list[Route] = [assets_route("pacas.console", at=ASSETS), *doors.routes()]
        for tab in TABS:
            found += tab.routes(board, doors.visits)
        return [*found, doors.nothing()]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hand refusals to the store now and then, and at the end."""
        keeping = asyncio.create_task(self._keep_for_ever())
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            await asyncio.to_thread(self._keep)
            if self._figures is not None:
                await asyncio.to_thread(self._figures.close)
            if self._threads is not None:
                await asyncio.to_thread(self._threads.finish)

    async def _keep_for_ever(self) -> None:
        while True:
            await asyncio.sleep(KEEP)
            await asyncio.to_thread(self._keep)

    def _keep(self) -> None:
        try:
            self.watch.keep()
        except StorageError as error:
            if self._log is not None:
                self._log.error("refusals were not kept", problem=str(error))


class _Doors:
    """In and out: login, logout, and what is at no path."""

    def __init__(self, board: Board, sessions: Sessions) -> None:
        self._board = board
        self.visits = Visits(board.service, sessions, self._problem)

    def routes(self) -> list[Route]:
        return [
            self.visits.open("/login", self._login),
            self.visits.post("/logout", self._logout),
            Route(f"{PATH}/", lambda request: redirect(""), include_in_schema=False),
        ]

    def nothing(self) -> Route:
        """What is said at every other path below the console's."""

        async def nothing(request: Request) -> Response:
            return self._problem(request, 404, "There is no such page.")

        return Route(f"{PATH}/{{path:path}}", nothing, methods=["GET", "POST"], include_in_schema=False)

    async def _login(self, request: Request) -> Response:
        where = _own_path(request.query_params.get("next", ""))
        if request.method != "POST":
            return self._login_page(request, where)
        if not is_from_here(request):
            return self._login_page(request, where, "This form was sent from somewhere else.", 403)
        form = await self.visits.form(request)
        found = await self.visits.log_in(form.get("token", ""), request)
        if found is None:
            return self._login_page(request, where, "That is no operator's token.", 401)
        cookie, operator = found
        request.scope["account"] = operator.name
        self._board.service.log.info("console", done="log in", operator=operator.name)
        response = redirect(where)
        set_cookie(response, request, cookie)
        return response

    def _login_page(self, request: Request, where: str, problem: str = "", status: int = 200) -> Response:
        return self._bare_page("login.html", status, where=where, problem=problem)

    async def _logout(self, visit: Visit) -> Response:
        self.visits.log_out(visit.session)
        self._board.note(visit, "log out")
        response = redirect("/login")
        set_cookie(response, visit.request, "")
        return response

    def _problem(self, request: Request, status: int, line: str) -> Response:
        """Why there is no page: in a line that htmx shows, or as a page."""
        if request.headers.get("hx-request") == "true":
            return Response(line, status, dict(PAGE_HEADERS), "text/plain; charset=utf-8")
        return self._bare_page("problem.html", status, line=line)

    def _bare_page(self, template: str, status: int, **shown: str) -> Response:
        """A page without the way to others."""
        board = self._board
        return page_answer(board.environment, template, status=status, party=board.party, nav=[], at=PATH, **shown)


def _own_path(text: str) -> str:
    """A page of the console that was asked for before the login, without the console's own part; else the first.

    >>> _own_path("/console/ledger?page=2"), _own_path("https://elsewhere/console/ledger"), _own_path("//x/console/")
    ('/ledger?page=2', '', '')
    """
    is_own = text.startswith(f"{PATH}/") and "\\" not in text and text.isprintable()
    return text.removeprefix(PATH) if is_own else ""
