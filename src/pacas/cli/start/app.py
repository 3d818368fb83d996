"""`pacas init`: files to start from."""

from __future__ import annotations

import typer

from pacas.cli.options import show_help
from pacas.cli.start import client, provider

app = typer.Typer()


@app.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Write a client.toml or a provider.toml to start from, each line with its reasons. Nothing is written over.

    Example: pacas init client mine.csv
    """
    show_help(context)


app.command("client")(client.command)
app.command("provider")(provider.command)
