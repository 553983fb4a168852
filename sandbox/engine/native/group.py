"""A group of runs trained by compiled kernels, behind the interface of the torch engine."""

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import torch
from jaxtyping import Float, Float32, Int32, Shaped
from torch import Tensor

from sandbox.engine.batches import epoch_order, stacked_rows
from sandbox.engine.evaluation import Metrics, evaluated_train_rows, group_accuracies
from sandbox.engine.native.coverage import foreign
from sandbox.engine.native.schedule import adam_structure, scales, score_scales
from sandbox.engine.native.structures import (
    DataStructure,
    RowsStructure,
    StretchStructure,
    address,
    model_structure,
)
from sandbox.engine.optimizer import AdamFamily
from sandbox.engine.setting import GroupSetting
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.errors import EngineUnavailable
from sandbox.foundations.kernels import kernels

CALL_NANOSECONDS = 10_000_000
"""Time after which a call comes back, wherever in a step it stands (native/turns.h)."""

FLOAT_BYTES = 4


class NativeGroup(TorchGroup):
    """One arm and its seeds; start, checkpoints and readings are the torch engine's.

    A run's numbers depend on nothing but its seed and setting: not on how many runs there are, on the
    number of threads, on how steps are cut into calls, or on which build for x86-64 is loaded.
    """

    engine = "native"

    def __init__(
        self, setting: GroupSetting, seeds: Sequence[int], *, threads: int = 1, build: str = ""
    ) -> None:
        super().__init__(setting, seeds)
        reason = foreign(setting)
        if reason:
            raise EngineUnavailable(f"The native engine cannot train this: {reason}.")
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._kernels = kernels(build)
        self._kind, self._structure = model_structure(setting, self.layout)
        tokens, targets = stacked_rows(self.task_data, "train")
        self._n_rows = tokens.shape[1]
        self._batch_size = min(setting.batch_size, self._n_rows)
        self._per_epoch = self._n_rows // self._batch_size
        self._train = DataStructure.of(tokens.astype(np.uint8), targets.astype(np.int32))
        n_test = len(self.task_data[0].test_targets)
        n_evaluated = evaluated_train_rows(self._n_rows, n_test)
        tests = stacked_rows(self.task_data, "test")
        self._sets = {
            "train": (self._train, n_evaluated),
            "test": (DataStructure.of(tests[0].astype(np.uint8), tests[1].astype(np.int32)), n_test),
        }
        self._last = torch.zeros((2, *self._theta.shape))  # gradient and start of the last update
        self._epoch = -1
        self._order: Int32[np.ndarray, "run row"] = np.empty((0, 0), np.int32)

    def change(self, setting: GroupSetting) -> None:
        """As of the torch engine; raises EngineUnavailable where the kernels do not know the new setting."""
        reason = foreign(setting)
        if reason:
            raise EngineUnavailable(f"The native engine cannot go on with this: {reason}.")
        super().change(setting)
        self._kind, self._structure = model_structure(setting, self.layout)

    def advance(self, n_steps: int) -> Float[np.ndarray, "step run"]:
        """Make `n_steps` updates of every run and return the batch losses in nats, before each update.

        Between the kernels' calls, some ten milliseconds each, Python may answer signals.
        """
        losses = np.empty((n_steps, len(self.seeds)), np.float32)
        done = 0
        while done < n_steps:
            epoch, batch = divmod(self.step, self._per_epoch)
            n = min(n_steps - done, self._per_epoch - batch)
            self._draw(epoch)
            self._share(self._advance, batch, n, losses[done : done + n], done + n == n_steps)
            self.step += n
            done += n
        if n_steps:
            gradient, before = self._last
            self._norms[0], self._norms[1] = self._parts.of(gradient), self._parts.of(self._theta - before)
            self._normed = self.step
        return losses

    def evaluate(self, between: Callable[[], None] = lambda: None) -> Metrics:
        """Loss (nats) and accuracy on the test set and on `evaluated_train_rows`, as the torch engine's."""
        metrics: Metrics = {}
        for name, (data, n_rows) in self._sets.items():
            loss = np.empty((len(self.seeds), n_rows), np.float32)
            right = np.empty((len(self.seeds), n_rows), np.uint8)
            self._share(self._evaluate, data, loss, right, between)
            metrics[f"{name}_loss"] = loss.mean(1, dtype=np.float64)
            metrics[f"{name}_accuracy"] = right.mean(1)
        return metrics | group_accuracies(right, self.task_data)

    def gradient(
        self, run: int, rows: Int32[np.ndarray, " batch"]
    ) -> tuple[float, Float32[np.ndarray, " parameter"]]:
        """Loss in nats and gradient of one run on these rows of its training set, before any clipping."""
        found, loss = np.zeros(self.layout.stride, np.float32), ctypes.c_float()
        self._finish(
            "gradient",
            ctypes.c_void_p(self._row(self._theta, run)),
            ctypes.byref(self._train),
            ctypes.c_int64(run),
            ctypes.c_void_p(address(rows)),
            ctypes.c_int64(len(rows)),
            ctypes.byref(loss),
            ctypes.c_void_p(address(found)),
        )
        return loss.value, found[: self.layout.size]

    def _finish(self, what: str, *arguments: object, between: Callable[[], None] = lambda: None) -> None:
        """Have the kernels do a job for this model, in calls of some ten milliseconds.

        Between them, without a step having ended, Python may answer signals, and `between` is called.
        """
        job = getattr(self._kernels, f"sandbox_{self._kind}_{what}")(
            ctypes.byref(self._structure), *arguments
        )
        if not job:
            raise MemoryError
        try:
            while not self._kernels.sandbox_go_on(ctypes.c_void_p(job), ctypes.c_int64(CALL_NANOSECONDS)):
                between()
        finally:
            self._kernels.sandbox_end(ctypes.c_void_p(job))

    def _draw(self, epoch: int) -> None:
        """Every run's order of rows in the epoch: the one that the torch engine takes."""
        if epoch != self._epoch:
            orders = [epoch_order(seed, epoch, self._n_rows) for seed in self.seeds]
            self._order, self._epoch = np.stack(orders).astype(np.int32), epoch

    def _share(self, work: Callable[..., None], *arguments: object) -> None:
        """Do the work for all runs, split over the threads."""
        n_runs = len(self.seeds)
        n_threads = min(self.threads, n_runs)
        edges = [n_runs * i // n_threads for i in range(n_threads + 1)]
        parts = [slice(edges[i], edges[i + 1]) for i in range(n_threads)]
        if n_threads == 1:
            work(parts[0], *arguments)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(n_threads - 1)
        others = [self._pool.submit(work, part, *arguments) for part in parts[1:]]
        try:
            work(parts[0], *arguments)
        finally:
            wait(others)
        for finished in others:
            finished.result()

    def _advance(
        self, runs: slice, batch: int, n: int, losses: Float[np.ndarray, "step run"], last: bool
    ) -> None:
        optimizer = self.setting.optimizer
        assert isinstance(optimizer, AdamFamily)
        adam = adam_structure(optimizer, scales(optimizer, self.step, n, self.setting.steps))
        rows = RowsStructure(
            self._row(self._theta, runs.start),
            self._row(self._moments["exp_avg"], runs.start),
            self._row(self._moments["exp_avg_sq"], runs.start),
            runs.stop - runs.start,
            self.layout.stride,
        )
        temperatures = score_scales(self.setting.model, self.step, n)
        stretch = StretchStructure(
            address(self._order[runs, batch * self._batch_size :]),
            self._n_rows,
            n,
            self._batch_size,
            self.step,
            None if temperatures is None else address(temperatures),
            address(losses[:, runs]),
            losses.strides[0] // FLOAT_BYTES,
            *((self._row(part, runs.start) for part in self._last) if last else (None, None)),
        )
        data = self._of(self._train, runs)
        self._finish("advance", *(ctypes.byref(part) for part in (rows, adam, data, stretch)))

    def _evaluate(
        self,
        runs: slice,
        data: DataStructure,
        loss: Float[np.ndarray, "run row"],
        right: Shaped[np.ndarray, "run row"],
        between: Callable[[], None],
    ) -> None:
        in_one_thread = between if runs.start == 0 else lambda: None
        for run in range(runs.start, runs.stop):
            self._finish(
                "evaluate",
                ctypes.c_void_p(self._row(self._theta, run)),
                ctypes.byref(data),
                ctypes.c_int64(run),
                ctypes.c_int64(loss.shape[1]),
                ctypes.c_void_p(address(loss[run])),
                ctypes.c_void_p(address(right[run])),
                between=in_one_thread,
            )
            in_one_thread()

    def _of(self, data: DataStructure, runs: slice) -> DataStructure:
        """The same rows, counted from the first of these runs."""
        return DataStructure(
            data.tokens + runs.start * data.tokens_apart,
            data.targets + runs.start * data.targets_apart * FLOAT_BYTES,
            data.tokens_apart,
            data.targets_apart,
        )

    def _row(self, rows: Tensor, run: int) -> int:
        """Where the row of a run begins."""
        return rows.data_ptr() + run * self.layout.stride * FLOAT_BYTES
