"""The client's console as an application: its pages, the parts that move, what somebody may do, and the exports."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from pacas.errors import InputError, PacasError
from pacas.pages.answers import PAGE_HEADERS, assets_route, page_answer, said
from pacas.pages.environment import page_environment
from pacas.review.doorkeeper import FIRST, Doorkeeper
from pacas.review.exports import CHANGES, REPORT, TABLE, export
from pacas.review.session import ReviewSession
from pacas.review.views import budget, cell, orders, receipts, repairs, table
from pacas.review.views.status import status

ROOM = "pacas.review"
NAV = (
    ("/table", "Table"),
    ("/budget", "Budget"),
    ("/orders", "Orders"),
    ("/repairs", "Repairs"),
    ("/receipts", "Receipts"),
)
LARGEST = 1 << 20
"""Bytes of a form."""

View = Callable[[ReviewSession, Mapping[str, str]], dict[str, Any]]
Action = Callable[[ReviewSession, Mapping[str, str]], str]

PAGES: Mapping[str, tuple[str, View]] = {
    "/table": ("table.html", table.table_page),
    "/budget": ("budget.html", budget.budget_page),
    "/orders": ("orders.html", orders.orders_page),
    "/repairs": ("repairs.html", repairs.repairs_page),
    "/receipts": ("receipts.html", receipts.receipts_page),
}
PARTS: Mapping[str, tuple[str, View]] = {
    "/table/cards": ("_cards.html", lambda session, asked: table.cards_part(session)),
    "/orders/cards": ("_cards.html", lambda session, asked: orders.cards_part(session)),
    "/repairs/cards": ("_cards.html", lambda session, asked: repairs.cards_part(session)),
    "/table/rows": ("_rows.html", table.screen_part),
    "/table/rows/on": ("_on.html", table.screen_part),
    "/cell": ("_cell.html", cell.cell_part),
    "/budget/at": ("_curve.html", budget.curve_part),
    "/orders/waiting": ("_waiting.html", lambda session, asked: orders.waiting_part(session)),
    "/orders/plan": ("_plan.html", lambda session, asked: orders.plan_part(session)),
    "/repairs/list": ("_repairs.html", repairs.list_part),
    "/repairs/line": ("_line.html", repairs.line_part),
}
ACTIONS: Mapping[str, Action] = {
    "/orders/approve": orders.approve,
    "/orders/reject": orders.reject,
    "/orders/pin": orders.pin_instead,
    "/orders/approve-plan": orders.approve_plan,
    "/orders/approve-planned": orders.approve_planned,
    "/orders/reject-planned": orders.reject_planned,
    "/orders/allow": orders.allow,
    "/orders/withdraw": orders.withdraw,
    "/orders/no-more": orders.buy_no_more,
    "/orders/again": orders.try_again,
    "/budget": budget.set_budget,
    "/cell/pin": repairs.pin,
    "/cell/undo": repairs.undo,
    "/cell/keep": repairs.keep,
    "/cell/guess": repairs.take_guess,
    "/repairs/write": repairs.write,
}
"""What changes something: each has its form, and goes back to where it came from."""


class ReviewConsole:
    """The pages of one review."""

    def __init__(self, session: ReviewSession) -> None:
        self.session = session
        self._environment = page_environment(ROOM)
        self._notices: list[tuple[str, str]] = []
        routes = [
            Route("/", lambda request: RedirectResponse(FIRST, 303)),
            Route("/status", self._status),
            Route("/export/{what}", self._export),
            Route("/receipts/{name:path}", self._receipt),
            *(Route(path, self._page(*found)) for path, found in PAGES.items()),
            *(Route(path, self._part(*found)) for path, found in PARTS.items()),
            *(Route(path, self._action(action), methods=["POST"]) for path, action in ACTIONS.items()),
            assets_route(ROOM),
        ]
        self.door = Doorkeeper(Starlette(routes=routes, exception_handlers={404: _not_there, 500: _fault}))

    # ---- pages ------------------------------------------------------------------------------------------------

    def _page(self, template: str, view: View) -> Callable[[Request], Any]:
        def page(request: Request) -> Response:
            try:
                shown = view(self.session, request.query_params)
            except PacasError as error:
                self._notices.append((str(error), "bad"))
                return page_answer(self._environment, "review.html", status=422, **self._around(request))
            return page_answer(self._environment, template, **self._around(request), **shown)

        return page

    def _part(self, template: str, view: View) -> Callable[[Request], Any]:
        def part(request: Request) -> Response:
            try:
                shown = view(self.session, request.query_params)
            except PacasError as error:
                return said(str(error), 400)
            return page_answer(self._environment, template, csrf=self.door.csrf, **shown)

        return part

    def _around(self, request: Request) -> dict[str, Any]:
        """What every page has: whose it is, the way to others, how far the run is, and what was said last."""
        said, self._notices = self._notices, []
        here = request.url.path
        return {
            "party": f"review of {self.session.job.source.name}",
            "nav": [(href, text, href == here) for href, text in NAV],
            "csrf": self.door.csrf,
            "head": status(self.session),
            "notices": said,
            "here": here,
        }

    async def _status(self, request: Request) -> Response:
        """The line at the head, if anything has changed since; the page's parts that show it then follow."""
        now = status(self.session)
        if request.query_params.get("seen") == str(now["version"]):
            return Response(status_code=204, headers=dict(PAGE_HEADERS))
        answer = page_answer(self._environment, "_status.html", head=now)
        answer.headers["HX-Trigger"] = "changed"
        return answer

    # ---- what somebody does -----------------------------------------------------------------------------------

    def _action(self, action: Action) -> Callable[[Request], Any]:
        async def act(request: Request) -> Response:
            if int(request.headers.get("content-length") or LARGEST + 1) > LARGEST:
                return said("that is too much for a form", 413)
            async with request.form(max_files=0) as sent:
                form = {name: value for name, value in sent.items() if isinstance(value, str)}
            if not self.door.is_ours(form.get("csrf") or request.headers.get("x-csrf-token")):
                return said("this form is not one of the review's own; load the page again", 403)
            return await run_in_threadpool(self._done, action, form, "hx-request" in request.headers)

        return act

    def _done(self, action: Action, form: Mapping[str, str], is_part: bool) -> Response:
        try:
            told, kind = action(self.session, form), "ok"
        except PacasError as error:
            if is_part:
                return said(str(error), 400)
            told, kind = str(error), "bad"
        if is_part and form.get("line"):
            shown = repairs.line_part(self.session, form)
            return page_answer(self._environment, "_line.html", csrf=self.door.csrf, **shown)
        if is_part and form.get("panel"):
            shown = cell.cell_part(self.session, form)
            answer = page_answer(self._environment, "_cell.html", csrf=self.door.csrf, told=told, **shown)
            answer.headers["HX-Trigger"] = "edited"
            return answer
        self._notices.append((told, kind))
        back = form.get("back", "")
        return RedirectResponse(back if back in PAGES else FIRST, 303, dict(PAGE_HEADERS))

    # ---- files ------------------------------------------------------------------------------------------------

    def _export(self, request: Request) -> Response:
        what = request.path_params["what"]
        if what not in (TABLE, CHANGES, REPORT):
            return _not_there(request, InputError(""))
        try:
            file = export(self.session, what, neutral=request.query_params.get("neutral") == "on")
        except PacasError as error:
            return said(str(error), 409)
        gone = BackgroundTask(shutil.rmtree, file.parent, ignore_errors=True)
        return FileResponse(file, headers=dict(PAGE_HEADERS), filename=file.name, background=gone)

    def _receipt(self, request: Request) -> Response:
        try:
            file = receipts.receipt_file(self.session, request.path_params["name"])
        except PacasError as error:
            return said(str(error), 404)
        return FileResponse(file, headers=dict(PAGE_HEADERS), filename=file.name, media_type="application/json")


def _not_there(request: Request, error: Exception) -> Response:
    return said("there is no such page", 404)


def _fault(request: Request, error: Exception) -> Response:
    return said("a fault of the program; what was bought and decided is in the journal", 500)
