"""Several providers and several buyers: what is told together, and what is paid."""
