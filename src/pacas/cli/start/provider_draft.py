"""A provider's file in the making: tried, linted, and mended until nothing is wrong with it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pacas.cli.options import Tell
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.words import counted
from pacas.engine.contract import Engine
from pacas.engine.hierarchy_files import write_hierarchy
from pacas.errors import InputError
from pacas.formats.provider.make_provider import make_provider
from pacas.formats.provider.provider_file import read_provider_file
from pacas.formats.starters.file_names import file_names
from pacas.formats.starters.lines import StarterLine
from pacas.formats.starters.provider_starter import FOLDER, ProviderStarter, csv_text
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.lint.finding import ProviderFinding
from pacas.provider.lint.lint import lint_provider
from pacas.suggest.coded_table import CodedTable

NAMED = ("-> {}:", "'{}'", "hierarchies.{}:", "match.{}:")
"""How an error names an attribute."""
ROUNDS = 100
"""How often a draft is mended."""
MOST_PAIRS = 10_000
"""Lines of a dictionary: what has more cannot be published as one."""
REASONS = 3
"""Columns that are named where nothing can be sold."""
LINTED = 20_000
"""Rows that are looked at while drafts are mended."""


@dataclass(frozen=True)
class ProviderDraft:
    """A file, its hierarchies and its dictionaries."""

    starter: ProviderStarter
    trees: Mapping[str, Hierarchy]
    table: CodedTable

    def mended(self, data: str, engine: Engine[Any], tell: Tell) -> ProviderDraft:
        """The draft without what would not load, without errors of the linter's, and without what tells a secret."""
        draft = self
        for _ in range(ROUNDS):
            if not draft.starter.sold:
                break
            tell(f"trying to sell {', '.join(line.attribute for line in draft.starter.sold)}")
            better = draft._mended_once(data, engine)
            if better is draft:
                return draft
            draft = better
        raise InputError(f"{self.starter.table}: nothing in it can be sold as it is; {_why(draft)}")

    def _mended_once(self, data: str, engine: Engine[Any]) -> ProviderDraft:
        try:
            findings = self._lint(data, engine)
        except InputError as error:
            return self._without(self._named_in(str(error)), f"it would not load: {error}")
        errors = [finding for finding in findings if finding.severity == "error"]
        telling = [finding for finding in findings if finding.rule == "told-by"]
        draft = self
        for finding in errors or telling[:1]:  # of two that tell each other one may stay
            draft = draft._mended_by(finding)
        return draft

    def _lint(self, data: str, engine: Engine[Any]) -> list[ProviderFinding]:
        """What the linter says of the file, as it would be, in a folder of its own."""
        with TemporaryDirectory(prefix="pacas-") as folder:
            place = Path(folder) / "provider.toml"
            here = replace(self.starter, data=[StarterLine.key("data", data), *self.starter.data[1:]])
            for path, content in replace(self, starter=here).files(place).items():
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content)
            file = read_provider_file(place)
            provider = make_provider(file, engine, MemoryLedger, [], lambda what: None)
            relation = file.scan_relations(engine)["relation"]
            files = {line.attribute: line.file for line in self.starter.sold}
            return lint_provider(provider, engine, relation, files=files, most=LINTED)

    def _mended_by(self, finding: ProviderFinding) -> ProviderDraft:
        """Declare what can be declared; else leave out what tells too much, or cannot be sold."""
        try:
            remedy = tomllib.loads(finding.remedy)
        except tomllib.TOMLDecodeError:  # a command
            remedy = {}
        for section in remedy.get("dependency", []):
            (fd,) = FunctionalDependency.parse(section["fd"])
            declared = self._with_declared(fd, "dictionary" in section)
            if declared is not None:
                return declared
        without = finding.remedy.partition("# without ")[2].strip()
        return self._without(without or finding.attribute, finding.says)

    def _with_declared(self, fd: FunctionalDependency, needs_pairs: bool) -> ProviderDraft | None:
        """With a dependency declared, and the pairs that there are; None if that does not help."""
        starter = self.starter
        if fd in starter.declared or (needs_pairs and len(_tuples(self.table, fd.attributes)) > MOST_PAIRS):
            return None
        names = file_names([*map(str, starter.declared), str(fd)], Path(FOLDER))
        declared = {**starter.declared, fd: names[str(fd)].as_posix() if needs_pairs else None}
        return replace(self, starter=replace(starter, declared=declared))

    def _without(self, attribute: str, why: str) -> ProviderDraft:
        starter = self.starter
        left = [line for line in starter.sold if line.attribute != attribute]
        if len(left) == len(starter.sold):  # it is about nothing that is sold: the last one goes
            left, attribute = left[:-1], left[-1].attribute
        kept = {fd: file for fd, file in starter.declared.items() if attribute not in fd.attributes}
        unsold = {**starter.unsold, attribute: why}
        return replace(self, starter=replace(starter, sold=left, declared=kept, unsold=unsold))

    def _named_in(self, message: str) -> str:
        """The sold attribute that an error is about."""
        sold = sorted((line.attribute for line in self.starter.sold), key=len, reverse=True)
        told = (name for name in sold if any(form.format(name) in message for form in NAMED))
        return next(told, self.starter.sold[-1].attribute)

    def files(self, output: Path) -> dict[Path, bytes]:
        """All that is written: the file itself last, so that what it names is there."""
        files = {
            output.parent / line.file: _hierarchy_bytes(self.trees[line.attribute], line.file)
            for line in self.starter.sold
        }
        for fd, name in self.starter.declared.items():
            if name is not None:
                files[output.parent / name] = csv_text(fd.attributes, _tuples(self.table, fd.attributes)).encode()
        return {**files, output: self.starter.text().encode()}


def _why(draft: ProviderDraft) -> str:
    """The reasons of the first columns, and how many have others."""
    reasons = [f"{name}: {why}" for name, why in draft.starter.unsold.items()]
    more = [f"and {counted(len(reasons) - REASONS, 'other column')}"] if len(reasons) > REASONS else []
    return "; ".join([*reasons[:REASONS], *more]) or "no columns tell another"


def _hierarchy_bytes(tree: Hierarchy, name: str) -> bytes:
    with TemporaryDirectory(prefix="pacas-") as folder:
        file = Path(folder) / Path(name).name
        write_hierarchy(tree, file)
        return file.read_bytes()


def _tuples(table: CodedTable, attributes: Sequence[str]) -> list[tuple[str, ...]]:
    """The combinations of values that occur, each once."""
    codes = np.unique(np.stack([table[name].codes for name in attributes]), axis=1)
    codes = codes[:, (codes >= 0).all(axis=0)]
    return list(
        zip(
            *([table[name].values[code] for code in row] for name, row in zip(attributes, codes.tolist(), strict=True)),
            strict=True,
        )
    )
