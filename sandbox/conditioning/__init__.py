"""Conditioning: what is done to projections before attention, and to head outputs after it."""
