"""`pacas review`: a cleaning under somebody's eyes, in a browser on this machine."""

from __future__ import annotations

import shlex
import sys
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import typer

from pacas.cli.clean.choices import ClientArgument, HowToClean, ProviderOption, budget_of, says_how_to_clean
from pacas.cli.clean.job import Job, Options, make_job
from pacas.cli.clean.run import credit_words, notes
from pacas.cli.data_options import EngineOption, KeyOption, MasterOption, MemoryOption, opened_engine, reads_a_table
from pacas.cli.market.named_panel import HowToReach, one_to_ask, says_how_to_reach
from pacas.cli.market.named_provider import KeepingReceipts, Market, NamedProvider, opened_market, receipts_beside
from pacas.cli.options import (
    Json,
    certificate_of,
    is_url,
    out,
    print_json,
    progress,
)
from pacas.core.words import counted
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine
from pacas.errors import InputError
from pacas.formats.client_file import read_client_file
from pacas.formats.journal import recorded_run
from pacas.formats.relations.relations import AS_IT_IS, Reading
from pacas.remote.verifying import CheckedReceipts, verify
from pacas.review.app import ReviewConsole
from pacas.review.doorkeeper import entrance
from pacas.review.job import ReviewJob, opened_once
from pacas.review.session import ReviewSession
from pacas.server.serving import ListeningAddress, Server, http_of

GRACE = 3
"""Seconds for pages that are being sent when the review ends."""


AS_USUAL, AT_HAND = HowToClean(), HowToReach()


@says_how_to_clean
@says_how_to_reach
@reads_a_table
def command(
    client: ClientArgument,
    provider: ProviderOption = None,
    how: HowToClean = AS_USUAL,
    new: Annotated[
        bool,
        typer.Option(
            "--new",
            help="Begin another run, after one that is done: its values cost nothing again, its edits stay behind.",
        ),
    ] = False,
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="The port; 0 takes a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or only print the address.")
    ] = True,
    reach: HowToReach = AT_HAND,
    key: KeyOption = None,
    reading: Reading = AS_IT_IS,
    engine: EngineOption = None,
    master: MasterOption = None,
    memory: MemoryOption = None,
    json: Json = False,
) -> None:
    """Clean under your own eyes, in a browser: approve what is bought before it is paid, keep or undo each repair.

    It is the run of `pacas clean`, with the same options and the same journal beside the output: a review goes on with
    a run that was interrupted, and `pacas clean --resume` with a review. Nothing is paid before it is approved. The
    pages are on this machine only, at an address with a key.

    Without --budget, that of the journal counts, else of the client's file, else 0: the page Budget shows what others
    would bring. Receipts of a provider at a URL are kept in a folder beside the output, unless --receipts names one.

    It ends with Ctrl-C, and loses nothing: what is being paid is paid, and all is in the journal.

    JSON: url (with the key), output, journal

    Example: pacas review client.toml --provider provider.toml --budget 2
    """
    file = read_client_file(client)
    with opened_engine(EngineChoice(engine, master, memory).over(file.engine_choice)) as asked:
        if provider is None and len(file.providers) > 1:
            raise InputError("a review buys from one provider; give --provider, or take pacas clean for several")
        provider = next(iter(file.providers_named.values()), file.provider_named) if provider is None else provider
        named = one_to_ask(provider, file, reach)
        options = Options(
            client=file,
            key=key or (),
            reading=reading,
            provider=named,
            budget=budget_of(how.budget, file, named) or "0",
            how=how,
        )
        with progress() as tell:
            tell(f"reading {client.name}")
            job = make_job(options, asked)
        folder = _receipts(job, named, reach.receipts)
        line = shlex.join(["pacas", "review", str(client), *([] if provider is None else ["--provider", provider])])
        with opened_market(named, folder, asked) as market:
            for note in notes(job, client.name, market.marketplace, resume=False):
                print(f"pacas: {note}", file=sys.stderr)
            if market.credit is not None:
                print(f"pacas: {credit_words(market.buyer, market.credit, job.cleaner.budget)}", file=sys.stderr)
            reviewed = _review_job(job, market, asked, folder, line, named)
            recorded = recorded_run(job.journal)
            if recorded is not None and new and recorded.edits:
                made = counted(len(recorded.edits), "edit")
                print(f"pacas: what was done by hand in the earlier run ({made}) is not taken over", file=sys.stderr)
            elif recorded is not None and how.budget is None and not new:
                reviewed = reviewed.with_budget(int(recorded.header.parts["budget"]))
            _serve(ReviewSession(reviewed, anew=new), port, browser, json)


def _receipts(job: Job, reach: NamedProvider | None, given: Path | None) -> Path | None:
    """Where receipts are kept, if there are any."""
    if given is not None or reach is None or not is_url(reach.provider):
        return given
    return receipts_beside(job.output)


def _review_job(
    job: Job, market: Market, engine: Engine[Any], folder: Path | None, line: str, reach: NamedProvider | None
) -> ReviewJob:
    marketplace = market.marketplace
    return ReviewJob(
        source=job.source,
        cleaner=job.cleaner,
        choices=job.choices,
        output=job.output,
        journal=job.journal,
        key=job.key,
        engine=opened_once(engine),
        digest=engine.digest(job.source),
        marketplace=marketplace,
        buyer=market.buyer,
        credit=market.credit,
        receipts=marketplace.kept if isinstance(marketplace, KeepingReceipts) else {},
        receipts_folder=folder,
        verify=None if reach is None or folder is None else _verifying(reach),
        command=line,
    )


def _verifying(reach: NamedProvider) -> Any:
    certificate = certificate_of(reach.cert, reach.cert_key)

    def verified(files: list[Path]) -> CheckedReceipts:
        return verify(files, f"{reach.provider.rstrip('/')}/v1/key", ca=reach.ca, client_certificate=certificate)

    return verified


def _serve(session: ReviewSession, port: int, browser: bool, json: bool) -> None:
    """Answer on this machine until somebody ends it, and close the review then."""
    console = ReviewConsole(session)
    address = ListeningAddress.of("127.0.0.1", port, tls=False)
    listener = address.bind()
    with ExitStack() as at_end:
        at_end.callback(session.close)
        at_end.callback(listener.close)
        url = f"{address.listen(listener)}/?key={console.door.key}"
        page = at_end.enter_context(entrance(url)) if browser else None

        def announce() -> None:
            if json:
                print_json({"url": url, "output": str(session.job.output), "journal": str(session.job.journal)})
            else:
                out.print(f"Review {session.job.source.name} at\n  {url}\nEnd it with Ctrl-C; nothing is lost.")
            sys.stdout.flush()
            if page is not None:
                Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()

        session.start()
        Server(http_of(console.door, grace=GRACE), announce).run(sockets=[listener])
    if not json:
        _print_end(session)


def _print_end(session: ReviewSession) -> None:
    job = session.job
    if session.run.state == "done":
        out.print(f"\n{job.output} written; {job.journal.name} is the record of what was bought.")
    elif job.journal.exists():
        out.print(f"\n{job.journal} has all that was decided: review it again, or go on with pacas clean --resume.")
