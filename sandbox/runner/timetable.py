"""Timetable: at which steps of a run its sets are evaluated and its weights are kept."""

from sandbox.experiment.experiment import Experiment
from sandbox.experiment.schedule import evaluation_steps, next_step, snapshot_budget, snapshot_steps


class Timetable:
    """The steps at which an experiment is looked at, from the one on at which it begins.

    `bytes_each` is what one snapshot of the weights of all arms and seeds takes. What goes on from another
    run is evaluated at the steps of a run from step 0, so that both can be compared, and is kept densely at
    first.
    """

    def __init__(self, experiment: Experiment, bytes_each: int) -> None:
        self.begin = 0 if experiment.fork is None else experiment.fork.step
        steps, rest = experiment.steps, experiment.steps - self.begin
        evaluations = evaluation_steps(steps, experiment.pace.evaluate_every)
        self._evaluations = tuple(step for step in evaluations if step > self.begin)
        self._snapshots = tuple(
            self.begin + step for step in snapshot_steps(rest, snapshot_budget(rest, bytes_each))
        )
        self.evaluated, self.kept = frozenset(self._evaluations), frozenset(self._snapshots)

    def room(self, step: int) -> int:
        """How many steps there are from `step` to the next at which something is due."""
        ahead = [next_step(schedule, step) for schedule in (self._evaluations, self._snapshots)]
        return min(due for due in ahead if due is not None) - step
