"""Study: the points of a sweep, what is left of them, and a final number over a knob."""

from sandbox.ui import sweep_page

sweep_page.show()
