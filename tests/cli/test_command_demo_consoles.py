"""`pacas demo --consoles`: both consoles answer, and end with the command, with Ctrl-C without a trace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from reviewed_offices import until

PACAS = [sys.executable, "-c", "from pacas.cli.main import main; main()"]


def answers(address: str) -> bool:
    try:
        httpx.get(address)
    except httpx.TransportError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_both_consoles_answer_and_end_cleanly(tmp_path: Path, how: signal.Signals) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    running = subprocess.Popen(
        [*PACAS, "demo", "--consoles", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        assert running.stdout is not None
        said = json.loads(running.stdout.readline())
        assert len(list(tmp_path.glob("pacas-consoles-*"))) == 1
        login = httpx.get(said["provider"], follow_redirects=True)
        assert login.status_code == 200 and "token" in login.text and said["token"] not in login.text
        with httpx.Client(follow_redirects=True) as browser:  # the door gives a cookie and leads on to the table
            assert 'href="/table"' in browser.get(said["client"]).text
            review = browser.get(httpx.URL(said["client"]).join("/table"))
        assert review.status_code == 200 and "20,000" in review.text
    finally:
        if how is signal.SIGINT:
            os.killpg(running.pid, how)  # as a terminal does
        else:
            running.send_signal(how)
        _, complaints = running.communicate(timeout=60)
    if how is signal.SIGKILL:
        assert running.returncode == -9
        until(lambda: not any(map(answers, (said["provider"], said["client"]))))  # they see that it is gone
        return
    assert (running.returncode, complaints) == (0, "")
    assert list(tmp_path.iterdir()) == [], "the folder is gone"
    assert not any(map(answers, (said["provider"], said["client"])))
