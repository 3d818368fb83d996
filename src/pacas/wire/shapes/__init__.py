"""Every JSON shape that crosses the wire, by subject."""
