"""`queries`: which row a client's cells are about.

Where refusals say why, a tuple that finds nothing has no candidate, and one that finds more than can be answered from
is no certain match. Where they do not, every tuple is a candidate, found or not: what `queries` told besides would be
told for free.

A query that lacks columns finds nobody, and OpenRefine shows no error, nor anything else than candidates. So its one
candidate, which is no match, is called as what is lacking. Its score is that of a match: the facet of scores that
OpenRefine adds keeps its range, and would hide the matches when it is done again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic_core import to_json

from pacas.protocol.messages import Reason, refused
from pacas.provider.ledger.accounts import Account
from pacas.server.reconcile.asked import AskedRow
from pacas.server.reconcile.row_ids import RowIds
from pacas.server.reconcile.row_types import ColumnNames, RowType, row_types, types_of
from pacas.server.service import Service
from pacas.server.thread_pools import Parts
from pacas.server.trading.answer_writers import padded

Tried = tuple[RowType, dict[str, str], str]
"""A tuple, the type it is of, and what its candidate is called: as the cell, for OpenRefine writes it there."""
SURE = 100
"""The score of a match."""
PART = 100
"""Results after which others may come in between."""
_NOT_FOUND = (refused(Reason.NO_MATCH), refused(Reason.AMBIGUOUS))


class Candidates:
    """Answers batches of queries."""

    def __init__(self, service: Service, ids: RowIds) -> None:
        self._service, self._ids = service, ids
        self.types = row_types(service.provider.catalogue())
        self._names = ColumnNames(self.types)

    def answer(self, asked: Mapping[str, AskedRow], account: Account, size: int) -> Parts[bytes]:
        """A result for each query of a body of so many bytes."""
        tried = {key: self._tried(row) for key, row in asked.items()}
        every = [one for some in tried.values() for one in some]
        self._service.limit.take(account, sum(len(type_.attributes) for type_, _, _ in every), size)
        found = iter((yield from self._found(every, account.name)))
        told: list[bytes] = []
        for key, some in tried.items():
            if len(told) % PART == PART - 1:
                yield
            result = self._result([(one, next(found)) for one in some]) if some else self._hint(asked[key])
            told.append(b"%b:%b" % (to_json(key), result))
        return b"{%b}" % b",".join(told)

    def _tried(self, asked: AskedRow) -> list[Tried]:
        asked = replace(asked, given=self._names.of(asked.given))
        pairs = ((type_, type_.row(asked)) for type_ in types_of(asked, self.types))
        whole = [(type_, row) for type_, row in pairs if len(row) == len(type_.columns)]
        return [(type_, row, asked.text or _text(row)) for type_, row in whole][: asked.limit]

    def _hint(self, asked: AskedRow) -> bytes:
        """What a query lacks that is about no row: a column, or a type."""
        asked = replace(asked, given=self._names.of(asked.given))
        types = types_of(asked, self.types)
        if asked.limit == 0:
            return _document([])
        if types:
            row = types[0].row(asked)
            lacking = [column for column in types[0].columns if column not in row]
            one = len(lacking) == 1
            said = f"{' and '.join(lacking)} {'is' if one else 'are'} missing in this row: "
            name = said + (
                f"send that column along as property {lacking[0]}" if one else "send them along as properties"
            )
        else:
            row, name = {}, f"choose a type to reconcile against, such as {self.types[0].id}"
        return _document([_candidate(self._ids.of(row), name, name, types[:1], False, SURE)])

    def _found(self, tried: list[Tried], buyer: str) -> Parts[list[bool | None]]:
        """Of each tuple: whether it finds rows that can be answered from; None, if it finds none at all."""
        if not self._service.reasons:
            return [True] * len(tried)
        found: list[bool | None] = [None] * len(tried)
        by_type: dict[RowType, list[int]] = {}
        for i, (type_, _, _) in enumerate(tried):
            by_type.setdefault(type_, []).append(i)
        for type_, places in by_type.items():
            columns = {column: [tried[i][1][column] for i in places] for column in type_.columns}
            for attribute in type_.attributes:
                ladders = yield from self._service.quoting.ladders(attribute, columns, len(places), buyer)
                below_root = max(0, ladders.shape[1] - 2)
                for i, price in zip(places, ladders[:, below_root].tolist(), strict=True):
                    if price != _NOT_FOUND[0]:
                        found[i] = bool(found[i]) or price not in _NOT_FOUND
        return found

    def _result(self, rows: list[tuple[Tried, bool | None]]) -> bytes:
        """The candidates of one query; at sealed quotes as long as if all were found."""
        every = [self._candidate(tried, bool(is_sure)) for tried, is_sure in rows]
        told = [one for one, (_, is_sure) in zip(every, rows, strict=True) if is_sure is not None]
        length = len(_document(every)) if self._service.widest is not None else 0
        return padded(_document(told), length)

    def _candidate(self, tried: Tried, is_sure: bool) -> bytes:
        type_, row, name = tried
        return _candidate(
            self._ids.of(row), name, _text(row), [type_], is_sure, SURE if is_sure else 50
        )  # of one length


def _candidate(id_: str, name: str, text: str, types: Sequence[RowType], is_sure: bool, score: int) -> bytes:
    told = {"id": id_, "name": name, "description": text, "type": [one.as_json() for one in types]}
    return to_json({**told, "score": score, "match": is_sure})


def _text(row: Mapping[str, str]) -> str:
    return ", ".join(f"{column} {value}" for column, value in row.items())


def _document(candidates: list[bytes]) -> bytes:
    return b'{"result":[%b]}' % b",".join(candidates)
