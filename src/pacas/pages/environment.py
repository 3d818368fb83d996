"""The one way to make a page: Jinja2 with autoescape, so that what stands in a table is text wherever it is put."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from pacas.core.money import credits_text, credits_words, rounded_text
from pacas.core.words import counted
from pacas.pages.assets import STYLESHEET, assets
from pacas.pages.pieces import is_bar, is_numeric
from pacas.pages.shown_text import differences, shown

ASSETS = "/assets"
"""Where a console has its static files, unless it says otherwise."""


@cache
def page_environment(package: str, *, assets_at: str = ASSETS) -> Environment:
    """The templates of a room (its `templates` folder), with those of every page behind the prefix `pages/`.

    A page begins with `{% extends "pages/base.html" %}` and has its pieces from
    `{% import "pages/parts.html" as parts %}`. `assets_at` is where the static files are served.
    """
    shared = PrefixLoader({"pages": PackageLoader("pacas.pages")})
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), shared]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    environment.filters |= FILTERS
    environment.tests |= {"bar": is_bar, "numeric": is_numeric}
    environment.globals |= {"asset": _address(package, assets_at), "htmx_config": HTMX}
    return environment


def _address(package: str, at: str) -> Callable[[str], str]:
    def asset(name: str) -> str:
        """The address of a static file: it has the digest, so that a browser may keep it for good."""
        return f"{at}/{name}?v={assets(package)[name].digest[:16]}"

    return asset


def percent(share: float, decimals: int = 1) -> str:
    """
    >>> percent(0.1234), percent(1, 0)
    ('12.3 %', '100 %')
    """
    return f"{100 * share:.{decimals}f} %"


def moment(time: datetime | float) -> str:
    """A time in UTC, to the second; a number is of seconds since 1970.

    >>> moment(0)
    '1970-01-01 00:00:00 UTC'
    """
    seen = time if isinstance(time, datetime) else datetime.fromtimestamp(time, UTC)
    return f"{seen.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def count(number: int) -> str:
    """
    >>> count(20_000)
    '20,000'
    """
    return f"{number:,}"


FILTERS: Mapping[str, Callable[..., Any]] = {
    "money": credits_words,
    "credits": rounded_text,
    "exact_credits": credits_text,
    "count": count,
    "counted": counted,
    "percent": percent,
    "moment": moment,
    "shown": shown,
    "differences": differences,
}
"""Money comes as nanocredits: `money` has its unit, `credits` has not; `counted` gives a number and its noun."""

HTMX = {
    "allowEval": False,
    "allowScriptTags": False,
    "includeIndicatorStyles": False,
    "attributesToSettle": ["class", "width", "height"],  # not "style", which the policy would block
    "selfRequestsOnly": True,
    "historyCacheSize": 0,
    "refreshOnHistoryMiss": True,
    "responseHandling": [
        {"code": "204", "swap": False},
        {"code": "[23]..", "swap": True},
        {"code": "422", "swap": True},
        {"code": "[45]..", "swap": False, "error": True},
    ],
}
"""How htmx is set up: it evaluates nothing, and keeps no page in the browser's storage."""


def standalone_page(
    environment: Environment, template: str, /, *, script: str | None = None, data: object = None, **shown: object
) -> str:
    """The text of a page that is a file of its own: it opens offline, and its browser refuses what else it might load.

    The stylesheet stands in it, and at most one script, of which the page's policy names the hash; `data` is for that,
    as JSON. Its template extends `pages/standalone.html`.
    """
    allowed = "" if script is None else f"; script-src 'sha256-{_digest(script)}'"
    return environment.get_template(template).render(
        shown,
        stylesheet=Markup(assets()[STYLESHEET].text),
        script=None if script is None else Markup(script),
        data=data,
        policy=Markup(f"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'{allowed}"),
    )


def _digest(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()
