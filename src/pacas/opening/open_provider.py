"""`pacas.open_provider`: from a provider.toml to the provider."""

from __future__ import annotations

import warnings
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from pacas.engine.contract import Engine
from pacas.errors import InputError
from pacas.formats.provider.provider_file import read_provider_file
from pacas.opening.described_provider import open_described
from pacas.provider.provider import Provider
from pacas.provider.shop.contract import Tell


def open_provider(
    path: str | PathLike[str], *, engine: Engine[Any] | None = None, progress: Tell = lambda what: None
) -> Provider:
    """The provider that a provider.toml describes, with its ledger; use it in a `with`, or `close` it.

    The engine is the one that is given, else the file's. What is at a URL is opened by `pacas.RemoteProvider`.
    """
    if "://" in fspath(path):
        raise InputError(
            "a provider at a URL is opened by pacas.RemoteProvider(url, token); this takes a provider.toml"
        )
    file = read_provider_file(Path(path))
    provider = open_described(file, file.engine_choice.open() if engine is None else engine, progress)
    if provider.began_anew:
        warnings.warn(anew_words(provider), stacklevel=2)
    return provider


def anew_words(provider: Provider) -> str:
    """What had changed before the first sale."""
    return f"{', '.join(provider.began_anew)} changed, and nothing had been sold: the ledger begins anew"
