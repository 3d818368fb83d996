"""The console of `pacas serve --console`, wired together. Loaded only where it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from pacas.cli.provider.findings import Looked, look_at
from pacas.console.app import ProviderConsole
from pacas.console.figures import OwnFindings
from pacas.engine.contract import Engine
from pacas.formats.provider.provider_file import ProviderFile
from pacas.provider.provider import Provider
from pacas.storage.url import open_refusals


@contextmanager
def opened_console(
    file: ProviderFile, provider: Provider, engine: Engine[Any], looked: Looked
) -> Iterator[ProviderConsole]:
    """A console that begins with what was found at the start, and counts refusals beside the ledger."""

    def look() -> OwnFindings:
        return OwnFindings(*look_at(file, provider, engine))

    with closing(open_refusals(file.ledger_url, file.folder)) as refusals:
        yield ProviderConsole(file.path.name, refusals, look, OwnFindings(*looked))
