"""The journal of a cleaning: what is bought is on disk before it is used."""
