"""`pacas demo`: the paper's running example step by step, and then a table of a size that people have."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from pacas import example
from pacas.cli.demo import exchange as demo_exchange
from pacas.cli.demo import large as demo_large
from pacas.cli.demo import market as demo_market
from pacas.cli.demo import values as demo_values
from pacas.cli.demo.consoles import run_consoles
from pacas.cli.demo.files import COMMANDS, write_files
from pacas.cli.options import Json, out, print_json
from pacas.engine.duck.engine import DuckEngine
from pacas.formats.report.report import check_report

REPORT = Path("pacas-demo-report.html")


def command(
    files: Annotated[
        Path | None, typer.Option("--files", metavar="DIR", help="Write the example's files there instead, to try on.")
    ] = None,
    report: Annotated[
        Path, typer.Option(metavar="FILE.html", help="Where the report on the larger table goes.")
    ] = REPORT,
    consoles: Annotated[
        bool, typer.Option("--consoles", help="Start both consoles on the larger table instead, until Ctrl-C.")
    ] = False,
    json: Json = False,
) -> None:
    """Walk through the paper's running example: violations, classes, quotes, a refusal, purchases, the repaired table.

    The example is cleaned as in the paper. Then what the paper's free quotes tell, the same at sealed quotes, and a
    synthetic table of 20,000 rows, cleaned by a client that weighs, with a report to look at.

    JSON: check, distance, anonymity (levels, k, holds), answers, quotes (row, levels), cleaning (as of pacas clean),
    exchanged (paper, sealed: row, before, after), sealed (quotes, cleaning), synthetic (rows, violations_before,
    violations_after, budget, spent, purchases, free, paid, vote, unrepaired, score, wrong_cells: before, vote,
    no_money, bought; seconds, quotes: changed, leak, kept_back of paper and sealed), report; with --files: folder,
    files, commands; with --consoles: provider, token, client

    Example: pacas demo --files example
    """
    if files is not None:
        _write(files, json)
        return
    if consoles:
        run_consoles(json)
        return
    check_report(report)
    with closing(DuckEngine()) as engine:
        values, exchange = demo_values.ask(engine), demo_exchange.exchange(engine)
        market = demo_market.trade(demo_market.paper_provider(example.provider, engine), engine)
        if json:
            large = demo_large.clean(report, engine)
            parts = values.as_json() | market.as_json() | exchange.as_json() | large.as_json()
            print_json(parts | {"report": str(report)})
            return
        demo_values.tell(values, engine)
        demo_market.tell(market, engine)
        demo_exchange.tell(exchange)
        demo_large.tell(demo_large.clean(report, engine), report)
    out.print("\nNext: pacas demo --files example writes files to try every command on.")


def _write(folder: Path, json: bool) -> None:
    written = write_files(folder)
    if json:
        print_json({"folder": str(folder), "files": list(written), "commands": list(COMMANDS)})
        return
    out.print(f"In {folder}:")
    width = max(map(len, written)) + 2
    for name, what in written.items():
        out.print(f"  {name:{width}}{what}")
    out.print(f"\nTry, after cd {folder}:")
    for line in COMMANDS:
        out.print(f"  {line}")
