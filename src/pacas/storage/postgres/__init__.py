"""Ledgers and accounts in a schema of PostgreSQL."""
