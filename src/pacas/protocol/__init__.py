"""Every word that client and provider exchange, and nothing else."""
