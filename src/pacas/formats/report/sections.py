"""The parts of a report that need no script: counts, money, levels, the budget curve, what is left, the score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.hindsight import Hindsight
from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.score import AttributeScore, Score, shares
from pacas.client.outcome.steps import (
    BUDGET_SPENT,
    CREDIT_USED_UP,
    IN_DOUBT,
    NOT_SOLD,
    NOT_WORTH_IT,
    TOO_EXPENSIVE,
)
from pacas.core.distance import Floats
from pacas.core.hierarchy import Hierarchy
from pacas.core.money import credits_text, credits_words, nanocredits, rounded_text
from pacas.core.words import counted
from pacas.formats.report.html import Bar, Card, cards, pair, section, table
from pacas.protocol.messages import ABSENT, MAX_MATCHES, Reason

REASONS = {
    NOT_SOLD: "nobody offers the attribute",
    TOO_EXPENSIVE: "there were quotes, and none was within the class's share of the budget",
    MAX_MATCHES: "more of the provider's rows are like its tuples than are ever answered from",
    CREDIT_USED_UP: "the provider's credit for this buyer is used up, whatever the budget",
    BUDGET_SPENT: "the money was gone before its turn came",
    IN_DOUBT: "what was bought did not settle it: its rows may not belong together",
    NOT_WORTH_IT: "own evidence did not suffice, and no answer was expected to remove enough error",
    ABSENT: "the provider says, for money, that the person is not in its table",
    Reason.NO_MATCH.value: "the provider has no row for any tuple of the class",
    Reason.AMBIGUOUS.value: "the provider's rows for its tuples say more than one thing",
    Reason.UNSAFE.value: "an answer would have broken the provider's privacy policy",
    Reason.CEILING.value: "it had become dearer than it was quoted",
    Reason.REFUSED.value: "the provider refused, and keeps its reasons to itself",
}


WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 12, 12, 26, 44
MOST_POINTS = 400
"""How the budget curve is drawn."""

MEASURES = (
    "The error is the semantic distance δ to the truth, summed over the cells. Precision is the share of the written "
    "cells that became right; recall is the share of the wrong cells that did. A general value above the true one is "
    "not counted as right."
)


def sections(cleaning: Cleaning, score: Score | None, hindsight: Hindsight | None = None) -> Iterator[str]:
    """All of them; `score` and `hindsight` are against the truth."""
    yield _counts(cleaning)
    if cleaning.weighing is None:
        yield pair(section("The budget curve", budget_curve(cleaning)), _levels(cleaning))
    else:
        yield pair(section("Error over money", error_curve(cleaning.weighing, hindsight)), _levels(cleaning))
        yield _doubtful(cleaning.weighing)
        yield _judgement(cleaning.weighing, hindsight)
    yield _money(cleaning)
    yield _unrepaired(cleaning)
    if score is not None:
        yield _score(score)


def _counts(cleaning: Cleaning) -> str:
    left = sum(len(u.rows) for u in cleaning.unrepaired)
    return cards(
        Card(
            "Violations after",
            f"{cleaning.violations_after:,}",
            f"pairs of rows; {cleaning.violations_before:,} before",
        ),
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


def _money(cleaning: Cleaning) -> str:
    """Purchases, cells and money by attribute and level of the value bought."""
    prices, bought, written = Counter[tuple[str, int]](), Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for purchase in cleaning.purchases:
        prices[purchase.attribute, purchase.level] += purchase.price
        bought[purchase.attribute, purchase.level] += 1
    for repair in cleaning.repairs:
        if repair.purchases:
            written[repair.attribute, repair.purchases[-1].level] += len(repair.written)
    total = cleaning.spent_nanocredits or 1
    rows = [
        (a, level, bought[a, level], written[a, level], rounded_text(prices[a, level]), Bar(prices[a, level] / total))
        for a, level in sorted(bought)
    ]
    heads = ("Attribute", "Level bought", "Purchases", "Cells", "Credits", "Share")
    return section("Where the money went", table(heads, rows, empty="Nothing was bought."))


def _judgement(judgement: Judgement, hindsight: Hindsight | None) -> str:
    """What was believed about the table, and what a vote alone would have done."""
    rows = [(str(r.fd), f"{r.wrong:.1%}", f"{r.overwritten:.1%}", f"{r.misplaced:.0%}") for r in judgement.rates]
    heads = ("Dependency", "Cells wrong", "Groups partly overwritten", "Of the errors, on the left side")
    told = (
        f"{counted(judgement.free, 'cell')} written by own evidence, {judgement.paid:,} by what was bought. "
        f"A free vote alone would have changed {counted(judgement.voted, 'cell')}"
    )
    if hindsight is not None and (voted := hindsight.vote.total).counts is not None:
        f1 = voted.counts.f1
        told += f": repair error {voted.repair_error:,.3f}, F1 {'–' if f1 is None else f'{f1:.3f}'}"
    note = f'<p class="note">{told}.</p>'
    return section("What was weighed", note + table(heads, rows, empty="Nothing violated a dependency."))


def _doubtful(judgement: Judgement) -> str:
    """The cells to look at first."""
    rows = [
        (c.row, c.attribute, "" if c.value is None else c.value, c.guess, f"{c.sure:.0%}", "yes" if c.written else "no")
        for c in judgement.doubtful[:MOST_DOUBTFUL]
    ]
    heads = ("Row", "Attribute", "Given", "Likeliest", "Sure", "Written")
    more = len(judgement.doubtful) - len(rows)
    note = f'<p class="note">And {counted(more, "cell")} more; --doubtful writes all of them.</p>' if more else ""
    return section("Doubtful cells", table(heads, rows, empty="No cell is doubtful.") + note)


MOST_DOUBTFUL = 100
"""Of the doubtful cells, those that the page shows."""


def _levels(cleaning: Cleaning) -> str:
    """Cells by attribute and level of the value written: with `refine`, it may lie below the one bought."""
    values, cells = Counter[tuple[str, str]](), Counter[tuple[str, int]]()
    for repair in cleaning.repairs:
        values[repair.attribute, repair.new] += len(repair.written)
    for (attribute, value), n in values.items():
        cells[attribute, _level(value, cleaning.hierarchies.get(attribute))] += n
    keys = sorted(key for key, n in cells.items() if n)
    parts = shares([cells[key] for key in keys])
    rows = [(a, level, cells[a, level], Bar(share)) for (a, level), share in zip(keys, parts, strict=True)]
    heads = ("Attribute", "Level written", "Cells", "Share")
    return section("Repairs by level", table(heads, rows, empty="No cell was written."))


def _level(value: str, hierarchy: Hierarchy | None) -> int:
    tree = (hierarchy or Hierarchy.flat(())).admit([value])
    return int(tree.level[tree.code(value)])


def _unrepaired(cleaning: Cleaning) -> str:
    cells = Counter[str]()
    for left in cleaning.unrepaired:
        cells[left.reason] += len(left.rows)
    cheapest = min((left.cheapest for left in cleaning.unrepaired if left.cheapest is not None), default=None)
    means = dict(REASONS)
    if cheapest is not None:
        means[TOO_EXPENSIVE] += f"; the cheapest would have cost {credits_words(cheapest)}"
    most_first = sorted(cleaning.reasons.items(), key=lambda item: (-item[1], item[0]))
    rows = [(reason, n, cells[reason], means.get(reason, "")) for reason, n in most_first]
    heads = ("Reason", "Classes", "Cells", "Which means")
    return section("What was not repaired", table(heads, rows, empty="Every class was repaired."))


def _score(score: Score) -> str:
    told = {a: found for a, found in score.attributes.items() if found.is_telling}
    heads = ("Attribute", "Error before", "Error after", "Wrong before", "Wrong after", "Written", "Right",
             "Right, but general", "Precision", "Recall", "F1")  # fmt: skip
    rows = [_score_row(a, found) for a, found in told.items()]
    found = table(heads, rows, foot=_score_row("Total", score.total), empty="")
    note = f'<p class="note">{MEASURES}</p>'
    return section("Against the truth", found + note + _quarters(score))


def _score_row(name: str, found: AttributeScore) -> tuple[object, ...]:
    if found.counts is None:
        return (name, "", f"{found.repair_error:,.3f}", *[""] * 8)
    c = found.counts
    ratios = ["–" if ratio is None else f"{ratio:.3f}" for ratio in (c.precision, c.recall, c.f1)]
    counts = (c.wrong, c.wrong_after, c.changed, c.correct, c.general_correct)
    return (name, f"{found.repair_error_before:,.3f}", f"{found.repair_error:,.3f}", *counts, *ratios)


def _quarters(score: Score) -> str:
    if score.total.counts is None:
        return ""
    counts = score.total.counts
    ranges = ("0 – ¼", "¼ – ½", "½ – ¾", "¾ – 1")
    rows = [(r, n, Bar(s)) for r, n, s in zip(ranges, counts.quarters, counts.quarter_shares, strict=True)]
    return table(
        ("Distance", "Cells", "Share"),
        rows,
        caption="Written cells by their distance to the truth; 1 is that of the root",
        empty="",
    )


# ---- curves over money spent, drawn as SVG ---------------------------------------------------------------------------


def error_curve(judgement: Judgement, hindsight: Hindsight | None = None) -> str:
    """The expected error over money spent, whenever all was weighed again, and the true one beside it, if known."""
    if not judgement.expected:
        return "<p>There was nothing to weigh.</p>"
    spent, expected = (np.array(part, dtype=np.float64) for part in zip(*judgement.expected, strict=True))
    true = np.array([error for _, error in hindsight.errors]) if hindsight is not None else None
    note = EXPECTED + (TRUE if true is not None else "")
    total = judgement.expected[-1][0]
    if not total:
        told = "" if true is None else f", the true one {true[-1]:,.1f}"
        return f"<p>Nothing was paid. The expected error is {expected[-1]:,.1f} bits{told}.</p>{note}"
    said = f"Expected error over credits spent: {_from_to(expected)} at {credits_words(total)}."
    if true is not None:
        said += f" True error: {_from_to(true)}."
    most = max(expected.max(), 0 if true is None else true.max())
    return _curve(spent, expected, said, f"{most:,.1f} bits", total, true) + note


def _from_to(error: Floats) -> str:
    return f"from {error[0]:,.1f} bits at 0 credits to {error[-1]:,.1f} bits"


EXPECTED = (
    '<p class="note">The semantic distance δ to the truth that is expected of all cells that were weighed, with '
    "the free repairs made; each time that all was weighed again.</p>"
)
TRUE = (
    '<p class="note">Dashed: the true δ of all cells, had the cleaning ended there; cells that no dependency looks at '
    "are in it.</p>"
)


def budget_curve(cleaning: Cleaning) -> str:
    """Violations left over money spent, a step per purchase; of very many, the last step of each pixel or so."""
    if not cleaning.purchases:
        return "<p>Nothing was bought.</p>"
    spent = np.cumsum([0, *(p.price for p in cleaning.purchases)], dtype=np.float64)
    after = [r.violations for r in cleaning.repairs]
    left = np.array([cleaning.violations_before, *after], dtype=np.float64)
    total, most = cleaning.spent_nanocredits, int(left.max())
    said = (
        f"Violations left over credits spent: from {cleaning.violations_before:,} at 0 credits "
        f"to {cleaning.violations_after:,} at {credits_words(total)}."
    )
    return _curve(spent, left, said, counted(most, "violation"), total)


def _curve(spent: Floats, left: Floats, said: str, most_said: str, total: int, beside: Floats | None = None) -> str:
    """A step curve, and another one beside it, dashed."""
    most = max(float(left.max()), 0.0 if beside is None else float(beside.max()))
    x = LEFT + (WIDTH - LEFT - RIGHT) * spent / max(spent[-1], 1)

    def path(values: Floats) -> str:
        return _steps(*_thinned(x, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * values / (most or 1)))

    line = path(left)
    dashed = "" if beside is None else f'<path class="curve beside" d="{path(beside)}"/>'
    floor = HEIGHT - BOTTOM
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">'
        f'<path class="area" d="{line}V{floor}H{LEFT}Z"/>'
        f'<line class="axis" x1="{LEFT}" y1="{floor}" x2="{WIDTH - RIGHT}" y2="{floor}"/>'
        f'<line class="axis" x1="{LEFT}" y1="{TOP}" x2="{WIDTH - RIGHT}" y2="{TOP}"/>'
        f'<path class="curve" d="{line}"/>{dashed}'
        f'<text x="{LEFT}" y="{TOP - 8}">{most_said}</text>'
        f'<text x="{LEFT}" y="{floor + 18}">0</text>'
        f'<text x="{WIDTH - RIGHT}" y="{floor + 18}" text-anchor="end">{rounded_text(total)}</text>'
        f'<text x="{WIDTH / 2:g}" y="{HEIGHT - 6}" text-anchor="middle">credits spent</text>'
        "</svg>"
    )


def _thinned(x: Floats, y: Floats) -> tuple[list[float], list[float]]:
    """At most so many points: the first, and the last one in each narrow strip."""
    if len(x) > MOST_POINTS:
        strip = ((x - x[0]) / max(x[-1] - x[0], 1e-9) * (MOST_POINTS - 2)).astype(np.int64)
        kept = np.flatnonzero(np.append(np.diff(strip) > 0, True))
        kept = np.unique(np.append(0, kept))
        x, y = x[kept], y[kept]
    return x.tolist(), y.tolist()


def _steps(x: list[float], y: list[float]) -> str:
    return f"M{x[0]:.1f} {y[0]:.1f}" + "".join(f"H{a:.1f}V{b:.1f}" for a, b in zip(x[1:], y[1:], strict=True))
