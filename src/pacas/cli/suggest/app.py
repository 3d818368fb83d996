"""`pacas suggest`: what a table says of itself, for its owner to declare."""

from __future__ import annotations

from pacas.cli.options import command_group
from pacas.cli.suggest import columns, fds, hierarchies, match, policy

app = command_group(
    """Suggest what to declare: dependencies, hierarchies, matches, columns to protect, policies.

    Example: pacas suggest fds client.csv
    """
)


app.command("fds")(fds.command)
app.command("hierarchies")(hierarchies.command)
app.command("match")(match.command)
app.command("columns")(columns.command)
app.command("policy")(policy.command)
