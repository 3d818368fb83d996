"""Pages and static files as a console answers with them.

With every answer a browser is told to load what is ours, to send to nobody else, and to keep nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from pacas.pages.assets import assets
from pacas.pages.environment import ASSETS

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
"""The content security policy: no inline script, no inline style, nothing from elsewhere."""

_ALWAYS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}

PAGE_HEADERS: Mapping[str, str] = {**_ALWAYS, "Cache-Control": "no-store"}
"""Of pages, parts of pages and what they export: values of tables stay in no cache."""

ASSET_HEADERS: Mapping[str, str] = {**_ALWAYS, "Cache-Control": "public, max-age=31536000, immutable"}
"""Of static files under their digest: another content has another address."""


def page_answer(environment: Environment, template: str, /, *, status: int = 200, **shown: object) -> HTMLResponse:
    """A template with what it shows, as a whole page or as the part of one that htmx puts in."""
    return HTMLResponse(environment.get_template(template).render(shown), status, dict(PAGE_HEADERS))


def said(text: str, status: int) -> Response:
    """A line in the place of a page."""
    return PlainTextResponse(text + "\n", status, dict(PAGE_HEADERS))


def assets_route(package: str, *, at: str = ASSETS) -> Route:
    """Where a browser finds the static files that a room's pages name."""
    known = assets(package)

    async def static(request: Request) -> Response:
        asset = known.get(request.path_params["name"])
        if asset is None:
            return said("there is no such file", 404)
        return Response(asset.content, 200, dict(ASSET_HEADERS), asset.media_type)

    return Route(f"{at}/{{name}}", static, methods=["GET"], name="assets")
