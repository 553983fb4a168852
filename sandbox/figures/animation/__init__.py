"""A run as a short film: its curves as they grow and its pictures beside them, drawn without a browser."""

from sandbox.figures.animation.film import SECONDS, write_film
from sandbox.figures.animation.pictures import Chosen

__all__ = ["SECONDS", "Chosen", "write_film"]
