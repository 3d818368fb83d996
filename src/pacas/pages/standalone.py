"""A page that is a file of its own: it opens offline, and its browser refuses whatever else it might load.

The stylesheet stands in it, and at most one script, of which the page's policy names the hash.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from jinja2 import Environment
from markupsafe import Markup

from pacas.pages.assets import STYLESHEET, assets


def standalone_page(
    environment: Environment, template: str, /, *, script: str | None = None, data: object = None, **shown: object
) -> str:
    """The page's text. Its template extends `pages/standalone.html`; `data` is for its script, as JSON."""
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
