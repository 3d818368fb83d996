"""What has been sold, durably and in order, and the accounts that may buy."""
