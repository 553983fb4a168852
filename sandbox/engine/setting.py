"""Setting: what the engine needs to know of an arm; the experiment's arm settings have this form."""

from typing import Protocol, runtime_checkable

from sandbox.engine.optimizer import Optimizer
from sandbox.models import Architecture
from sandbox.tasks import Task


@runtime_checkable
class GroupSetting(Protocol):
    """All that fixes the numbers of a group, its seeds apart."""

    @property
    def task(self) -> Task: ...
    @property
    def model(self) -> Architecture: ...
    @property
    def optimizer(self) -> Optimizer: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def reference_start(self) -> bool: ...
