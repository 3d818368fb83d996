"""A quoter's price lists: what every free question would be answered, for clients to look up themselves.

What an attribute costs who has bought nothing is public wherever quotes are sealed, and told. There are no lists where
a policy keeps back what is left last, so that quotes follow what others buy, nor where something was sold from another
ledger; and none of an attribute that is found by likeness, or is linked with one that is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from itertools import count
from typing import NamedTuple

import numpy as np

from pacas.core.dependency import MatchingDependency
from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.core.sealed.unit_prices import UnitPrices
from pacas.engine.grouping import Ints, Keys, combine
from pacas.protocol.key_digest import NOTHING, Digests, KeyColumn, KeyDigest
from pacas.protocol.messages import ListedLadder, ListedPrices
from pacas.protocol.price_list import TOO_MANY, PriceList
from pacas.provider.quoter.public_view import PublicView
from pacas.provider.quoter.quoter import Quoter


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


MOST_LADDERS = 20
"""Ladders of an attribute that are told beside its list: those that most keys have."""


class PriceLists:
    """The lists of all attributes that have one; each is made when it is asked for."""

    def __init__(self, quoter: Quoter) -> None:
        self._quoter, self._view = quoter, quoter.view
        self._keys: dict[MatchingDependency, ListedKeys] = {}

    @cached_property
    def version(self) -> str:
        """A digest of all that the lists follow from, in hex: nothing private is among it."""
        view = self._view
        numeric = sorted(a for a, hierarchy in view.hierarchies.items() if hierarchy.numeric)
        match = {a: str(dependency) for a, dependency in view.match.items()}
        public: list[object] = [view.digests(), view.index.digest(), match, numeric, list(map(repr, view.policies))]
        if floor := {a: level for a, level in view.floor.items() if level}:
            public.append(floor)
        return sha256(b"pacas price list 1\n" + json.dumps(public, sort_keys=True).encode()).hexdigest()

    @cached_property
    def told(self) -> Mapping[str, ListedPrices]:
        """What most keys of each attribute cost who has bought nothing."""
        match = self._view.match
        follows = bool(self._quoter.watched or self._quoter.sold_before)
        equal = {a for a in match if match[a].is_by_equality and not follows}
        return {a: self._told(a, equal.issuperset(self._linked(a))) for a in match}

    @property
    def offered(self) -> Mapping[str, ListedPrices]:
        """The attributes that have a list, with what is told of them."""
        return {a: told for a, told in self.told.items() if told.has_list}

    def of(self, attribute: str) -> PriceList:
        """The list of an attribute that has one."""
        sold, keys = self._quoter.sold[attribute], self._keys_of(attribute)
        order = np.argsort(keys.digests)
        units = self._units(attribute)[order]
        number = self._numbers(attribute)
        some = units >= 0
        floors, listed = np.zeros(len(units), dtype=np.int8), units.copy()
        floors[some], listed[some] = sold.floor[units[some]], number[units[some]]
        prices = self._unit_prices(attribute, number)
        return PriceList(attribute, sold.height, keys.key, prices, keys.digests[order], listed, floors)

    def _linked(self, attribute: str) -> list[str]:
        """The attributes whose purchases bear on the price of one: where rows may be absent, all of them."""
        sold = self._quoter.sold
        priced = sold[attribute].priced
        return [a for a in sold if priced.presence is not None or sold[a].priced is priced]

    def _units(self, attribute: str) -> Ints:
        """What each key finds, slot by slot."""
        found = self._quoter.finders[attribute].by_slot()
        return np.where(found.matches > self._quoter.sold[attribute].max_matches, TOO_MANY, found.units)

    def _keys_of(self, attribute: str) -> ListedKeys:
        """The digest of each key, slot by slot."""
        dependency = self._view.match[attribute]
        if dependency not in self._keys:
            rows = self._quoter.finders[attribute].matcher.together
            first = rows.members[rows.offsets[:-1]]
            self._keys[dependency] = ListedKeys.of(self._view, dependency, first, self.version)
        return self._keys[dependency]

    def _numbers(self, attribute: str) -> Ints:
        """Per unit its number in the lists, −1 where no key finds it: by the order of digests, which says nothing."""
        found = [self._units(a)[np.argsort(self._keys_of(a).digests)] for a in self._linked(attribute)]
        in_order = np.concatenate(found)
        units, first = np.unique(in_order[in_order >= 0], return_index=True)
        number = np.full(len(self._quoter.sold[attribute].priced.units), -1, dtype=np.int64)
        number[units[np.argsort(first)]] = np.arange(len(units))
        return number

    def _unit_prices(self, attribute: str, number: Ints) -> UnitPrices:
        """What units cost, by their numbers in the lists, in those attributes that are for sale."""
        priced = self._quoter.sold[attribute].priced
        units = np.argsort(number, kind="stable")[len(number) - int((number >= 0).sum()) :]
        names = tuple(a for a in priced.attributes if a in self._quoter.sold)
        at = tuple(
            slice(None) if a in names else height for a, height in zip(priced.attributes, priced.heights, strict=True)
        )
        presence = None if priced.presence is None else priced.presence[units]
        return UnitPrices(names, priced.tables[(slice(None), *at)], priced.kind[units], presence)

    def _found(self, attribute: str) -> Ints:
        """What keys find; where likeness decides, of which no keys can be listed, all that can be found."""
        finder = self._quoter.finders[attribute]
        if finder.matcher.by_slot is not None:
            return self._units(attribute)
        return np.flatnonzero(self._quoter.sold[attribute].can_be_bought(finder.matcher.together))

    def _told(self, attribute: str, has_list: bool) -> ListedPrices:
        sold, found = self._quoter.sold[attribute], self._found(attribute)
        units = found[found >= 0]
        floors = sold.floor[units]
        kinds = [Keys(sold.priced.kind[units], len(sold.priced.tables), False), Keys(floors, sold.top + 1, False)]
        if sold.priced.presence is not None:
            told, presence = np.unique(sold.priced.presence[units], return_inverse=True)
            kinds.append(Keys(presence, len(told), False))
        _, one, keys = np.unique(combine(kinds).key, return_index=True, return_counts=True)
        prices = sold.priced.prices(units[one], sold.place, sold.height + 1, BoughtLevels()).tolist()
        having: Counter[tuple[tuple[int, ...], int]] = Counter()
        for ladder, floor, number in zip(map(tuple, prices), floors[one].tolist(), keys.tolist(), strict=True):
            having[ladder, floor] += number
        most = sorted(having, key=lambda ladder: (-having[ladder], *ladder))[:MOST_LADDERS]
        ladders = tuple(ListedLadder(*ladder, having[ladder]) for ladder in most)
        return ListedPrices(len(found), tuple(self._linked(attribute)), ladders, has_list)
