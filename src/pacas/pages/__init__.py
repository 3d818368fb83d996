"""What every page shares: one environment of templates, one stylesheet, one set of headers."""
