"""`pacas demo`: the paper's running example step by step, and then a table of a size that people have."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from pacas.cli.demo import large as demo_large
from pacas.cli.demo import market as demo_market
from pacas.cli.demo import values as demo_values
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
    json: Json = False,
) -> None:
    """Walk through the paper's running example: violations, classes, quotes, a refusal, purchases, the repaired table.

    Then a synthetic table of 20,000 rows is cleaned, with a report to look at.

    JSON: check, distance, anonymity (levels, k, holds), answers, quotes (row, levels), cleaning (as of pacas clean),
    synthetic (rows, violations_before, violations_after, budget, spent, purchases, unrepaired, score, seconds), report;
    with --files: folder, files, commands

    Example: pacas demo --files example
    """
    if files is not None:
        _write(files, json)
        return
    check_report(report)
    with closing(DuckEngine()) as engine:
        values, market = demo_values.ask(engine), demo_market.trade(engine)
        if json:
            large = demo_large.clean(report, engine)
            print_json(values.as_json() | market.as_json() | large.as_json() | {"report": str(report)})
            return
        demo_values.tell(values, engine)
        demo_market.tell(market, engine)
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
