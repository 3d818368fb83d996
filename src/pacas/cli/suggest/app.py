"""`pacas suggest`: what a table says of itself, for its owner to declare."""

from __future__ import annotations

import typer

from pacas.cli.options import show_help
from pacas.cli.suggest import columns, fds, hierarchies, match, policy

app = typer.Typer()


@app.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Suggest what to declare: dependencies, hierarchies, matches, columns to protect, policies.

    Example: pacas suggest fds client.csv
    """
    show_help(context)


app.command("fds")(fds.command)
app.command("hierarchies")(hierarchies.command)
app.command("match")(match.command)
app.command("columns")(columns.command)
app.command("policy")(policy.command)
