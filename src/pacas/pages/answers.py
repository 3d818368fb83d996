"""Pages and static files as a console answers with them, headers included."""

from __future__ import annotations

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pacas.pages.assets import assets
from pacas.pages.environment import ASSETS
from pacas.pages.headers import ASSET_HEADERS, PAGE_HEADERS


def page_answer(environment: Environment, template: str, /, *, status: int = 200, **shown: object) -> HTMLResponse:
    """A template with what it shows, as a whole page or as the part of one that htmx puts in."""
    return HTMLResponse(environment.get_template(template).render(shown), status, dict(PAGE_HEADERS))


def assets_route(package: str, *, at: str = ASSETS) -> Route:
    """Where a browser finds the static files that a room's pages name."""
    known = assets(package)

    async def static(request: Request) -> Response:
        asset = known.get(request.path_params["name"])
        if asset is None:
            return Response("there is no such file\n", 404, dict(PAGE_HEADERS), "text/plain; charset=utf-8")
        return Response(asset.content, 200, dict(ASSET_HEADERS), asset.media_type)

    return Route(f"{at}/{{name}}", static, methods=["GET"], name="assets")
