"""`pacas review` that is shot with SIGKILL around its n-th payment, for `test_killed_review.py`; 0 kills nothing."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from pacas.cli.main import run
from pacas.provider.provider import Provider

moment = "never"
pay = Provider.pay


def killed(self: Provider, *told: Any, **more: Any) -> Any:
    if moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    answer = pay(self, *told, **more)
    if moment == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return answer


if __name__ == "__main__":
    moment, arguments = sys.argv[1], sys.argv[2:]
    Provider.pay = killed  # type: ignore[method-assign]
    sys.exit(run(arguments))
