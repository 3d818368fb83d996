"""What a relation takes in memory."""

BYTES_OF_A_CELL = 8
FEW = 1 << 18
"""Rows up to which a relation is held anyway, if it can only be sold from so."""
