"""An account's tab: what it has bought by the list, and on which rates, the provider's own or ones it has agreed to.

Terms that are agreed to begin at the list credits W of that moment and end at a time. What is bought in such a *period*
costs f(W) − f(W at its start), f being its schedule; all periods together are rounded up once. So with the same terms
on offer to all of them, several accounts never pay less than one: f is concave, so what one of them buys costs at least
what it would above all that the others have bought; and whole numbers that are together no less than a sum are no less
than the sum rounded up.

What is prepaid is the least that a period costs: who buys for less has paid it anyway. It changes no price.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from pacas.core.rates.schedule import WHOLE, Schedule


@dataclass(frozen=True, slots=True)
class AgreedTerms:
    """What a provider has offered to one account, and it has accepted. Money in nanocredits."""

    schedule: Schedule
    prepaid: int
    """The least that is paid."""
    until: int | None
    """When they end, in seconds since 1970; None where nobody tells the time."""

    def have_ended(self, time: int | None) -> bool:
        return self.until is not None and time is not None and self.until <= time


class Period(NamedTuple):
    """Purchases on the same rates: from which list credits to which."""

    agreed: AgreedTerms | None = None
    """None: the provider's own rates."""
    start: int = 0
    end: int = 0

    def worth(self, standing: Schedule, end: int | None = None) -> int:
        """What it costs, in parts of a nanocredit, exactly."""
        return self.rates(standing).worth(self.start, self.end if end is None else end)

    def rates(self, standing: Schedule) -> Schedule:
        return standing if self.agreed is None else self.agreed.schedule

    def unused(self, standing: Schedule) -> int:
        """What is prepaid and not used, in parts of a nanocredit, exactly."""
        return 0 if self.agreed is None else max(0, self.agreed.prepaid * WHOLE - self.worth(standing))


class Tab(NamedTuple):
    """The periods of an account, in order. `standing` are the rates of everybody who has no terms of its own.

    >>> tab = Tab().bought(10, None).agree(AgreedTerms(Schedule.of([[0, 50]]), 30, until=99), 5)
    >>> tab.charge(Schedule(), 7), tab.listed, tab.unused(Schedule()), tab.at(99).charge(Schedule(), 7)
    (4, 10, 30, 7)
    """

    now: Period = Period()
    before: tuple[Period, ...] = ()

    @property
    def listed(self) -> int:
        """W: what all purchases cost together by the list."""
        return self.now.end

    @property
    def agreed(self) -> AgreedTerms | None:
        """The terms that it buys on; None: those of everybody."""
        return self.now.agreed

    @property
    def has_terms(self) -> bool:
        """Has it ever accepted any?"""
        return bool(self.before)

    def schedule(self, standing: Schedule) -> Schedule:
        """Its rates."""
        return self.now.rates(standing)

    def due(self, standing: Schedule, listed: int | None = None) -> int:
        """What all purchases must have cost together, if they come to so many list credits."""
        if not self.before and standing.is_flat:
            return self.listed if listed is None else listed
        return _up(sum(period.worth(standing) for period in self.before) + self.now.worth(standing, listed))

    def charge(self, standing: Schedule, price: int) -> int:
        """What a purchase of this list price costs: f(W + p) − f(W), so that the sum is rounded once."""
        return self.due(standing, self.listed + price) - self.due(standing)

    def bill(self, standing: Schedule) -> int:
        """What is paid in all: for purchases, or what is prepaid where that is more."""
        if not self.before:
            return self.due(standing)
        return _up(sum(period.worth(standing) + period.unused(standing) for period in (*self.before, self.now)))

    def unused(self, standing: Schedule) -> int:
        """What is prepaid by the terms of now and not used."""
        lost = sum(period.unused(standing) for period in self.before)
        worth = sum(period.worth(standing) for period in (*self.before, self.now))
        return self.bill(standing) - _up(worth + lost)

    def at(self, time: int | None) -> Tab:
        """The tab at a time: terms that have ended are those of everybody again."""
        agreed = self.now.agreed
        return self._next(None) if agreed is not None and agreed.have_ended(time) else self

    def agree(self, terms: AgreedTerms, time: int | None) -> Tab:
        """The tab with other terms from now on."""
        return self.at(time)._next(terms)

    def bought(self, list_price: int, time: int | None) -> Tab:
        """The tab after one more purchase."""
        tab = self.at(time)
        return Tab(Period(tab.now.agreed, tab.now.start, tab.now.end + list_price), tab.before)

    def _next(self, terms: AgreedTerms | None) -> Tab:
        return Tab(Period(terms, self.now.end, self.now.end), (*self.before, self.now))


def _up(worth: int) -> int:
    return -(-worth // WHOLE)


def plain_tab(tab: Tab) -> list[Any]:
    """A tab in values that JSON has: what `tab_of` reads.

    >>> plain_tab(Tab().bought(10, None))
    [[None, 0, 10]]
    """
    return [[_plain_terms(period.agreed), period.start, period.end] for period in (*tab.before, tab.now)]


def tab_of(plain: list[Any]) -> Tab:
    """The tab that was written so.

    >>> tab = Tab().agree(AgreedTerms(Schedule.of([[0, 50]]), 30, until=99), 5).bought(7, 6)
    >>> tab_of(plain_tab(tab)) == tab
    True
    """
    *before, now = (Period(_terms_of(agreed), start, end) for agreed, start, end in plain)
    return Tab(now, tuple(before))


def _plain_terms(agreed: AgreedTerms | None) -> list[Any] | None:
    return None if agreed is None else [agreed.schedule.pairs(), agreed.prepaid, agreed.until]


def _terms_of(plain: list[Any] | None) -> AgreedTerms | None:
    return None if plain is None else AgreedTerms(Schedule.of_pairs(plain[0]), *plain[1:])
