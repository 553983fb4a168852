"""Torch engine: trains the runs of one arm together, as rows of one flat buffer theta."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from sandbox.engine.batches import Batches, stacked_rows
from sandbox.engine.device import choose_device, full_precision, keep_freed_memory
from sandbox.engine.evaluation import Metrics, RowSet, evaluated_train_rows, group_accuracies
from sandbox.engine.exactness import stacks_exactly
from sandbox.engine.gradient import losses_and_gradients
from sandbox.engine.layout import Layout, in_row_order
from sandbox.engine.norms import PartNorms, by_name
from sandbox.engine.setting import GroupSetting
from sandbox.engine.stacking import (
    VECTOR_ROWS,
    Parameters,
    StackedModel,
    attach,
    bind,
    floats_per_sequence,
    stack_size,
    stacks,
    with_companion,
)
from sandbox.foundations.errors import InvalidData, InvalidExperiment
from sandbox.models import SequenceClassifier
from sandbox.tasks import Dataset


@dataclass(frozen=True)
class Stack:
    """Views of the rows of the runs that are computed at once; their memory never moves."""

    rows: slice
    theta: Float[Tensor, "row stride"]
    grad: Float[Tensor, "row stride"]
    moments: dict[str, Float[Tensor, "row stride"]]
    untrained: Float[Tensor, "row untrained"]
    """Zeros: the gradient of carried numbers and of the padding."""
    carried: Parameters
    """Views of the carried numbers of `theta`, by name."""
    leaves: list[Tensor]
    """The trained parameters as autograd sees them: views of `theta`."""
    logits: Callable[[Tensor], Tensor]
    """(run, batch, token) -> (run, batch, class), with `leaves`."""


class TorchGroup:
    """One arm and its seeds: every run is a row of theta, and no run can touch another's row.

    On one CPU thread a run alone equals the same run in any group bit for bit, a group restored from
    `state()` goes on bit for bit, and reading (`evaluate`, `trace`, `theta`) changes nothing.
    """

    engine: ClassVar[str] = "torch"
    """Its name, as `choose_engine` gives it."""

    stacked: ClassVar[bool] = True
    """Whether runs may be computed as stacks where that is exact; finding out takes longer than a start."""

    def __init__(self, setting: GroupSetting, seeds: Sequence[int], device: str = "cpu") -> None:
        if not seeds or len(set(seeds)) != len(seeds):
            raise InvalidExperiment(f"The seeds are {list(seeds)[:20]}; give at least one, each once.")
        self.setting, self.seeds, self.device = setting, tuple(seeds), choose_device(device)
        keep_freed_memory()
        self.step = 0
        self.task_data: list[Dataset] = [setting.task.data(seed, setting.reference_start) for seed in seeds]
        modules = self._build(setting)
        self.layout = Layout.of(in_row_order(modules[0]))
        sequence = torch.from_numpy(self.task_data[0].train_tokens[:1]).long().to(self.device)
        batch_size = min(setting.batch_size, len(self.task_data[0].train_tokens))
        cost = floats_per_sequence(modules[0], sequence)
        size = stack_size(batch_size, cost) if self.stacked else 1
        start = setting.model, setting.task, setting.reference_start
        if size > 1 and not stacks_exactly(*start, batch_size, size, self.device):
            size = 1
        self._model = StackedModel(modules[0], size)
        members = with_companion(len(seeds), size)
        data = [self.task_data[member] for member in members]
        tokens, targets = stacked_rows(data, "train")
        self._batches = Batches(tokens, targets, [seeds[m] for m in members], batch_size, self.device)
        n_evaluated = evaluated_train_rows(tokens.shape[1], len(data[0].test_targets))
        self._row_sets = {
            name: RowSet(*rows, len(members), cost, stacked=size > 1, device=self.device)
            for name, rows in {
                "train": (tokens[:, :n_evaluated], targets[:, :n_evaluated]),
                "test": stacked_rows(data, "test"),
            }.items()
        }
        weights = [
            torch.cat([value.detach().flatten() for _, value in in_row_order(module)]).cpu().numpy()
            for module in modules
        ]
        self._theta = self._rows(np.stack([weights[member] for member in members]))
        self._moments = setting.optimizer.start(self._theta)
        self._parts = PartNorms(self.layout)
        self._norms = self._theta.new_zeros((2, len(self._theta), len(self._parts.names)))
        self._normed = -1  # the step that the norms led to
        self._stacks = self._views([modules[member] for member in members])

    def change(self, setting: GroupSetting) -> None:
        """Go on under another setting of the same parameters, such as a larger shift, from this step on.

        Weights, moments, data and step stay; raises InvalidExperiment where the parameters differ.
        """
        modules = self._build(setting)
        if Layout.of(in_row_order(modules[0])) != self.layout:
            raise InvalidExperiment("A group in training keeps its parameters; start a run of its own.")
        self.setting = setting
        self._model = StackedModel(modules[0], self._model.size)
        members = with_companion(len(self.seeds), self._model.size)
        self._stacks = self._views([modules[member] for member in members])

    def advance(self, n_steps: int) -> Float[np.ndarray, "step run"]:
        """Make `n_steps` updates of every run and return the batch losses in nats, before each update.

        Nothing stops it: a loss that is not a number stays in its run. The host waits for the device
        once, at the end.
        """
        collected = torch.empty((n_steps, len(self._theta)), device=self.device)
        optimizer, until = self.setting.optimizer, self.setting.steps
        for i in range(n_steps):
            tokens, targets = self._batches.at(self.step)
            for stack in self._stacks:
                self._gradient(stack, tokens[stack.rows], targets[stack.rows], collected[i, stack.rows])
                kept = {name: value.clone() for name, value in stack.carried.items()}
                last = i == n_steps - 1
                if last:
                    self._norms[0, stack.rows] = self._parts.of(stack.grad)
                    before = stack.theta.clone()
                optimizer.update(stack.theta, stack.grad, stack.moments, self.step, until)
                self._carry(stack, kept, self.step + 1)
                if last:
                    self._norms[1, stack.rows] = self._parts.of(stack.theta - before)
            self.step += 1
            self._normed = self.step
        return collected.cpu().numpy()[:, : len(self.seeds)]

    def evaluate(self, between: Callable[[], None] = lambda: None) -> Metrics:
        """Loss (nats) and accuracy on the test set and on `evaluated_train_rows`, by name.

        Keys: train_loss, train_accuracy, test_loss, test_accuracy and test_accuracy/<group>/<label>.
        `between` is called after each block of rows; it must leave the group alone.
        """
        metrics: Metrics = {}
        parameters = self.layout.unflatten(self._theta)
        with full_precision():
            for name, rows in self._row_sets.items():
                loss, correct = rows.evaluate(self._model, parameters, between)
                correct = correct[: len(self.seeds)]
                metrics[f"{name}_loss"] = loss[: len(self.seeds)]
                metrics[f"{name}_accuracy"] = correct.mean(1)
        return metrics | group_accuracies(correct, self.task_data)

    @property
    def norms(self) -> dict[str, Float[np.ndarray, " run"]]:
        """Norms of the gradient and update that led to this step, by part; NaN where none was measured.

        They are measured at the last update of every `advance`.
        """
        measured = self._norms if self._normed == self.step else torch.full_like(self._norms, torch.nan)
        return by_name(self._parts.names, measured, len(self.seeds))

    def theta(self) -> Float[np.ndarray, "run parameter"]:
        """A copy of the weights of every run, in the order of `layout`."""
        return self._plain(self._theta)

    def state(self) -> dict[str, Shaped[np.ndarray, "run ..."]]:
        """All that `load` needs to go on, each array with one row per run: a checkpoint."""
        rows = {name: self._plain(value) for name, value in {"theta": self._theta, **self._moments}.items()}
        steps = np.full(len(self.seeds), self.step, np.int64)
        return {**rows, "step": steps, "seeds": np.array(self.seeds, np.int64)}

    def load(self, state: Mapping[str, Shaped[np.ndarray, "run ..."]]) -> None:
        """Continue from a state; rows are found by their seed, so one run can leave a group's state."""
        buffers = {"theta": self._theta, **self._moments}
        missing = [name for name in (*buffers, "step", "seeds") if name not in state]
        if missing:
            raise InvalidData(f"The checkpoint lacks {', '.join(missing)}; give one of this optimizer.")
        row_of = {int(seed): row for row, seed in enumerate(state["seeds"])}
        absent = [seed for seed in self.seeds if seed not in row_of]
        if absent:
            raise InvalidData(f"The checkpoint has no run of seed {absent[0]}; it has {sorted(row_of)[:20]}.")
        rows = [row_of[seed] for seed in self.seeds]
        for name in buffers:
            if state[name].shape[1:] != (self.layout.size,):
                raise InvalidData(
                    f"The checkpoint's {name} has rows of shape {state[name].shape[1:]}; "
                    f"this model has {self.layout.size} parameters."
                )
        steps = {int(state["step"][row]) for row in rows}
        if len(steps) != 1:
            raise InvalidData(f"The checkpoint's runs stand at steps {sorted(steps)}; a group has one step.")
        members = with_companion(len(rows), self._model.size)
        for name, buffer in buffers.items():
            buffer.copy_(self._rows(state[name][rows][members]))
        self.step, self._normed = steps.pop(), -1

    def trace(
        self,
        tokens: Int[np.ndarray, "batch token"],
        theta: Float[np.ndarray, "run parameter"] | None = None,
    ) -> dict[str, Shaped[np.ndarray, "run batch ..."]]:
        """What flows through every probe for the same sequences in every run, now or with stored weights."""
        n_rows = len(tokens)
        padded = np.resize(tokens, (-(-n_rows // VECTOR_ROWS) * VECTOR_ROWS, tokens.shape[1]))
        on_device = torch.from_numpy(padded).long().to(self.device)

        def record(stack: Parameters, n_runs: int) -> dict[str, Tensor]:
            trace = self._model.trace(stack, on_device.expand(n_runs, -1, -1))
            return {name: value[:, :n_rows] for name, value in trace.items()}

        return self._read(record, theta)

    def projections(
        self, theta: Float[np.ndarray, "run parameter"] | None = None
    ) -> dict[str, Shaped[np.ndarray, "run layer head d_model d_head"]]:
        """Effective W_Q, W_K, W_V of every run, as corrected, in the papers' orientation."""
        return self._read(lambda stack, _: self._model.projections(stack), theta)

    def _read(
        self, ask: Callable[[Parameters, int], dict[str, Tensor]], theta: np.ndarray | None
    ) -> dict[str, np.ndarray]:
        if theta is None:
            rows, n_runs = self._theta, len(self.seeds)
        else:
            rows, n_runs = self._rows(theta[with_companion(len(theta), self._model.size)]), len(theta)
        parameters = self.layout.unflatten(rows)
        answers = []
        with torch.no_grad(), full_precision():
            for runs in stacks(len(rows), self._model.size):
                stack = {name: value[runs] for name, value in parameters.items()}
                answers.append(ask(stack, runs.stop - runs.start))
        return {
            name: torch.cat([answer[name] for answer in answers])[:n_runs].cpu().numpy()
            for name in answers[0]
        }

    def _build(self, setting: GroupSetting) -> list[SequenceClassifier]:
        return [
            setting.model.build(setting.task, seed, setting.reference_start).to(self.device)
            for seed in self.seeds
        ]

    def _gradient(self, stack: Stack, tokens: Tensor, targets: Tensor, loss: Tensor) -> None:
        """Write the batch losses of one stack to `loss` and their gradients to its rows."""
        of_runs, gradients = losses_and_gradients(stack.logits, stack.leaves, tokens, targets)
        torch.cat([*gradients, stack.untrained], 1, out=stack.grad)
        loss.copy_(of_runs)

    def _carry(self, stack: Stack, kept: Parameters, step: int) -> None:
        """Take back what the optimizer did to carried numbers, and renew those that are due after `step`."""
        if kept:
            for name, value in kept.items():
                stack.carried[name].copy_(value)
            parameters = self.layout.unflatten(stack.theta)
            with torch.no_grad():
                for name, value in self._model.renewals(parameters, step).items():
                    stack.carried[name].copy_(value)

    def _rows(self, theta: Float[np.ndarray, "run parameter"]) -> Float[Tensor, "row stride"]:
        """The numbers in memory of torch's own: how an array is aligned would show in the last bits."""
        rows = torch.zeros((len(theta), self.layout.stride), device=self.device)
        rows[:, : self.layout.size] = torch.from_numpy(theta.astype(np.float32))
        return rows

    def _plain(self, rows: Float[Tensor, "row stride"]) -> Float[np.ndarray, "run parameter"]:
        return rows[: len(self.seeds), : self.layout.size].cpu().numpy().copy()

    def _views(self, modules: Sequence[SequenceClassifier]) -> list[Stack]:
        grad = torch.zeros_like(self._theta)
        untrained = grad.new_zeros((len(grad), self.layout.stride - self.layout.trained_size))
        views = []
        for rows in stacks(len(grad), self._model.size):
            parameters = self.layout.unflatten(self._theta[rows])
            if self._model.size == 1:
                leaves, logits = bind(modules[rows.start], parameters)
            else:
                attached, leaves = attach(self.layout, self._theta[rows])
                logits = partial(self._model.logits, attached)
            moments = {name: value[rows] for name, value in self._moments.items()}
            carried = {name: parameters[name] for name in self.layout.carried}
            tensors = self._theta[rows], grad[rows], moments, untrained[rows]
            views.append(Stack(rows, *tensors, carried, leaves, logits))
        return views
