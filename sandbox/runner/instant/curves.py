"""Curves: all seeds of one setting trained from their start, told point by point as they come."""

import time
from collections import OrderedDict
from typing import Any

import numpy as np

from sandbox.diagnostics.probe import probe_batch
from sandbox.diagnostics.visual_weights import PARTS
from sandbox.engine.evaluation import Metrics
from sandbox.engine.layout import Layout
from sandbox.experiment.experiment import load
from sandbox.runner.instant.knobs import (
    EPOCHS,
    EVERY_EPOCHS,
    FIRST_EPOCHS,
    Knobs,
    experiment_plain,
    steps_per_epoch,
)
from sandbox.runner.instant.team import Team

SERIES = ("test_loss", "train_loss", "test_accuracy", "train_accuracy")
FRAME_EVERY = 2
"""Points between two kept pictures."""
KEPT_TEAMS = 2
OF_OPTIMIZER = ("learning_rate", "weight_decay")
"""Knobs that change nothing of what a team is made of."""


class Teams:
    """Teams of one session, kept because most turns of a knob need no new data and no new start."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._kept: OrderedDict[tuple[float, ...], Team] = OrderedDict()

    def fresh(self, knobs: Knobs) -> Team:
        """The team of these knobs at step 0; raises a SandboxError where they cannot be trained."""
        experiment = load(experiment_plain(knobs))
        setting = experiment.setting(experiment.arms[0].name)
        key = tuple(value for name, value in knobs.items() if name not in OF_OPTIMIZER)
        team = self._kept.pop(key, None)
        if team is None:
            team = Team(setting, experiment.seeds, self.threads)
        else:
            team.restart(setting)
        self._kept[key] = team
        while len(self._kept) > KEPT_TEAMS:
            self._kept.popitem(last=False)
        return team


class Curves:
    """One computation: `turn` trains two epochs, and evaluates where that is due."""

    def __init__(self, number: int, knobs: Knobs, teams: Teams) -> None:
        self.number, self.knobs = number, knobs
        self.began = time.perf_counter()
        self.first_seconds: float | None = None
        """How long the first epochs took, once they are done."""
        self.team = teams.fresh(knobs)
        self.per_epoch = steps_per_epoch(knobs)
        self.epoch = 0
        self.epochs: list[int] = []
        self.frames: list[int] = []
        self._values: list[np.ndarray] = []
        self._weights: list[np.ndarray] = []
        self._keep(self.team.evaluate())

    @property
    def done(self) -> bool:
        """Whether all epochs are trained."""
        return self.epoch >= EPOCHS

    @property
    def shape_key(self) -> tuple[float, ...]:
        """What `meta` depends on."""
        return tuple(value for name, value in self.knobs.items() if name not in (*OF_OPTIMIZER, "batch_size"))

    @property
    def _layout(self) -> Layout:
        return self.team.groups[0].layout

    @property
    def age(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.began

    def turn(self) -> bool:
        """Train two epochs; True where they were the last ones."""
        self.epoch += EVERY_EPOCHS
        every = EVERY_EPOCHS if self.epoch <= FIRST_EPOCHS else 2 * EVERY_EPOCHS
        if self.epoch % every == 0:
            self._keep(self.team.train(EVERY_EPOCHS * self.per_epoch))
        else:
            self.team.advance(EVERY_EPOCHS * self.per_epoch)
        if self.epoch == FIRST_EPOCHS:
            self.first_seconds = self.age
        return self.done

    def _keep(self, metrics: Metrics) -> None:
        self._values.append(np.stack([metrics[name] for name in SERIES]).astype(np.float32))
        if len(self.epochs) % FRAME_EVERY == 0:
            self.frames.append(self.epoch)
            self._weights.append(self._numbers())
        self.epochs.append(self.epoch)

    def _numbers(self) -> np.ndarray:
        """The weights as the pictures take them: (run, number) in half precision, in the order of PARTS."""
        parts = self._layout.unflatten(self.team.theta())
        with np.errstate(over="ignore", invalid="ignore"):
            rows = [parts[name].reshape(len(self.team.seeds), -1).astype(np.float16) for name in PARTS]
        return np.concatenate(rows, axis=1)

    def told(self, rows: int, frames: int, seed: int) -> tuple[dict[str, Any], bytes]:
        """What came after the first `rows` points and `frames` pictures, of `seed` the latter.

        Numbers are float32 (series, seed, point), then float16 (picture, number).
        """
        seed = min(max(seed, 0), len(self.team.seeds) - 1)
        values, weights = self._values[rows:], self._weights[frames:]
        head = {
            "type": "curves", "id": self.number, "from": rows, "epochs": self.epochs[rows:],
            "per_epoch": self.per_epoch, "seeds": list(self.team.seeds), "seed": seed,
            "frames_from": frames, "frames": self.frames[frames:],
            "size": self._weights[0].shape[1], "epoch": self.epoch, "done": self.done,
            "seconds": round(self.age, 4), "first_seconds": self.first_seconds,
        }  # fmt: skip
        curves = np.stack(values, axis=-1) if values else np.empty(0, np.float32)
        pictures = np.stack([w[seed] for w in weights]) if weights else np.empty(0, np.float16)
        return head, curves.astype("<f4").tobytes() + pictures.astype("<f2").tobytes()

    def meta(self) -> dict[str, Any]:
        """What the pictures need to know of the weights, the probe's sequences and the guesses' levels."""
        task, data = self.team.setting.task, self.team.groups[0].task_data[0]
        probe = probe_batch(task, data, self.team.seeds[0])
        shapes = dict(zip(self._layout.names, self._layout.shapes, strict=True))
        return {
            "columns": ["values"],
            "names": list(PARTS),
            "shapes": [list(shapes[name]) for name in PARTS],
            "tokens": probe.tokens.tolist(),
            "classes": probe.classes.tolist(),
            "token_labels": list(probe.token_labels),
            "class_labels": list(probe.class_labels),
            "n_prefix": probe.n_prefix,
            "lines": {"accuracy": data.lines, "loss": data.loss_lines},
        }
