"""Hierarchies that a table's own columns suggest, and what each level of them hides."""
