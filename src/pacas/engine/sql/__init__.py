"""The statements that every engine runs, written once, in DuckDB's dialect."""
