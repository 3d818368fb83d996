"""What the parties' files describe, opened: a provider with its ledger, a client with its table."""
