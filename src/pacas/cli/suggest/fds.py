"""`pacas suggest fds`: the dependencies that a table almost satisfies, with what speaks for and against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from pacas.cli.data_options import AS_NAMED, AnyData, HowToRead, says_how_to_read
from pacas.cli.options import Json, check_one_form, out, print_json, printable
from pacas.cli.suggest.coded import coded_table, sample_of
from pacas.cli.suggest.evidence import agreement_words, evidence_words, exception_words
from pacas.core.toml import comment, toml_text
from pacas.core.words import counted
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.search import suggest_dependencies
from pacas.suggest.dependencies.suggested import SuggestedDependencies, SuggestedDependency

SHOWN = 20
"""Dependencies of a kind that are shown."""
WIDEST = 44
"""Characters that a dependency may take and still have its evidence beside it."""


@says_how_to_read
def command(
    data: AnyData,
    toml: Annotated[bool, typer.Option("--toml", help="Lines for client.toml; weak ones are comments.")] = False,
    pairs: Annotated[
        bool, typer.Option(help="Look at left sides of two attributes, too; they are always weak.")
    ] = True,
    most: Annotated[int, typer.Option(min=0, metavar="N", help="Show so many of a kind. JSON has them all.")] = SHOWN,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Suggest the functional dependencies that a dirty table almost satisfies, best first.

    Strong ones are for the file: at most two left sides a right side. Weak ones are for a look: some are true, and
    some would spoil the table. The score says how much likelier two rows agree that share a left side than any two,
    typos left out. Exceptions are typo-like (seen twice at most, or the usual value misspelled), scattered as errors
    are, or in blocks: one other value so often in a group that errors do not explain it, a sign against the dependency.

    JSON: rows, of (rows of the table), strong and weak (fd, score, rows, groups, exceptions (typo, scattered, blocks),
    agreement, agreeing_groups, looked_at, placeholder, because, examples (left, value, majority, rows, kind); strong
    ones: active, whether it is among the two left sides), keys

    Example: pacas suggest fds client.csv --toml
    """
    check_one_form(toml, json)
    with coded_table(data, read) as (table, tell):
        found = suggest_dependencies(table, pairs=pairs, progress=tell)
    if json:
        print_json(found.as_json())
    elif toml:
        print("\n".join(toml_lines(found, table.name, most)))
    else:
        _print(found, table, most)


# ---- for client.toml -----------------------------------------------------------------------------------------------


def toml_lines(found: SuggestedDependencies, name: str, most: int = SHOWN) -> Iterator[str]:
    """The key `fds`: strong dependencies, and others as comments; each with its evidence."""
    yield f"# dependencies that {comment(name)} suggests, by {counted(found.rows, 'row')}; best first"
    yield "fds = ["
    for one in found.strong:
        yield f"  {toml_text(str(one.fd))},  # {comment(_evidence(one))}"
    yield from _comments("as strong; their right sides have two left sides already", found.redundant, most)
    yield from _comments("weak: look before you declare one; some would spoil the table", found.weak, most)
    yield "]"


def _comments(head: str, listed: Sequence[SuggestedDependency], most: int) -> Iterator[str]:
    if listed[:most]:
        yield f"  # {head}"
    for one in listed[:most]:
        yield f"  # {toml_text(str(one.fd))},  # {comment(_evidence(one))}"
    if len(listed) > most > 0:
        yield f"  # … and {len(listed) - most:,} more"


def _evidence(one: SuggestedDependency) -> str:
    return f"{one.score:.2f}: {evidence_words(one, examples=True)}"


# ---- for people ----------------------------------------------------------------------------------------------------


def _print(found: SuggestedDependencies, table: CodedTable, most: int) -> None:
    if found.strong:
        out.print(Text.assemble(("strong", "green"), ": to declare, best first"))
        _print_listed(found.strong, most)
    else:
        out.print("no dependency is strong enough to be declared by the table alone")
    if found.redundant:
        named = [printable(str(one.fd)) for one in found.redundant[:most]]
        out.print(
            Text.assemble(
                "\nas strong, with two better left sides: ", ("; ".join(named), "dim"), _more(found.redundant, most)
            )
        )
    if found.weak:
        out.print(Text.assemble("\n", ("weak", "yellow"), ": to look at; some are true, some would spoil the table"))
        _print_listed(found.weak, most)
    if found.keys:
        out.print(f"\nkeys and near-keys, which determine all by being unique: {printable(', '.join(found.keys))}")
    if said := sample_of(table):
        out.print(f"\n{said}")


def _print_listed(listed: Sequence[SuggestedDependency], most: int) -> None:
    width = min(max((len(printable(str(one.fd))) for one in listed[:most]), default=0), WIDEST)
    for one in listed[:most]:
        fd = printable(str(one.fd))
        out.print(Text.assemble((f"  {fd:<{width}}", "bold"), f"  {one.score:.2f}  {agreement_words(one)}"))
        for line in _details(one):
            out.print(Padding(Text(printable(line), style="dim"), (0, 0, 0, 6), expand=False))
    if len(listed) > most:
        out.print(_more(listed, most).strip())


def _details(one: SuggestedDependency) -> Iterator[str]:
    if one.exceptions:
        yield exception_words(one, examples=True)
    if one.placeholder is not None:
        yield f"without the rows of {', '.join(one.fd.lhs)} = {one.placeholder}, which seems to stand for none"
    if one.because and not one.blocks:
        yield one.because


def _more(listed: Sequence[SuggestedDependency], most: int) -> str:
    return f" … and {len(listed) - most:,} more (all of them with --json)" if len(listed) > most else ""
