"""Ledgers and accounts in a SQLite file."""
