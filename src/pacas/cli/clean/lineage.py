"""Where lineage goes: lines of a file, or an address that takes OpenLineage events. A sink that fails harms no run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import cast
from urllib.parse import urlsplit
from uuid import uuid4

from pacas.cli.clean.job import Job
from pacas.cli.market.named_panel import NamedPanel, OpenedMarkets
from pacas.cli.market.named_provider import NamedProvider
from pacas.cli.options import is_url
from pacas.client.buying.sellers import Markets, meant
from pacas.client.outcome.cleaning import Cleaning
from pacas.errors import InputError
from pacas.formats.lineage import Event, Lineage, LineageDataset, LineageProvider
from pacas.protocol.marketplace import Marketplace

USUAL_PATH = "/api/v1/lineage"
"""Where servers of OpenLineage take events."""
API_KEY = "OPENLINEAGE_API_KEY"
SECONDS = 5.0
"""How long a sink may take."""

Sink = Callable[[Event], None]
Complete = Callable[[Cleaning], None]


def check_sink(named: str | None) -> None:
    """Raise where lineage is to go to what is neither a file nor an http address."""
    if named is not None and is_url(named) and not _is_address(named):
        raise InputError(f"--lineage takes a file, or an address such as https://lineage.example{USUAL_PATH}")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket that is not closed, a port that is none
        return False


@contextmanager
def told_lineage(
    named: str | None, job: Job, reach: NamedProvider | NamedPanel | None, market: OpenedMarkets
) -> Iterator[Complete]:
    """Tell a sink that a run starts, and how it ends: what is given here to be called is called when all is done."""
    if named is None:
        yield lambda cleaning: None
        return
    lineage = Lineage(
        uuid4(),
        f"clean.{job.source.name}",
        f"pkg:pypi/pacas@{version('pacas')}",
        job.source,
        job.output,
        _providers(job, reach, market.markets),
    )

    def completed(cleaning: Cleaning) -> Event:
        if cleaning.panel is not None:  # somebody may have come late
            known = {**cast(Mapping[str, Marketplace], market.markets), **market.late}
            asked = _providers(job, reach, {name: known[name] for name in cleaning.panel.providers})
            return replace(lineage, providers=asked).complete(datetime.now(UTC), cleaning)
        return lineage.complete(datetime.now(UTC), cleaning)

    tell = _harmless(_sink(named))
    tell(lineage.start(datetime.now(UTC)))
    try:
        yield lambda cleaning: tell(completed(cleaning))
    except BaseException as error:
        tell(lineage.fail(datetime.now(UTC), error))
        raise


def _providers(
    job: Job, reach: NamedProvider | NamedPanel | None, markets: Markets
) -> dict[str | None, LineageProvider]:
    """Everybody who is there, each with the client's names for its columns."""
    columns = job.cleaner.columns
    if isinstance(reach, NamedPanel) and isinstance(markets, Mapping):
        return {
            name: LineageProvider(_dataset(reach.members[name]), meant(columns, market.catalogue()))
            for name, market in markets.items()
        }
    return {None: LineageProvider(_dataset(reach), columns)} if isinstance(reach, NamedProvider) else {}


def _dataset(reach: NamedProvider) -> LineageDataset:
    return (
        LineageDataset(reach.provider, "sold")
        if is_url(reach.provider)
        else LineageDataset.of_path(Path(reach.provider))
    )


def _harmless(sink: Sink) -> Sink:
    """A sink of which only the first failure is heard, in one line, and that is waited for so long and no longer."""
    failed = False

    def tell(event: Event) -> None:
        nonlocal failed
        errors: list[Exception] = []
        sending = Thread(target=_tried, args=(sink, event, errors), daemon=True)
        sending.start()
        sending.join(SECONDS)  # a time-out of HTTP begins anew with each byte, and a pipe has none
        if sending.is_alive():
            errors = [InputError(f"it took more than {SECONDS:g} seconds")]
        if errors and not failed:
            print(f"pacas: lineage could not be told ({_why(errors[0])}); the run goes on", file=sys.stderr)
        failed = failed or bool(errors)

    return tell


def _tried(sink: Sink, event: Event, errors: list[Exception]) -> None:
    try:
        sink(event)
    except Exception as error:  # whatever it is: a cleaning that was paid for goes before
        errors.append(error)


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) if isinstance(error, InputError) else type(error).__name__


def _sink(named: str) -> Sink:
    return _sent(named) if is_url(named) else _appended(Path(named))


def _appended(path: Path) -> Sink:
    def append(event: Event) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")

    return append


def _sent(url: str) -> Sink:
    import httpx  # takes longer to load than most commands to run

    parts = urlsplit(url)
    address = url if parts.path.strip("/") else url.rstrip("/") + USUAL_PATH
    is_safe = parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")
    key = os.environ.get(API_KEY) if is_safe else None  # it goes nowhere in the clear

    def send(event: Event) -> None:
        headers = {} if not key else {"Authorization": f"Bearer {key}"}
        with httpx.stream(
            "POST", address, json=event, headers=headers, timeout=SECONDS, follow_redirects=False
        ) as answer:
            if answer.status_code >= 300:  # what it says besides is not waited for
                raise InputError(f"the answer was {answer.status_code}")

    return send
