"""The first draft of a provider's file: what is sold, with its hierarchies, policies and dependencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pacas.cli.start.choices import Choices
from pacas.cli.start.dependencies_draft import MOST
from pacas.cli.start.provider_draft import ProviderDraft
from pacas.cli.start.sold_draft import can_be_declared, draft_sold, is_about_people
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.words import counted
from pacas.engine.grouping import combine, mixed
from pacas.errors import InputError
from pacas.formats.starters.file_names import file_names
from pacas.formats.starters.lines import StarterLine
from pacas.formats.starters.provider_starter import FOLDER, ProviderStarter, SoldLine
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.search import suggest_dependencies
from pacas.suggest.hierarchies.suggested import SuggestedHierarchy
from pacas.suggest.hierarchies.suggesting import suggest_hierarchies
from pacas.suggest.matches.answering import SuggestedMatch
from pacas.suggest.policies.suggested import SuggestedPolicy
from pacas.suggest.policies.suggesting import suggest_policy
from pacas.suggest.roles.suggesting import suggest_roles

A_CELL = 0.01
"""Credits that a cell costs, about."""
EVERYBODY = "row"
"""The scope of a policy where everybody is found alone."""
THINGS = StarterLine.key("about", "things", "by the names of its columns; leave it out if rows are about people")
"""What the linter goes by where no policy is wanted."""
OF_THE_ENGINE = ("engine", "master", "memory")
"""How the lines begin that are not of the relation."""


def first_draft(table: CodedTable, lines: Sequence[StarterLine], share: float, choices: Choices) -> ProviderDraft:
    """All that a table could sell; whether it loads, and is safe, is to be tried."""
    if table.is_sample:
        raise InputError(
            f"{table.name} has {counted(table.of, 'row')}: too many to list all values of; name what you sell"
        )
    roles = suggest_roles(table)
    found = suggest_dependencies(table, pairs=False)
    sold = draft_sold(table, roles, choices)
    suggested = suggest_hierarchies(table, [one.fd for one in (*found.strong, *found.redundant)])
    people = is_about_people(table, roles)
    people = choices.confirm("Is a row about a person?", people)
    if people and any(match.alone for match in sold.matches.values()):
        share = choices.number("Which share of the rows shall policies leave for sale?", share, check_share)
    unsold = dict(sold.unsold)
    policies, trees = {}, {}
    for name, match in sold.matches.items():
        trees[name] = suggested[name].merged() if people else suggested[name].hierarchy
        if people and match.alone:
            found_policy = _policy(table, match, trees[name], share)
            if found_policy is None:
                unsold[name] = "it is one person's, and no level of its hierarchy hides it: give it families of values"
            else:
                policies[name] = found_policy
    kept = {name: match for name, match in sold.matches.items() if name not in unsold}
    files = _files(kept, trees)
    starter = ProviderStarter(
        table=table.name,
        data=[*(one for one in lines if not one.text.startswith(OF_THE_ENGINE)), *([] if people else [THINGS])],
        engine=[one for one in lines if one.text.startswith(OF_THE_ENGINE)],
        sold=[
            SoldLine(match, files[name], _how(suggested[name]), policies.get(name), _is_tied(table, match))
            for name, match in kept.items()
        ],
        total=_total(table, kept),
        unsold=unsold,
        exact=[one.fd for one in found.exact if _is_told(one.fd, kept) and _holds(table, one.fd)][:MOST],
        notes=_notes(people, kept),
    )
    return ProviderDraft(starter, trees, table)


def check_share(share: str) -> None:
    try:
        is_share = 0 < float(share) <= 1
    except ValueError:
        is_share = False
    if not is_share:
        raise InputError(f"--share is above 0 and at most 1, not {share}")


def _policy(table: CodedTable, match: SuggestedMatch, tree: Hierarchy, share: float) -> SuggestedPolicy | None:
    """A policy that leaves something for sale; None where there is none."""
    if tree.height == 1:
        return None
    found = suggest_policy(
        table, match.attribute, tree, match.columns, match=match.columns, scope=EVERYBODY, share=share * match.alone
    )
    return found if found.chosen else None


def _is_tied(table: CodedTable, match: SuggestedMatch) -> bool:
    return match.largest > 1 and can_be_declared(table, match)


def _is_told(fd: FunctionalDependency, kept: Mapping[str, SuggestedMatch]) -> bool:
    """Whether a dependency is about nothing but what is sold, and what that is found by."""
    named = {*kept, *(column for match in kept.values() for column in match.columns)}
    return named.issuperset(fd.attributes)


def _holds(table: CodedTable, fd: FunctionalDependency) -> bool:
    """Whether a dependency holds in every row, an empty cell being a value of its own."""
    return not mixed(combine([table[name].keys for name in fd.lhs]), table[fd.rhs].codes).any()


def _files(kept: Mapping[str, SuggestedMatch], trees: Mapping[str, Hierarchy]) -> dict[str, str]:
    """Only JSON says that values are numbers."""
    numeric = [name for name in kept if trees[name].numeric]
    plain = [name for name in kept if not trees[name].numeric]
    found = file_names(plain, Path(FOLDER)) | file_names(numeric, Path(FOLDER), ".json")
    return {name: path.as_posix() for name, path in found.items()}


def _how(one: SuggestedHierarchy) -> str:
    return "its values and *" if one.is_flat else one.how


def _total(table: CodedTable, kept: Mapping[str, object]) -> float:
    return float(f"{max(A_CELL * table.rows * len(kept), 1.0):.1e}")


def _notes(people: bool, kept: Mapping[str, SuggestedMatch]) -> list[str]:
    if people and any(match.alone for match in kept.values()):
        return ["A row looks like a person's: what single people are found by is protected by a policy."]
    if people:
        return ["Nobody is found alone by these columns, so that no policy is written; say so if that is wrong."]
    return ["A row does not look like a person's, so that no policy is written: about says so."]
