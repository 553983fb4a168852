"""Instant: turn a knob, and everything is trained anew meanwhile."""

from sandbox.ui import instant

instant.show()
