"""Where ledgers live."""
