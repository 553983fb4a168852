"""Tests of figures, against the numbers they draw."""
