"""A member of a circle: before each sale it asks the clearing house what others have sold of the same person.

The order is: read, judge (what others have sold counts like sales of its own), reserve, own ledger, answer. Who
reserves on an older version than the house has is told so, and reads again: of two members that sell at once, one sees
the other. A crash after reserving leaves a line without a sale, and others then sell less than they might: it errs on
the safe side.
"""

from __future__ import annotations

from collections.abc import Mapping

from pacas.errors import HouseError, InputError
from pacas.protocol.circle import CircleLine, CircleLines, House, check_secret, circle_digest, circle_key
from pacas.protocol.messages import Reason, Refusal, Request
from pacas.protocol.names import check_name
from pacas.provider.quoter.public_view import Reserve
from pacas.provider.terms import HistoryScope, Terms

TRIES = 50
"""How often a sale is judged anew because others have sold of the same person meanwhile."""
ELSEWHERE = "other members of the circle"
"""The buyer that their sales count for, which no buyer here may be called."""


class Circle:
    """A provider's place in a circle."""

    def __init__(self, house: House, member: str, secret: bytes) -> None:
        check_name(member, "a member")
        check_secret(secret)
        self.house, self.member, self._secret = house, member, secret
        self._terms: Terms | None = None
        self._heard: dict[str, set[CircleLine]] = {}

    def __repr__(self) -> str:
        return f"Circle({self.member!r})"

    @property
    def digest(self) -> str:
        """What the ledger remembers: all its sales were made in this circle."""
        return circle_digest(self._secret, self.member)

    def join(self, terms: Terms) -> None:
        """Take part on these terms; an InputError where lines would not say enough."""
        if problem := _unfit(terms):
            raise InputError(f"the circle's house: {problem}")
        self._terms = terms

    def forget(self) -> None:
        """Nothing is known of others' sales: they are heard again."""
        self._heard.clear()

    def read(self, request: Request) -> tuple[CircleLines, list[Request]] | Refusal:
        """The house's lines about whom a request is for, and those sales of others that are news here.

        Where something was sold of a protected attribute that is not for sale here, nobody can judge: it is refused.
        """
        assert self._terms is not None
        key = self._key(request)
        lines = self.house.read(key)
        known = self._heard.setdefault(key, set())
        news: list[Request] = []
        for line in lines.lines:
            if line.member == self.member or line in known:
                continue
            if line.attribute not in self._terms.match:
                if line.attribute in self._terms.protected:
                    return Refusal(Reason.UNSAFE)
                continue
            height = self._terms.hierarchies[line.attribute].height
            if line.level == height:  # the root tells nothing
                continue
            if not 0 <= line.level < height:
                return Refusal(Reason.UNSAFE)
            news.append(Request(self._named(request, line.attribute), line.attribute, line.level))
        known.update(lines.lines)
        return lines, news

    def reserve(self, request: Request, lines: CircleLines) -> bool:
        """Say that a request is about to be sold; False, if the house has other lines by now."""
        line = CircleLine(request.attribute, request.level, self.member)
        return self.house.reserve(self._key(request), lines.version, line)

    def too_busy(self) -> HouseError:
        return HouseError("other members sell of the same person all the time; try again, and nothing was sold")

    def _key(self, request: Request) -> str:
        return circle_key(self._secret, self._person(request))

    def _person(self, request: Request) -> Mapping[str, str]:
        assert self._terms is not None
        clauses = self._terms.match[request.attribute].clauses
        return {clause.provider: request.tuple[clause.client] or "" for clause in clauses}

    def _named(self, request: Request, attribute: str) -> dict[str, str | None]:
        """The tuple that finds the same person for another attribute."""
        assert self._terms is not None
        person = self._person(request)
        return {clause.client: person[clause.provider] for clause in self._terms.match[attribute].clauses}


def _unfit(terms: Terms) -> str | None:
    """Why sales cannot be told in lines of attributes and levels, or judged by them."""
    if terms.history is not HistoryScope.POOLED:
        return 'what others have sold counts for all buyers; leave out history = "per_buyer"'
    if terms.sealing is not None and terms.policies and terms.sealing.reserve is not Reserve.LAST:
        return 'with reserve = "fixed" each member would keep back others; say reserve = "last" in [pricing]'
    without = [attribute for attribute in terms.match if attribute not in terms.common_trees]
    if without:
        return f"levels mean the same to all members by common trees; name that of {', '.join(without)} in trees"
    if len({frozenset(dependency.provider_columns) for dependency in terms.match.values()}) > 1:
        return "attributes are found by different columns, so that one person would have several keys; match all alike"
    found_by = {column for dependency in terms.match.values() for column in dependency.provider_columns}
    for declared in terms.dependencies:
        if not found_by <= set(declared.fd.lhs):
            return (
                f"by {declared.fd} what is sold of one tells of others, and a line is about one; leave out one of both"
            )
    return None
