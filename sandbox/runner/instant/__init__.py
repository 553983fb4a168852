"""Instant mode: everything is trained anew while a knob is turned (docs/adr/0017-instant-mode.md)."""
