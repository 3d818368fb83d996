"""A `provider.toml` to start from, and the files that it names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pacas.core.dependency import FunctionalDependency, MatchClause, MatchingDependency
from pacas.core.toml import toml_key, toml_list, toml_text
from pacas.formats.starters.lines import StarterLine, document, lines_of, remarks
from pacas.suggest.matches.answering import SuggestedMatch
from pacas.suggest.policies.suggested import SuggestedPolicy

FOLDER = "hierarchies"
MOST_MATCHES, SHOWN = 1000, 20


@dataclass(frozen=True)
class SoldLine:
    """An attribute that is sold: how it is found, its hierarchy's file, and why it has that."""

    match: SuggestedMatch
    file: str
    how: str
    policy: SuggestedPolicy | None = None
    is_declared: bool = False
    """Whether rows that are found together are declared to have one value."""

    @property
    def attribute(self) -> str:
        return self.match.attribute


@dataclass(frozen=True)
class ProviderStarter:
    """All that stands in the file."""

    table: str
    data: Sequence[StarterLine]
    """What names the relation."""
    engine: Sequence[StarterLine]
    sold: Sequence[SoldLine]
    total: float
    unsold: Mapping[str, str]
    declared: Mapping[FunctionalDependency, str | None] = field(default_factory=dict)
    """Further dependencies; between sold columns with the files of the pairs that there are."""
    exact: Sequence[FunctionalDependency] = ()
    """Those that hold in every row, which may be published."""
    notes: Sequence[str] = ()

    def text(self) -> str:
        return document(
            [
                remarks(
                    f"A provider's file, made from {self.table} by pacas init provider. Everything may be changed",
                    "until the first sale; a line that begins with # does not count. Paths are relative to this file.",
                    "Look it over with: pacas lint, pacas leak, pacas audit. Then: pacas serve.",
                    *self.notes,
                ),
                lines_of([*self.engine, *self._max_matches()]),
                ["[relation]", *lines_of(self.data)],
                self._hierarchies(),
                self._match(),
                *(self._policy(line) for line in self.sold if line.policy is not None),
                *self._dependencies(),
                ["[pricing]", *lines_of([StarterLine.key("total", self.total, "what everything costs, in credits")])],
                self._service(),
            ]
        )

    def _max_matches(self) -> Iterator[StarterLine]:
        largest = max((line.match.largest for line in self.sold), default=0)
        if largest > MOST_MATCHES:
            why = f"{largest:,} rows are found together at most"
            yield StarterLine.key("max_matches", 10 ** len(str(largest)), why)

    def _hierarchies(self) -> Iterator[str]:
        yield from remarks("Made from the table, they list its values, and are public: add others that there could be.")
        yield "[hierarchies]"
        yield from lines_of([StarterLine.key(line.attribute, line.file, line.how) for line in self.sold])

    def _match(self) -> Iterator[str]:
        yield from remarks(
            "What is sold, and how it is found. The left names are the client's; these columns are public."
        )
        yield "[match]"
        yield from lines_of([self._found(line.match) for line in self.sold])
        yield from remarks(*(f"{toml_key(name)}: {why}" for name, why in self.unsold.items()))

    def _found(self, match: SuggestedMatch) -> StarterLine:
        clauses = tuple(MatchClause(column, column) for column in match.columns)
        why = f"tells it in {match.tells:.1%} of {match.groups:,} groups, answers {match.answers:.0%} of the rows"
        return StarterLine.key(match.attribute, str(MatchingDependency(clauses)), why)

    def _policy(self, line: SoldLine) -> Iterator[str]:
        found = line.policy
        if found is None or found.chosen is None:
            return
        yield from remarks(
            f"Who finds a person shall still find k values of {line.attribute} possible. What k and L leave for sale:",
            *_trade_off(found),
        )
        yield "[[policy]]"
        yield f"x = {toml_list(found.x)}"
        yield f"y = {toml_list([line.attribute])}"
        yield f"levels = {{ {toml_key(line.attribute)} = {found.chosen.level} }}"
        yield f"k = {found.chosen.k}"
        if found.scope == "row":
            yield 'scope = "row"                     # everybody; not one of each group'
        elif found.allow_linkage:
            yield "allow_linkage = true"

    def _dependencies(self) -> Iterator[list[str]]:
        """Declared, so that what they imply is found, priced and protected with the left side."""
        declared = [line.match for line in self.sold if line.is_declared]
        for match in declared:
            yield ["[[dependency]]", f"fd = {toml_text(str(match.fd))}"]
        for fd, file in self.declared.items():
            pairs = [] if file is None else [f"dictionary = {toml_text(file)}"]
            yield ["[[dependency]]", f"fd = {toml_text(str(fd))}", *pairs]

    def _service(self) -> Iterator[str]:
        if self.exact:
            yield from remarks(
                "Clients clean better if they know what holds. It tells that who knows the right side of one row knows",
                "it of all rows with the same left side (pacas lint says more).",
                "[service]",
                f"publish_dependencies = {toml_list(map(str, self.exact))}",
            )


def _trade_off(found: SuggestedPolicy) -> Iterator[str]:
    """A line for each k and level of the policy, and the share of rows that is for sale at each level of an answer."""
    height = len(found.points[0].shares) - 1 if found.points else 0
    yield f"  {'k':>6} {'L':>3}   for sale at level " + " ".join(f"{level:>6}" for level in range(height))
    points = [point for point in found.points if any(point.shares[:height])]
    for point in points[:SHOWN]:
        shares = " ".join(f"{share:>6.0%}" for share in point.shares[:height])
        mark = "  <- chosen" if point == found.chosen else ""
        yield f"  {point.k:>6} {point.level:>3}                     {shares}{mark}"
    if len(points) > SHOWN:
        yield f"  … and {len(points) - SHOWN:,} more: pacas suggest policy"


def csv_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A small table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
