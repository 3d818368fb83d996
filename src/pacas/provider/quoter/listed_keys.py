"""The keys by which rows of the index are found, hashed for a price list."""

from __future__ import annotations

from hashlib import sha256
from itertools import count
from typing import NamedTuple

import numpy as np

from pacas.core.dependency import MatchingDependency
from pacas.engine.grouping import Ints
from pacas.protocol.key_digest import NOTHING, Digests, KeyColumn, KeyDigest
from pacas.provider.quoter.public_view import PublicView


class ListedKeys(NamedTuple):
    """How keys are hashed, and the digest of each: no two are alike."""

    key: KeyDigest
    digests: Digests

    @classmethod
    def of(cls, view: PublicView, dependency: MatchingDependency, rows: Ints, seed: str) -> ListedKeys:
        """The keys that some rows have in the columns of a match by equality; the seed decides how they are hashed."""
        clauses, trees = dependency.clauses, view.hierarchies
        numeric = [clause.provider in trees and trees[clause.provider].numeric for clause in clauses]
        columns = [KeyColumn(clause.client, by) for clause, by in zip(clauses, numeric, strict=True)]
        texts = []
        for clause in clauses:
            column = view.index.columns[clause.provider]
            texts.append([column.values[code] for code in column.codes[rows].tolist()])
        salts = (sha256(f"{seed} {number}".encode()).digest() for number in count())
        listed = (cls(key, key.of_all(zip(*texts, strict=True))) for key in (KeyDigest(s, columns) for s in salts))
        return next(keys for keys in listed if keys.are_distinct)

    @property
    def are_distinct(self) -> bool:
        return len(np.unique(self.digests)) == len(self.digests) and NOTHING not in self.digests
