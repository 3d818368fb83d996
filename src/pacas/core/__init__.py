"""The paper's definitions as plain values and pure functions: no files, no clock, no network."""
