"""`pacas clean`: repair a table with values that are bought under a budget."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pacas.cli.clean.choices import AS_USUAL, ClientArgument, HowToClean, ProvidersOption, budget_of, says_how_to_clean
from pacas.cli.clean.continued import of_that_run
from pacas.cli.clean.job import Job, Options, make_job
from pacas.cli.clean.lineage import check_sink, told_lineage
from pacas.cli.clean.offers import compared_offers, offers_as_json, print_offers
from pacas.cli.clean.review import Review, make_review, print_review
from pacas.cli.clean.run import continuable, credit_words, notes, run_clean, run_dry, unmatched
from pacas.cli.clean.summary import as_json, print_plan, print_summary, print_unbought
from pacas.cli.data_options import AS_NAMED, HowToRead, opened_engine, says_how_to_read
from pacas.cli.market.named_panel import NamedPanel, OpenedMarkets, opened_markets, whom_to_ask
from pacas.cli.market.named_provider import NamedProvider, receipts_beside
from pacas.cli.market.would_match import print_would_match, would_match
from pacas.cli.options import AT_HAND, HowToBuy, Json, out, print_json, printable, progress, says_how_to_buy
from pacas.client.outcome.cleaning import Cleaning
from pacas.core.money import in_credits
from pacas.errors import InputError
from pacas.formats.client_file import ClientFile, read_client_file


@says_how_to_clean
@says_how_to_buy
@says_how_to_read
def command(
    client: ClientArgument,
    provider: ProvidersOption = None,
    how: HowToClean = AS_USUAL,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run; pay nothing twice.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be bought; pay, write nothing.")] = False,
    reach: HowToBuy = AT_HAND,
    doubtful: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write the cells that somebody should look at.")
    ] = None,
    changes: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write every changed cell, and those to look at, with why.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The true table, row by row, to score the repairs by.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write a page on it all, to read in a browser, offline.")
    ] = None,
    lineage: Annotated[
        str | None,
        typer.Option(metavar="FILE|URL", help="Tell OpenLineage what was read, written and repaired; never values."),
    ] = None,
    explain: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="ROW ATTR", help="Say why a cell, its row counted from 0, has the value it has then."),
    ] = None,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Repair a table by its own evidence where that suffices, and with values that are bought where they help most.

    A client that weighs (--strategy weigh) repairs for nothing what its own evidence settles, buys where a credit is
    expected to remove most error, repairs left sides, too, and writes nothing that is expected to be worse than what
    stands there. With --strategy paper it buys a value for each class of cells that should be equal, most errors first.

    Each purchase is in a journal beside the output before it is used. After an interruption, the same command with
    --resume goes on from there, and ends with the same table.

    A table in a folder, or of Spark's, needs a key. The engine is the client's; a provider's file names its own.

    Without a provider, by --provider or in the client's file, own evidence alone repairs, for nothing. Several are
    asked together, within the one budget: who is away, slow or wrong costs a line, not the run.

    JSON: budget, spent, violations_before, violations_after, rounds, purchases (attribute, rows, level, value, price,
    written), unrepaired (attribute, rows, reason; cheapest, where each answer was too expensive), credit (what the
    account at a URL could spend before; null without a limit), to_look_at (row, attribute, old, new, guess, look:
    why, sure: where it weighs), repair_error, score, hindsight (null without --truth; vote, true: spent, error, where
    it weighs), explanation (null without --explain), dry_run, offers (in a dry run, where some stand: provider with
    several, offer, prepaid, days, cost_now, cost, bill, pays, saves, anew: null or the plan that would be made on
    its terms: purchases, list_price, bill, violations_after); output, journal, report, changes (not in a dry run);
    providers (name, spent, purchases, reliability: by attribute, away: null or why; where there are several, and then
    provider in purchases, may_have_cost: orders that nobody has answered, and overcharged: what some say they took
    beyond what was agreed to); would_match (attribute, found, tried: those that find nobody, and would in another
    spelling, dates: dmy or mdy, where it takes that; where there are any; with several, provider); where it weighs,
    weighing (careful, free, paid, vote, expected: spent, error, knee: null or spent, error, rates: fd,
    wrong, overwritten, misplaced, mixed, doubtful: row, attribute, value, guess, sure, written)

    Exit code 0: done; 3: done and written, but more than a tenth of the written cells are doubtful.

    Example: pacas clean client.toml --provider provider.toml --budget 2 --output clean.csv
    """
    file = read_client_file(client)
    with opened_engine(read.engine.over(file.engine_choice)) as asked:
        named = whom_to_ask(provider, file, reach)
        check_sink(lineage)
        options = Options(
            client=file,
            read=read,
            provider=named,
            budget=_budget(how.budget, file, named),
            how=how,
            doubtful=doubtful,
            changes=changes,
            truth=truth,
            report=report,
            lineage=lineage,
            explain=explain,
            dry_run=dry_run,
        )
        with progress() as tell:
            tell(f"reading {client.name}")
            job = make_job(options, asked)
        receipts = None if dry_run else reach.receipts
        beside = receipts_beside(job.output)
        if resume and not dry_run and receipts is None and named is not None and named.signs and beside.is_dir():
            receipts = beside
        with continuable(), opened_markets(named, receipts, asked) as opened:
            market = of_that_run(job.journal, opened) if resume and not dry_run else opened
            marketplace, credit, standing = market.markets, market.credit, market.standing
            for note in notes(job, client.name, marketplace, resume and not dry_run):
                print(f"pacas: {note}", file=sys.stderr)
            if credit is not None and (not json or credit < job.cleaner.budget):
                print(f"pacas: {credit_words(str(market.buyer), credit, job.cleaner.budget)}", file=sys.stderr)
            with progress() as tell:
                tell("checking the dependencies")
                if dry_run:
                    cleaning, was_done = run_dry(job, marketplace, market, asked, tell), False
                else:
                    with told_lineage(lineage, job, named, market) as complete:
                        cleaning, was_done = run_clean(job, market, resume, asked, tell)
                        complete(cleaning)
                away = {} if cleaning.panel is None else cleaning.panel.away
                cleaning = _with_left_out(cleaning, market)
                others = unmatched(job, marketplace, cleaning, asked)
                offers = compared_offers(
                    cleaning,
                    {who: ask() for who, ask in standing.items() if who not in away} if dry_run else {},
                    marketplace,
                    lambda other: run_dry(job, other, market, asked, tell),
                )
        for who, why in away.items():
            print(f"pacas: {printable(who)}: {why}", file=sys.stderr)
        review = Review() if dry_run else make_review(job, cleaning, asked, market.receipts())
    if json:
        account = {"credit": None if credit is None else in_credits(credit)}
        told = as_json(cleaning, dry=dry_run) | account | review.as_json() | ({} if dry_run else _files(job))
        print_json(told | offers_as_json(offers) | would_match(others))
    elif dry_run:
        print_plan(cleaning)
        print_offers(offers)
    else:
        print_summary(cleaning)
        print_review(review)
        _print_end(job, was_done, alone=named is None)
        if named is None:
            print_unbought(cleaning, client.name)
    if not json:
        print_would_match(others)
    if not dry_run and cleaning.weighing is not None and cleaning.weighing.is_doubtful:
        raise typer.Exit(DOUBTFUL)


def _with_left_out(cleaning: Cleaning, market: OpenedMarkets) -> Cleaning:
    """Those of several that took no part from the start are told of, too; a line was printed for each."""
    if (panel := cleaning.panel) is None:
        return cleaning
    left_out = {name: one.why for name, one in market.left_out.items() if name not in panel.providers}
    return replace(cleaning, panel=replace(panel, away={**left_out, **panel.away}))


DOUBTFUL = 3
"""D15: how the command ends if too many of the written cells are doubtful."""


def _files(job: Job) -> dict[str, str | None]:
    report = None if job.report is None else str(job.report)
    lists = {} if job.changes is None else {"changes": str(job.changes)}
    return {"output": str(job.output), "journal": str(job.journal), "report": report, **lists}


def _budget(given: str | None, file: ClientFile, reach: NamedProvider | NamedPanel | None) -> str:
    asked = budget_of(given, file, reach)
    if asked is None:
        raise InputError(
            f"say what all values together may cost: --budget 2, or budget = 2 in {file.path.name}; 0 buys nothing"
        )
    return asked


def _print_end(job: Job, was_done: bool, *, alone: bool) -> None:
    record = "" if alone else f"; {job.journal.name} is the record of what was bought"
    out.print(f"\n{job.output} written{record}.")
    if job.changes is not None:
        out.print(f"{job.changes} written: every changed cell, and those to look at.")
    if job.report is not None:
        out.print(f"{job.report} written; open it in a browser.")
    if was_done:
        out.print("That run was done already; nothing was bought now.")
