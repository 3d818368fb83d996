"""The paper's definitions, written down literally over plain rows.

Nothing here is fast and nothing here uses the package: a relation is a list of dicts with None for null, and a
hierarchy is the `Tree` of a list of rows. What the package computes is compared with what these say.
"""
