"""What the parts of a report show: counts, money, levels, what is left, what was weighed, the score."""

from __future__ import annotations

from collections import Counter

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.hindsight import Hindsight
from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.panel_summary import PanelSummary
from pacas.client.outcome.score import AttributeScore, Score, shares
from pacas.client.outcome.steps import (
    AWAY,
    BROKE_ITS_WORD,
    BUDGET_SPENT,
    CREDIT_USED_UP,
    IN_DOUBT,
    NOT_SOLD,
    NOT_WORTH_IT,
    NOT_YET,
    PINNED,
    REJECTED,
    SOLD_BEFORE,
    TOO_EXPENSIVE,
    UNDONE,
)
from pacas.core.hierarchy import Hierarchy
from pacas.core.money import credits_text, credits_words, nanocredits, rounded_text
from pacas.core.words import counted
from pacas.formats.report.curves import spending_curve
from pacas.pages.pieces import Bar, Card
from pacas.protocol.messages import ABSENT, MAX_MATCHES, Reason

REASONS = {
    NOT_SOLD: "nobody offers the attribute",
    TOO_EXPENSIVE: "there were quotes, and none was within the class's share of the budget",
    MAX_MATCHES: "more of the provider's rows are like its tuples than are ever answered from",
    CREDIT_USED_UP: "the provider's credit for this buyer is used up, whatever the budget",
    AWAY: "the provider that was asked could not be reached",
    BROKE_ITS_WORD: "the provider charged another price than it had quoted, or answered with what it does not sell",
    SOLD_BEFORE: "the provider has sold something else under the order's key: the journal is an older copy",
    BUDGET_SPENT: "the money was gone before its turn came",
    IN_DOUBT: "what was bought did not settle it: its rows may not belong together",
    NOT_WORTH_IT: "own evidence did not suffice, and no answer was expected to remove enough error",
    NOT_YET: "nobody has decided yet on what would be bought for it",
    REJECTED: "somebody looked at the order, and had it not paid",
    PINNED: "somebody wrote a value by hand instead",
    UNDONE: "somebody looked at the repair, and put back what was given",
    ABSENT: "the provider says, for money, that the person is not in its table",
    Reason.NO_MATCH.value: "the provider has no row for any tuple of the class",
    Reason.AMBIGUOUS.value: "the provider's rows for its tuples say more than one thing",
    Reason.UNSAFE.value: "an answer would have broken the provider's privacy policy",
    Reason.CEILING.value: "it had become dearer than it was quoted",
    Reason.REFUSED.value: "the provider refused, and keeps its reasons to itself",
}

Row = tuple[object, ...]

MOST_DOUBTFUL = 100
"""Of the doubtful cells, those that the page shows."""


def sections(cleaning: Cleaning, score: Score | None, hindsight: Hindsight | None = None) -> dict[str, object]:
    """All that the template asks for; `score` and `hindsight` are against the truth."""
    return {
        "cards": _counts(cleaning),
        "curve": spending_curve(cleaning, hindsight),
        "levels": _levels(cleaning),
        "weighed": None if cleaning.weighing is None else _weighed(cleaning.weighing, hindsight),
        "money": _money(cleaning),
        "providers": None if cleaning.panel is None else _providers(cleaning, cleaning.panel),
        "unrepaired": _unrepaired(cleaning),
        "score": None if score is None else _score(score),
    }


def _counts(cleaning: Cleaning) -> tuple[Card, ...]:
    left = sum(len(u.rows) for u in cleaning.unrepaired)
    before = f"pairs of rows; {cleaning.violations_before:,} before"
    return (
        Card("Violations after", f"{cleaning.violations_after:,}", before),
        Card("Spent", *_money_card(cleaning)),
        *(_repair_cards(cleaning) if cleaning.weighing is None else _weighed_cards(cleaning, cleaning.weighing)),
        Card("Classes unrepaired", f"{len(cleaning.unrepaired):,}", counted(left, "cell")),
    )


def _repair_cards(cleaning: Cleaning) -> tuple[Card, ...]:
    flagged = cleaning.flagged
    whose = "a cell" if flagged == 1 else "cells"
    repaired = f"{counted(len(cleaning.repairs), 'class', 'classes')} repaired"
    return (
        Card("Purchases", f"{len(cleaning.purchases):,}", f"in {counted(cleaning.rounds, 'round')}"),
        Card("Cells written", f"{cleaning.written:,}", repaired),
        Card("To be looked at", f"{flagged:,}", f"{whose} whose class or value is doubtful", flagged > 0),
    )


def _weighed_cards(cleaning: Cleaning, judgement: Judgement) -> tuple[Card, ...]:
    doubtful = len(judgement.doubtful)
    return (
        Card("Purchases", f"{len(cleaning.purchases):,}", f"{counted(judgement.paid, 'cell')} written by them"),
        Card("Cells written", f"{cleaning.written:,}", f"{judgement.free:,} of them by own evidence, for nothing"),
        Card("Doubtful cells", f"{doubtful:,}", f"{judgement.doubtful_written:,} of them written", doubtful > 0),
    )


def _money_card(cleaning: Cleaning) -> tuple[str, str]:
    """What was spent; where it had to be rounded, the note has all decimals."""
    spent, exact = rounded_text(cleaning.spent_nanocredits), credits_text(cleaning.spent_nanocredits)
    note = f"of {credits_words(cleaning.budget_nanocredits)}"
    return spent, note if nanocredits(exact) == nanocredits(spent.replace(",", "")) else f"{note}; exactly {exact}"


def _money(cleaning: Cleaning) -> list[Row]:
    """Purchases, cells and money by attribute and level of the value bought."""
    prices, bought, written = Counter[tuple[str, int]](), Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for purchase in cleaning.purchases:
        prices[purchase.attribute, purchase.level] += purchase.price
        bought[purchase.attribute, purchase.level] += 1
    for repair in cleaning.repairs:
        if repair.purchases:
            written[repair.attribute, repair.purchases[-1].level] += len(repair.written)
    total = cleaning.spent_nanocredits or 1
    return [
        (a, level, bought[a, level], written[a, level], rounded_text(prices[a, level]), Bar(prices[a, level] / total))
        for a, level in sorted(bought)
    ]


def _providers(cleaning: Cleaning, panel: PanelSummary) -> list[Row]:
    """What each of several providers sold, and how often it is right, as learnt."""
    total = cleaning.spent_nanocredits or 1
    rows: list[Row] = []
    for name in panel.names:
        sold = sum(purchase.provider == name for purchase in cleaning.purchases)
        rates = ", ".join(f"{a} {found[name]:.0%}" for a, found in panel.reliabilities.items() if name in found)
        paid, away = panel.paid.get(name, 0), panel.away.get(name, "")
        rows.append((name, sold, rounded_text(paid), Bar(paid / total), rates, away))
    return rows


def _weighed(judgement: Judgement, hindsight: Hindsight | None) -> dict[str, object]:
    """What was believed about the table, what a vote alone would have done, and the cells to look at first."""
    told = (
        f"{counted(judgement.free, 'cell')} written by own evidence, {judgement.paid:,} by what was bought. "
        f"A free vote alone would have changed {counted(judgement.voted, 'cell')}"
    )
    if hindsight is not None and (voted := hindsight.vote.total).counts is not None:
        f1 = voted.counts.f1
        told += f": repair error {voted.repair_error:,.3f}, F1 {'–' if f1 is None else f'{f1:.3f}'}"
    doubtful = [
        (c.row, c.attribute, c.value, c.guess, f"{c.sure:.0%}", "yes" if c.written else "no")
        for c in judgement.doubtful[:MOST_DOUBTFUL]
    ]
    rates = [
        (str(r.fd), f"{r.wrong:.1%}", f"{r.overwritten:.1%}", f"{r.misplaced:.0%}", f"{1 - r.mixed:.0%}")
        for r in judgement.rates
    ]
    more = len(judgement.doubtful) - len(doubtful)
    return {"told": f"{told}.", "rates": rates, "doubtful": doubtful, "more": more}


def _levels(cleaning: Cleaning) -> list[Row]:
    """Cells by attribute and level of the value written: with `refine`, it may lie below the one bought."""
    values, cells = Counter[tuple[str, str]](), Counter[tuple[str, int]]()
    for repair in cleaning.repairs:
        values[repair.attribute, repair.new] += len(repair.written)
    for (attribute, value), n in values.items():
        cells[attribute, _level(value, cleaning.hierarchies.get(attribute))] += n
    keys = sorted(key for key, n in cells.items() if n)
    parts = shares([cells[key] for key in keys])
    return [(a, level, cells[a, level], Bar(share)) for (a, level), share in zip(keys, parts, strict=True)]


def _level(value: str, hierarchy: Hierarchy | None) -> int:
    tree = (hierarchy or Hierarchy.flat(())).admit([value])
    return int(tree.level[tree.code(value)])


def _unrepaired(cleaning: Cleaning) -> list[Row]:
    cells = Counter[str]()
    for left in cleaning.unrepaired:
        cells[left.reason] += len(left.rows)
    cheapest = min((left.cheapest for left in cleaning.unrepaired if left.cheapest is not None), default=None)
    means = dict(REASONS)
    if cheapest is not None:
        means[TOO_EXPENSIVE] += f"; the cheapest would have cost {credits_words(cheapest)}"
    most_first = sorted(cleaning.reasons.items(), key=lambda item: (-item[1], item[0]))
    return [(reason, n, cells[reason], means.get(reason, "")) for reason, n in most_first]


def _score(score: Score) -> dict[str, object]:
    rows = [_score_row(a, found) for a, found in score.attributes.items() if found.is_telling]
    return {"rows": rows, "total": _score_row("Total", score.total), "quarters": _quarters(score)}


def _score_row(name: str, found: AttributeScore) -> Row:
    if found.counts is None:
        return (name, "", f"{found.repair_error:,.3f}", *[""] * 8)
    c = found.counts
    ratios = ["–" if ratio is None else f"{ratio:.3f}" for ratio in (c.precision, c.recall, c.f1)]
    counts = (c.wrong, c.wrong_after, c.changed, c.correct, c.general_correct)
    return (name, f"{found.repair_error_before:,.3f}", f"{found.repair_error:,.3f}", *counts, *ratios)


def _quarters(score: Score) -> list[Row]:
    if score.total.counts is None:
        return []
    counts = score.total.counts
    ranges = ("0 – ¼", "¼ – ½", "½ – ¾", "¾ – 1")
    return [(r, n, Bar(s)) for r, n, s in zip(ranges, counts.quarters, counts.quarter_shares, strict=True)]
