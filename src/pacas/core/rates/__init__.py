"""Schedules of rates, and what an account has bought by the list."""
