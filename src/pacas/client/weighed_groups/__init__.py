"""What groups hold in truth: beliefs over values, from counts, blocks and what was bought."""
