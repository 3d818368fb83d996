"""What a browser is told with every answer of a console: load what is ours, send to nobody else, keep nothing."""

from __future__ import annotations

from collections.abc import Mapping

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
