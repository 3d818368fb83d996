"""What an operator can watch: logs, metrics, refusals, and which processes serve a ledger."""
