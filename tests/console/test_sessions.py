"""Sessions of operators end by themselves, and are known by nothing but their cookies."""

from __future__ import annotations

from served_console import Clock

from pacas.console.sessions import IDLE, LONGEST, Sessions


def test_a_session_is_found_by_its_cookie_alone_until_it_is_ended() -> None:
    sessions = Sessions(Clock())
    cookie, session = sessions.begin("0" * 64)
    assert sessions.find(cookie) is session
    assert sessions.find(cookie + "x") is None and sessions.find("") is None
    other, _ = sessions.begin("0" * 64)
    assert other != cookie
    sessions.end(session)
    assert sessions.find(cookie) is None
    assert sessions.find(other) is not None


def test_a_session_ends_when_nobody_comes_and_after_a_day_in_any_case() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    cookie, _ = sessions.begin("0" * 64)
    clock.now += IDLE
    assert sessions.find(cookie) is not None
    clock.now += IDLE + 1
    assert sessions.find(cookie) is None
    cookie, _ = sessions.begin("0" * 64)
    for _ in range(int(LONGEST / IDLE)):
        clock.now += IDLE
        assert sessions.find(cookie) is not None
    clock.now += 1
    assert sessions.find(cookie) is None


def test_no_repr_shows_a_secret_and_forms_are_known_by_theirs() -> None:
    sessions = Sessions(Clock())
    cookie, session = sessions.begin("ab" * 32)
    assert not any(secret in repr(session) for secret in (cookie, session.csrf, "abab"))
    assert cookie not in repr(vars(sessions))
    assert session.is_own(session.csrf)
    assert not session.is_own("") and not session.is_own("\ud800") and not session.is_own(session.csrf + "x")
