"""Sealed quotes, from public knowledge alone: nothing here can see a sold or protected column."""
