"""What a cleaning has done: its steps, its changes, its score, its reasons."""
