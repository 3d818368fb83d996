"""Which errors stand apart: those whose tuples share no group with the tuple of another error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacas.core.dependency import FunctionalDependency
from pacas.experiments.errors.batch import NO_FD
from pacas.experiments.errors.error_columns import ErrorColumns


def apart(columns: ErrorColumns, fds: Sequence[FunctionalDependency]) -> NDArray[np.bool_]:
    """Per error: is it random, or the first with its tuple in each of its groups, clean and dirty?"""
    number = np.arange(len(columns.errors))
    stands = np.ones(len(number), dtype=np.bool_)
    for fd in fds:
        group, space, _ = columns.groups(fd.lhs)
        first = np.full(space, len(number))
        sides = (group[columns.errors.row], group[columns.rows :])
        for side in sides:
            np.minimum.at(first, side[side >= 0], number[side >= 0])
        for side in sides:
            stands &= (side < 0) | (first[side] == number)
    return np.asarray(stands | (columns.errors.fd == NO_FD))
