"""Running a cleaning: watched in the terminal, with a journal beside the output, or dry."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from pacas.cli.clean.job import Job
from pacas.cli.market.named_panel import OpenedMarkets
from pacas.cli.market.would_match import Found
from pacas.cli.options import printable
from pacas.client.buying.offers import LacksColumn, find_offers, said_in_columns, unknown_labels
from pacas.client.buying.own_names import in_own_names
from pacas.client.buying.panel import FAILURES
from pacas.client.buying.respelling import Respelled, Tuple, respelled
from pacas.client.buying.sellers import Markets, meant
from pacas.client.classes.check import Tell
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.edits import edited
from pacas.client.outcome.steps import Observer, Progress, Relaying
from pacas.core.money import credits_words
from pacas.core.words import counted
from pacas.engine.contract import Engine
from pacas.errors import KeyReusedError, PacasError, ReplayError
from pacas.formats.journal.journal import Journal
from pacas.formats.journal.run_parts import offers_digests, run_parts
from pacas.formats.relations.cleaned import write_cleaned
from pacas.protocol.marketplace import Marketplace, why_away
from pacas.protocol.messages import Offer, Reason, refused
from pacas.suggest.mapping.column_mapping import map_names

LOOKED_AT = 1000
"""Rows that find nothing, of which it is asked whether they would in another spelling."""
NOBODY = refused(Reason.NO_MATCH)
SECONDS = 0.1
"""How often the terminal is told of the progress."""


def notes(job: Job, client: str, marketplace: Markets, resume: bool) -> Iterator[str]:
    """What the buyer should know before anything is bought, a line each."""
    yield from job.remarks
    if resume and not job.journal.exists():
        yield f"there is no journal {job.journal} to continue; this is a new run"
    cleaner = job.cleaner
    if not cleaner.fds and not cleaner.cells:
        yield (
            f"nothing to clean: no dependency is turned on in {client}; take the # from one that is there and that you "
            'know to be true, write one, such as "zip -> city", or name cells with --cells'
        )
    if isinstance(marketplace, Mapping):
        for name, market in marketplace.items():
            yield from (printable(f"{name}: {line}") for line in _near_names(job, market))
    else:
        yield from _offer_notes(job, marketplace)


def _near_names(job: Job, market: Marketplace) -> Iterator[str]:
    """Which columns one of several may call otherwise. What it cannot be bought from for is said later."""
    cleaner, own = job.cleaner, job.source.columns
    with suppress(*FAILURES):
        catalogue = in_own_names(market, meant(cleaner.columns, market.catalogue())).catalogue()
        found_by = dict.fromkeys(
            c for a in cleaner.wanted(catalogue, job.source) & {*catalogue} for c in catalogue[a].columns
        )
        for pair in map_names([c for c in own if c not in cleaner.columns], [c for c in found_by if c not in own]):
            yield f"if its {pair.provider!r} is your {pair.client!r}, {said_in_columns(pair.client, pair.provider)}"
        yield from _sold_otherwise(job, catalogue)


def _sold_otherwise(job: Job, catalogue: Mapping[str, Offer]) -> Iterator[str]:
    """What is wanted, and may be for sale by another name."""
    unsold = sorted(job.cleaner.wanted(catalogue, job.source) - catalogue.keys())
    for pair in map_names(unsold, [a for a in catalogue if a not in job.source.columns]):
        how = said_in_columns(pair.client, pair.provider)
        yield printable(f"{pair.client!r} is not for sale; if that is the provider's {pair.provider!r}, {how}")


def _offer_notes(job: Job, marketplace: Marketplace) -> Iterator[str]:
    cleaner = job.cleaner
    catalogue = cleaner.catalogue(marketplace)
    wanted = cleaner.wanted(catalogue, job.source)
    try:
        offers = find_offers(catalogue, wanted, job.source, cleaner.max_level, cleaner.prefer)
    except LacksColumn as lack:
        near = map_names([c for c in job.source.columns if c not in cleaner.columns], [lack.column])
        raise lack.with_near(near[0].client) if near else lack from None
    yield from _sold_otherwise(job, catalogue)
    for attribute, offered in offers.items():
        own = cleaner.hierarchies.get(attribute)
        unknown, labels = (0, 0) if own is None else unknown_labels(own, offered)
        if unknown:
            yield (
                f"your hierarchy of {printable(attribute)} lacks {unknown:,} of the provider's "
                f"{counted(labels, 'value')} that may be bought; where one of them is bought, no value of yours fits it"
            )


def unmatched(job: Job, marketplace: Markets, cleaning: Cleaning, engine: Engine[Any]) -> Found:
    """What other spellings would find of the tuples that find nothing, at each provider that finds nothing by them."""
    found: dict[tuple[str | None, str], Respelled] = {}
    markets = marketplace if isinstance(marketplace, Mapping) else {None: marketplace}
    for who, one in markets.items():
        if why_away(one) is not None:
            continue
        with suppress(*FAILURES):  # a hint; what was done is done
            columns = job.cleaner.columns if who is None else meant(job.cleaner.columns, one.catalogue())
            market = in_own_names(one, columns)
            for attribute, offer in market.catalogue().items():
                tuples = _unfound(job, market, offer, cleaning, engine)
                if (other := respelled(market, offer, tuples)) is not None:
                    found[who, attribute] = other
    return found


def _unfound(job: Job, market: Marketplace, offer: Offer, cleaning: Cleaning, engine: Engine[Any]) -> list[Tuple]:
    """Tuples of what stays as it is, by which this provider finds nobody. Of several, another may have said why not."""
    reasons = {Reason.NO_MATCH.value} if cleaning.panel is None else {reason.value for reason in Reason}
    left = [u.rows for u in cleaning.unrepaired if u.attribute == offer.attribute and u.reason in reasons]
    if not left or not {*offer.columns} <= {*job.source.columns}:
        return []
    rows = engine.rows(engine.open(job.source, offer.columns), np.concatenate(left)[:LOOKED_AT], offer.columns)
    if cleaning.panel is None:
        return list(rows.to_pylist())
    finest = market.quote_batch(offer.attribute, rows.to_pydict()).prices[:, 0]
    return [one for one, price in zip(rows.to_pylist(), finest.tolist(), strict=True) if price == NOBODY]


def credit_words(buyer: str, credit: int, budget: int) -> str:
    """What an account may still spend, before anything is bought."""
    short = f", and the budget is {credits_words(budget)}; what is more is refused (credit_used_up)"
    return f"{printable(buyer)} may spend {credits_words(credit)} more{short if credit < budget else ''}"


def run_dry(job: Job, marketplace: Markets, market: OpenedMarkets, engine: Engine[Any], tell: Tell) -> Cleaning:
    """Say what a cleaning would buy: nothing is paid, and nothing is written."""
    watched = Watched(Observer(), tell)
    return job.cleaner.clean(job.source, marketplace, observer=watched, engine=engine, dry_run=True, away=market.late)


def run_clean(job: Job, market: OpenedMarkets, resume: bool, engine: Engine[Any], tell: Tell) -> tuple[Cleaning, bool]:
    """Clean, write the output, and close the journal; and whether an earlier run had done all that."""
    offers = offers_digests(job.cleaner, market.markets)
    parts = run_parts(engine.digest(job.source), job.cleaner, job.choices, offers, market.buyer)
    published = market.published()
    journal = Journal(job.journal, parts, resume=resume, catalogues=published, accounts=market.accounts)
    with _never_losing(journal):
        watched = Watched(journal, tell)
        cleaning = job.cleaner.clean(
            job.source, market.markets, run=journal.run, observer=watched, engine=engine, away=market.late
        )
        cleaning = edited(cleaning, journal.edits).with_count()
        tell(f"writing {job.output.name}")
        if remark := write_cleaned(cleaning, job.output):
            print(f"pacas: {remark}", file=sys.stderr)
        journal.finish(len(cleaning.purchases), cleaning.spent_nanocredits)
    return cleaning, journal.is_done


@contextmanager
def _never_losing(journal: Journal) -> Iterator[None]:
    """Say how to go on after a fault, if anything may have been paid; if not, leave no journal behind."""
    try:
        yield
    except BaseException as error:
        journal.close()
        if not journal.ordered:
            journal.discard()
            raise
        match error:
            case KeyboardInterrupt():
                raise KeyboardInterrupt(_kept(journal.path)) from None
            case ReplayError() | KeyReusedError():
                raise PacasError(f"{error}; {_lost(journal.path)}") from None
            case PacasError():
                raise PacasError(f"{error}; {_kept(journal.path)}") from None
            case OSError():
                refused = error.strerror or type(error).__name__
                raise PacasError(f"the system refused: {refused}; {_kept(journal.path)}") from None
        raise


@contextmanager
def continuable() -> Iterator[None]:
    """Say how to go on after Ctrl-C, once the progress is off the terminal."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        for how in interrupt.args:
            print(f"pacas: {how}", file=sys.stderr)
        raise


def _kept(journal: Path) -> str:
    return f"what was bought is in {journal}: continue with --resume"


def _lost(journal: Path) -> str:
    """The journal cannot be continued: it lacks what was ordered, or is not of what stands here now."""
    return f"remove {journal} and begin anew: what was bought costs this buyer nothing again"


class Watched(Relaying):
    """Passes everything on to another observer, and shows how far the cleaning has come."""

    def __init__(self, observer: Observer, tell: Tell) -> None:
        super().__init__(observer)
        self._tell = tell
        self._next = 0.0

    def progressed(self, progress: Progress) -> None:
        super().progressed(progress)
        now = time.monotonic()
        if now >= self._next:
            self._next = now + SECONDS
            self._tell(described(progress))


def described(progress: Progress) -> str:
    """How far a cleaning has come, in a line."""
    if progress.expected is not None:
        return (
            f"{counted(progress.done, 'question')} asked, {credits_words(progress.spent)} spent, "
            f"an error of {progress.expected:,.1f} expected"
        )
    rounds = f"round {progress.round}: " if progress.round > 1 else ""
    return (
        f"{rounds}{progress.done:,} of {counted(progress.classes, 'class', 'classes')}, "
        f"{credits_words(progress.spent)} spent, {counted(progress.violations, 'violation')} left"
    )
