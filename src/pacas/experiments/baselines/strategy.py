"""Which of SafeClean's strategies a method of the evaluation is: the one place that names them."""

from __future__ import annotations

from inspect import signature
from typing import Any

from pacas.client.safe_clean import SafeClean
from pacas.errors import InputError

WEIGH = "weigh"
CAN_WEIGH = "strategy" in signature(SafeClean).parameters
"""Is there a client that weighs?"""


def strategy(method: str) -> dict[str, Any]:
    """What SafeClean is told for a method: weighing, or the paper's loop with one of its repairs."""
    if method == WEIGH:
        if not CAN_WEIGH:
            raise InputError("there is no client yet that weighs; leave the method 'weigh' out")
        return {"strategy": WEIGH}
    return {"strategy": "paper", "repair": method} if CAN_WEIGH else {"repair": method}
