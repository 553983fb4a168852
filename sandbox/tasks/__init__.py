"""Tasks, one file each: sparse modular addition and ListOps snippets."""

from sandbox.foundations.registry import discover
from sandbox.tasks.family import Dataset, Group, Task

discover(__name__, __path__)

__all__ = ["Dataset", "Group", "Task"]
