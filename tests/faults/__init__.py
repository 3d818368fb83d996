"""Servers that are killed, and servers that race: what a buyer was told stays true, and no policy is broken."""
