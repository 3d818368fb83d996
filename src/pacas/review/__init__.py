"""The client's console: a steward reviews what would be bought before it is paid, and what was written after it."""
