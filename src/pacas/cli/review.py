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

from pacas.cli.clean.choices import AS_USUAL, ClientArgument, HowToClean, ProvidersOption, budget_of, says_how_to_clean
from pacas.cli.clean.continued import of_that_run
from pacas.cli.clean.job import Job, Options, make_job
from pacas.cli.clean.run import credit_words, notes
from pacas.cli.data_options import AS_NAMED, HowToRead, opened_engine, says_how_to_read
from pacas.cli.market.named_panel import NamedPanel, OpenedMarkets, opened_markets, whom_to_ask
from pacas.cli.market.named_provider import NamedProvider, receipts_beside
from pacas.cli.options import AT_HAND, HowToBuy, Json, out, print_json, progress, says_how_to_buy
from pacas.core.words import counted
from pacas.engine.contract import Engine
from pacas.formats.client_file import read_client_file
from pacas.formats.journal.journal import recorded_run
from pacas.remote.verifying import CheckedReceipts, verify
from pacas.review.app import ReviewConsole
from pacas.review.doorkeeper import entrance
from pacas.review.job import ReviewJob, opened_once
from pacas.review.session import ReviewSession
from pacas.server.serving import ListeningAddress, Server, http_of

GRACE = 3
"""Seconds for pages that are being sent when the review ends."""


@says_how_to_clean
@says_how_to_buy
@says_how_to_read
def command(
    client: ClientArgument,
    provider: ProvidersOption = None,
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
    reach: HowToBuy = AT_HAND,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Clean under your own eyes, in a browser: approve what is bought before it is paid, keep or undo each repair.

    It is the run of `pacas clean`, with the same options and the same journal beside the output: a review goes on with
    a run that was interrupted, and `pacas clean --resume` with a review. Nothing is paid before it is approved. The
    pages are on this machine only, at an address with a key.

    Without --budget, that of the journal counts, else of the client's file, else 0: the page Budget shows what others
    would bring. Receipts of a provider at a URL are kept in a folder beside the output, unless --receipts names one.
    Several providers are asked together, as `pacas clean` does; each order says who is to sell.

    It ends with Ctrl-C, and loses nothing: what is being paid is paid, and all is in the journal.

    JSON: url (with the key), output, journal

    Example: pacas review client.toml --provider provider.toml --budget 2
    """
    file = read_client_file(client)
    with opened_engine(read.engine.over(file.engine_choice)) as asked:
        named = whom_to_ask(provider, file, reach)
        options = Options(
            client=file,
            read=read,
            provider=named,
            budget=budget_of(how.budget, file, named) or "0",
            how=how,
        )
        with progress() as tell:
            tell(f"reading {client.name}")
            job = make_job(options, asked)
        folder = _receipts(job, named, reach.receipts)
        line = shlex.join(
            ["pacas", "review", str(client), *(word for one in provider or () for word in ("--provider", one))]
        )
        with opened_markets(named, folder, asked) as market:
            for note in notes(job, client.name, market.markets, resume=False):
                print(f"pacas: {note}", file=sys.stderr)
            if market.credit is not None:
                print(f"pacas: {credit_words(str(market.buyer), market.credit, job.cleaner.budget)}", file=sys.stderr)
            recorded = recorded_run(job.journal)
            goes_on = recorded is not None and not new
            reviewed = _review_job(job, market, asked, folder, line, named, goes_on=goes_on)
            if recorded is not None and new and recorded.edits:
                made = counted(len(recorded.edits), "edit")
                print(f"pacas: what was done by hand in the earlier run ({made}) is not taken over", file=sys.stderr)
            elif recorded is not None and how.budget is None and goes_on:
                reviewed = reviewed.with_budget(int(recorded.header.parts["budget"]))
            _serve(ReviewSession(reviewed, anew=new), port, browser, json)


def _receipts(job: Job, reach: NamedProvider | NamedPanel | None, given: Path | None) -> Path | None:
    """Where receipts are kept, if there are any."""
    if given is not None or reach is None or not reach.signs:
        return given
    return receipts_beside(job.output)


def _review_job(
    job: Job,
    market: OpenedMarkets,
    engine: Engine[Any],
    folder: Path | None,
    line: str,
    reach: NamedProvider | NamedPanel | None,
    *,
    goes_on: bool,
) -> ReviewJob:
    market = of_that_run(job.journal, market) if goes_on else market
    return ReviewJob(
        source=job.source,
        cleaner=job.cleaner,
        choices=job.choices,
        output=job.output,
        journal=job.journal,
        key=job.key,
        engine=opened_once(engine),
        digest=engine.digest(job.source),
        markets=market.markets,
        buyer=market.buyer,
        published=market.published(),
        late=market.late,
        accounts=market.accounts,
        receipts=market.receipts,
        receipts_folder=folder,
        verify={name: _verifying(one) for name, one in _named(reach).items() if folder is not None and one.signs},
        command=line,
    )


def _named(reach: NamedProvider | NamedPanel | None) -> dict[str | None, NamedProvider]:
    if isinstance(reach, NamedPanel):
        return {name: member for name, member in reach.members.items()}
    return {} if reach is None else {None: reach}


def _verifying(reach: NamedProvider) -> Any:
    key, how = f"{reach.provider.rstrip('/')}/v1/key", reach.reach

    def verified(files: list[Path]) -> CheckedReceipts:
        return verify(files, key, ca=how.ca, client_certificate=how.certificate)

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
