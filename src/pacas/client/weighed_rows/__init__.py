"""Which rows are in the wrong group: options one attribute away, scored and calibrated by errors tried out."""
