"""`pacas clean`: repair a table with values that are bought under a budget."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from pacas.cli.clean.job import Job, Options, check_budget, make_job
from pacas.cli.clean.review import Review, make_review, print_review
from pacas.cli.clean.run import continuable, credit_words, notes, run_clean, run_dry
from pacas.cli.clean.summary import as_json, print_plan, print_summary, print_unbought
from pacas.cli.data_options import EngineOption, KeyOption, MasterOption, MemoryOption, opened_engine
from pacas.cli.market.named_provider import KeepingReceipts, NamedProvider, check_receipts, opened_market
from pacas.cli.options import (
    BuyerOption,
    CaOption,
    CertKeyOption,
    CertOption,
    InsecureOption,
    Json,
    ReceiptsOption,
    TokenOption,
    out,
    print_json,
    progress,
)
from pacas.core.money import in_credits, nanocredits
from pacas.engine.choosing import EngineChoice
from pacas.errors import InputError
from pacas.formats.client_file import ClientFile, read_client_file


def command(
    client: Annotated[Path, typer.Argument(metavar="CLIENT.toml", help="The client's file: table and dependencies.")],
    provider: Annotated[
        str | None,
        typer.Option(metavar="PROVIDER", help="The provider's file or URL. Without one nothing is bought."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="CREDITS", help="The most that all values together may cost.")
    ] = None,
    max_level: Annotated[
        list[str] | None,
        typer.Option(metavar="LEVEL", help="The coarsest level to buy: 2 for all, or MED=2 for one; repeat."),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(metavar="weigh|paper", help="Own evidence first, or most errors first. (default: weigh)"),
    ] = None,
    careful: Annotated[
        float | None,
        typer.Option(metavar="P", help="Weigh: the least probability of a repair without a purchase. (default: 0.9)"),
    ] = None,
    look_further: Annotated[
        bool, typer.Option("--look-further", help="Weigh: also rare values that no dependency contradicts.")
    ] = False,
    repair: Annotated[
        str | None,
        typer.Option(
            metavar="refine|replace|ground", help="Paper: own evidence, or what was bought. (default: refine)"
        ),
    ] = None,
    allocation: Annotated[
        str | None,
        typer.Option(metavar="errors|harmonic|uniform", help="Paper: how the budget is spread. (default: errors)"),
    ] = None,
    prefer: Annotated[
        str | None,
        typer.Option(metavar="finest|coarsest", help="Paper: which affordable level is bought. (default: finest)"),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Paper: repeat for what repairs have brought up. (default: 1)"),
    ] = None,
    cells: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Further cells to repair: a table of row,attribute.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where the table goes; else NAME.clean.csv beside it."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run; pay nothing twice.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be bought; pay, write nothing.")] = False,
    buyer: BuyerOption = None,
    token: TokenOption = None,
    ca: CaOption = None,
    cert: CertOption = None,
    cert_key: CertKeyOption = None,
    insecure: InsecureOption = False,
    receipts: ReceiptsOption = None,
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
    explain: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="ROW ATTR", help="Say why a cell, its row counted from 0, has the value it has then."),
    ] = None,
    key: KeyOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    memory: MemoryOption = None,
    json: Json = False,
) -> None:
    """Repair a table by its own evidence where that suffices, and with values that are bought where they help most.

    A client that weighs (--strategy weigh) repairs for nothing what its own evidence settles, buys where a credit is
    expected to remove most error, repairs left sides, too, and writes nothing that is expected to be worse than what
    stands there. With --strategy paper it buys a value for each class of cells that should be equal, most errors first.

    Each purchase is in a journal beside the output before it is used. After an interruption, the same command with
    --resume goes on from there, and ends with the same table.

    A table in a folder, or of Spark's, needs a key. The engine is the client's; a provider's file names its own.

    Without a provider, by --provider or in the client's file, own evidence alone repairs, for nothing.

    JSON: budget, spent, violations_before, violations_after, rounds, purchases (attribute, rows, level, value, price,
    written), unrepaired (attribute, rows, reason; cheapest, where each answer was too expensive), credit (what the
    account at a URL could spend before; null without a limit), to_look_at (row, attribute, old, new, guess, look: why,
    sure: where it weighs), repair_error, score, hindsight (null without --truth; vote, true: spent, error, where it
    weighs), explanation (null without --explain), dry_run; output, journal, report, changes (not in a dry run); where
    it weighs, weighing (careful, free, paid, vote, expected: spent, error, knee: null or spent, error, rates: fd,
    wrong, overwritten, misplaced, doubtful: row, attribute, value, guess, sure, written)

    Exit code 0: done; 3: done and written, but more than a tenth of the written cells are doubtful.

    Example: pacas clean client.toml --provider provider.toml --budget 2 --output clean.csv
    """
    file = read_client_file(client)
    with opened_engine(EngineChoice(engine, master, memory).over(file.engine_choice)) as asked:
        provider = file.provider_named if provider is None else provider
        if provider is None:
            _check_alone({"--as": buyer, "--receipts": receipts, "--ca": ca, "--cert": cert, "--cert-key": cert_key})
            reach = None
        else:
            reach = NamedProvider(provider, buyer, token, ca, cert, cert_key, insecure)
            check_receipts(provider, receipts)
        options = Options(
            client=file,
            key=key or (),
            provider=reach,
            budget=_budget(budget, file, reach),
            max_level=max_level or (),
            strategy=strategy,
            careful=careful,
            look_further=look_further,
            repair=repair,
            allocation=allocation,
            prefer=prefer,
            rounds=rounds,
            doubtful=doubtful,
            changes=changes,
            cells=cells,
            output=output,
            truth=truth,
            report=report,
            explain=explain,
            dry_run=dry_run,
        )
        with progress() as tell:
            tell(f"reading {client.name}")
            job = make_job(options, asked)
        market = opened_market(reach, None if dry_run else receipts, asked)
        with continuable(), market as (marketplace, name, credit):
            for note in notes(job, marketplace, resume and not dry_run):
                print(f"pacas: {note}", file=sys.stderr)
            if credit is not None and (not json or credit < job.cleaner.budget):
                print(f"pacas: {credit_words(name, credit, job.cleaner.budget)}", file=sys.stderr)
            with progress() as tell:
                tell("checking the dependencies")
                if dry_run:
                    cleaning, was_done = run_dry(job, marketplace, asked, tell), False
                else:
                    cleaning, was_done = run_clean(job, marketplace, name, resume, asked, tell)
        kept = marketplace.kept if isinstance(marketplace, KeepingReceipts) else {}
        review = Review() if dry_run else make_review(job, cleaning, asked, kept)
    if json:
        account = {"credit": None if credit is None else in_credits(credit)}
        print_json(as_json(cleaning, dry=dry_run) | account | review.as_json() | ({} if dry_run else _files(job)))
    elif dry_run:
        print_plan(cleaning)
    else:
        print_summary(cleaning)
        print_review(review)
        _print_end(job, was_done, alone=reach is None)
        if reach is None:
            print_unbought(cleaning, client.name)
    if not dry_run and cleaning.weighing is not None and cleaning.weighing.is_doubtful:
        raise typer.Exit(DOUBTFUL)


DOUBTFUL = 3
"""D15: how the command ends if too many of the written cells are doubtful."""


def _files(job: Job) -> dict[str, str | None]:
    report = None if job.report is None else str(job.report)
    lists = {} if job.changes is None else {"changes": str(job.changes)}
    return {"output": str(job.output), "journal": str(job.journal), "report": report, **lists}


def _check_alone(given: Mapping[str, object]) -> None:
    """Raise where something is said of a provider, and there is none."""
    for option, value in given.items():
        if value:
            raise InputError(f"{option} is about buying, and there is no provider; give --provider")


def _budget(given: str | None, file: ClientFile, reach: NamedProvider | None) -> str:
    """The credits of the command line, else of the client's file; without a provider there is nothing to pay."""
    asked = given if given is not None or file.budget is None else str(file.budget)
    if reach is None:
        if given is not None:
            check_budget(given)
            if nanocredits(given, "--budget"):
                raise InputError("--budget is for buying, and there is no provider; give --provider")
        return "0"
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
