"""What a provider's owner should mend before selling: found in its own table, told in counts and never in values."""
