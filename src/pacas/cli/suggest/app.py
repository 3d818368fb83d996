"""`pacas suggest`: what a table's owner may want to declare, told from the table itself."""

from __future__ import annotations

import typer

from pacas.cli.options import show_help
from pacas.cli.suggest import columns, hierarchies, policy

app = typer.Typer()


@app.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Suggest what a table's owner may want to declare: told from the table itself, to be looked at and changed.

    Example: pacas suggest hierarchies people.csv
    """
    show_help(context)


app.command("hierarchies")(hierarchies.command)
app.command("columns")(columns.command)
app.command("policy")(policy.command)
