"""Floor 4: what is run, as plain data and as valid objects."""
