"""How far a review has come, in a word and a number: the line at the head of every page."""

from __future__ import annotations

from typing import Any

from pacas.core.money import credits_words, rounded_text
from pacas.review.run import DONE, FAILED, RUNNING, STARTING, STOPPED, WAITING, WRITING
from pacas.review.session import ReviewSession

STATES = {
    STARTING: ("weighing the table", "info"),
    RUNNING: ("at work", "info"),
    WAITING: ("waiting for you", "warn"),
    WRITING: ("writing the table", "info"),
    DONE: ("done", "ok"),
    FAILED: ("stopped by a fault", "bad"),
    STOPPED: ("closed", "quiet"),
}
"""What each state of a run is called, and how it is marked."""


def status(session: ReviewSession) -> dict[str, Any]:
    text, kind = STATES[session.run.state]
    return {
        "version": session.version,
        "state": text,
        "kind": kind,
        "spent": rounded_text(session.spent),
        "budget": credits_words(session.job.cleaner.budget),
        "ahead": not session.outlook.is_current,
    }
