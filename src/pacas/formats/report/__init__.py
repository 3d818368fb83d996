"""The report of a cleaning: one page that needs nothing from outside."""
