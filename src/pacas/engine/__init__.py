"""The heavy relational steps, on an existing engine: one contract, DuckDB embedded by default."""
