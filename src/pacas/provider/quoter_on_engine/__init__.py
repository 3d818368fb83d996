"""Sealed quotes where the index stays on the engine: quoters of the rows that are looked up."""
