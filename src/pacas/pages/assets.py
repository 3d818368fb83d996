"""The files that pages load, by name: those of every page, and a room's own. Each is known by its digest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
}

STYLESHEET = "pacas.css"
"""The one that all pages have: consoles load it, reports hold it."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file."""

    name: str
    media_type: str
    content: bytes
    digest: str

    @property
    def text(self) -> str:
        return self.content.decode("utf-8")


@cache
def assets(package: str | None = None) -> Mapping[str, Asset]:
    """The static files of every page and, in front of them, those that a room keeps in its own `static` folder."""
    found = {asset.name: asset for asset in _static("pacas.pages")}
    return found if package is None else found | {asset.name: asset for asset in _static(package)}


def _static(package: str) -> Iterator[Asset]:
    folder = files(package) / "static"
    if not folder.is_dir():
        return
    for file in folder.iterdir():
        kind = MEDIA_TYPES.get(f".{file.name.rpartition('.')[2]}")
        if kind is not None:
            content = file.read_bytes()
            yield Asset(file.name, kind, content, sha256(content).hexdigest())
