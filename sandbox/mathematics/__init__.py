"""One file per equation: what is measured on weights and attention, in float64, with NumPy alone."""
