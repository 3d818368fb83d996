"""The journal of a cleaning: what was asked and paid, so that it can go on after a crash."""
