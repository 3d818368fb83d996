"""What both sides of the wire know: every JSON shape, error codes, receipts and their signatures."""
