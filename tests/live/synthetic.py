"""A made-up run that grows on demand, recorded by the store's own writer."""

import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from sandbox.foundations.readings import AttentionMap, PerHead, Provenance, SmallModel, Trajectory
from sandbox.store.run_writer import RunWriter

ARMS = ("standard", "spectral:shift=0.5", "preconditioned", "conditioned-init")


class SyntheticRun:
    """Curves that fall and rise plausibly; every number is a function of (arm, seed, step)."""

    def __init__(
        self,
        folder: Path,
        *,
        arms: int = 4,
        seeds: int = 3,
        tokens: int = 12,
        steps: int = 1500,
        layers: int = 1,
        heads: int = 2,
        evaluate_every: int = 20,
        read_every: int = 20,
        nan_at: int | None = None,
        groups: bool = False,
        visual: bool = False,
        task: str = "sparse modular addition",
    ) -> None:
        self.arms, self.seeds, self.tokens, self.steps = ARMS[:arms], tuple(range(seeds)), tokens, steps
        self.layers, self.heads = layers, heads
        self.evaluate_every, self.read_every, self.nan_at = evaluate_every, read_every, nan_at
        self.groups, self.visual = groups, visual
        self.step = -1
        self.started = time.monotonic()
        plain: dict[str, Any] = {
            "schema": 1,
            "task": {"kind": task},
            "model": {"kind": "visual model" if visual else "encoder"},
            "steps": steps,
            "evaluate_every": evaluate_every,
            "seeds": list(self.seeds),
            "arms": [{"name": name} for name in self.arms],
        }
        self.writer = RunWriter.create(
            folder,
            plain,
            lines={
                "accuracy": {"chance": 0.5, "majority class": 0.513},
                "loss": {"chance (ln 2)": math.log(2)},
            },
            notes=["numbers of no training"],
        )
        self._noise = np.random.default_rng(5).normal(size=(64, 64))

    def grow(self, to: int, state: str = "running") -> None:
        """Record all steps up to `to` and commit them."""
        steps = np.arange(self.step + 1, to + 1)
        for arm in range(len(self.arms)):
            losses = np.stack([self.loss(arm, steps, seed) for seed in self.seeds], axis=1)
            rough = 0.02 * np.sin(steps[:, None] * 12.9898 + np.arange(len(self.seeds)) * 78.2 + arm)
            self.writer.scalars(arm, "loss", steps, self._poisoned(arm, steps, losses + rough))
            at = steps[steps % self.evaluate_every == 0]
            if at.size:
                self._evaluations(arm, at)
            for step in steps[(steps % self.read_every == 0) | (steps == to)]:
                self._readings(arm, int(step))
        self.step = to
        seconds = (to + 1) * 0.01
        self.writer.status(state, to, seconds, "")
        self.writer.commit()

    def finish(self) -> None:
        """Record the end and fold the log, as a worker does."""
        self.writer.status("done", self.step, (self.step + 1) * 0.01, "step limit")
        self.writer.close()

    def loss(self, arm: int, steps: np.ndarray, seed: int, rows: str = "train") -> np.ndarray:
        """Cross-entropy of one run at `steps`: a sigmoid drop whose place depends on arm and seed."""
        jump = 900 - 170 * arm + 130 * math.sin(3.1 * seed + arm)
        share = 1 / (1 + np.exp(-(steps - jump) / (70 + 15 * seed)))
        wave = 0.01 * np.sin(steps / 37 + seed)
        return 0.69 * (1 - share) + (0.03 if rows == "test" else 0.012) * (1 + arm / 3) + wave * (1 - share)

    def _evaluations(self, arm: int, at: np.ndarray) -> None:
        for rows in ("train", "test"):
            losses = np.stack([self.loss(arm, at, seed, rows) for seed in self.seeds], axis=1)
            accuracy = np.clip(1 - 0.5 * losses / 0.7 + (0.02 if rows == "train" else 0), 0, 1)
            self.writer.scalars(arm, f"{rows}_loss", at, self._poisoned(arm, at, losses))
            self.writer.scalars(arm, f"{rows}_accuracy", at, accuracy)
            for name in ("depth/1", "depth/2", "operator/MIN") if self.groups and rows == "test" else ():
                self.writer.scalars(arm, f"test_accuracy/{name}", at, accuracy)

    def _poisoned(self, arm: int, steps: np.ndarray, values: np.ndarray) -> np.ndarray:
        if self.nan_at is not None and arm == 0:
            values = values.copy()
            values[steps >= self.nan_at, -1] = np.nan
        return values

    def _readings(self, arm: int, step: int) -> None:
        shape = (len(self.seeds), self.layers, self.heads)
        which = np.arange(np.prod(shape)).reshape(shape)
        done = 1 / (1 + np.exp(-(step - 700 + 120 * arm) / 150))
        entropy = np.log(self.tokens) * (1 - 0.45 * done) + 0.05 * np.sin(which + step / 90) - 0.06
        read = self.writer.reading
        share = np.full(shape, 0.9)
        read(step, arm, "attention entropy", PerHead(
            columns={"entropy": entropy, "self-attention mass": 0.1 + 0.02 * np.cos(which)}, unit="nats",
            provenance=Provenance(sample_size=32, exactness="sampled", method="mean over visible queries"),
        ))  # fmt: skip
        lower = 10 ** (-3.5 + 1.6 * done + 0.2 * np.sin(which * 2 + step / 60))
        theta = {"lower": lower, "upper": lower * 1.4, "median p_max": 0.15 + 0.4 * done + 0.01 * which,
                 "share exact": share, "share p_max > 1/2": share * 0.1}  # fmt: skip
        read(step, arm, "theta", PerHead(columns=theta, unit="1 - theta", log=True))
        kappa = 10 ** (1.6 - 0.35 * arm + 0.3 * done + 0.1 * np.sin(which + step / 200))
        columns = {"query": kappa, "key": kappa * 1.3, "value": kappa * 0.5}
        read(step, arm, "condition numbers", PerHead(columns=columns, unit="kappa", log=True))
        self._pictures(arm, step, done)

    def _pictures(self, arm: int, step: int, done: float) -> None:
        n, seeds = self.tokens, np.arange(len(self.seeds))[:, None, None]
        angle = np.linspace(0, 2 * np.pi, 2 * n, endpoint=False) + 0.3 * np.sin(step / 400)
        spread = 0.4 + 1.6 * done * (np.arange(2 * n) % 2)
        points = np.stack([spread * np.cos(angle), spread * np.sin(angle)], axis=-1)
        points = points[None] * (1 + 0.1 * seeds) + 0.15 * np.resize(self._noise[:, :2], (2 * n, 2)) * (
            1 - done
        )
        readouts = self._noise[:, 2:4] * 0.3 + done * np.where(np.arange(64) % 2, 2.0, -2.0)[:, None]
        whole = np.broadcast_to(readouts, (len(self.seeds), *readouts.shape))
        for kind, places, word, group in (
            ("token trajectories", points, "token", "token"),
            ("trajectories", whole, "sequence", "class"),
        ):
            self.writer.reading(step, arm, kind, Trajectory(
                points=places.astype(np.float32),
                labels=tuple(f"{word} {i}" for i in range(places.shape[1])),
                groups=tuple(f"{group} {i % 2}" for i in range(places.shape[1])),
                explained_variance=np.tile([0.61, 0.22], (len(self.seeds), 1)),
            ))  # fmt: skip
        if self.visual:
            self.writer.reading(step, arm, "visual weights", self.visual_weights(done))
        shape = (len(self.seeds), self.layers, self.heads, n, n)
        noise = self._noise[:n, :n] if n <= 64 else np.resize(self._noise, (n, n))
        scores = np.broadcast_to(noise, shape) + 2.5 * done * (np.arange(n) < 5)
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        tokens = tuple(str(i % 2) for i in range(n))
        self.writer.reading(step, arm, "attention map", AttentionMap(
            weights=weights.astype(np.float32), key_labels=tokens, query_labels=tokens,
            mask=np.ones((n, n), dtype=np.bool_),
        ))  # fmt: skip

    def visual_weights(self, done: float) -> SmallModel:
        """A model of width 2 that turns from one set of random weights to another."""
        n, shapes = self.tokens, [(2, 2), (self.tokens, 2), (2,), (2, 2), (8, 2), (8,), (2, 8), (2,)]
        size = sum(math.prod(shape) for shape in shapes)
        start, end = np.resize(self._noise, (2, len(self.seeds), size))
        rows = np.array([[(i * 7 + t * (i % 3 + 1)) % 2 for t in range(n)] for i in range(16)])
        return SmallModel(
            values=((1 - done) * start + done * end[:, ::-1]).astype(np.float16),
            names=("tokens", "positions", "query", "w_value.weight", "up.weight", "up.bias", "down.weight",
                   "down.bias"),
            shapes=tuple(shapes),
            tokens=tuple(map(tuple, rows.tolist())),
            classes=tuple((rows[:, :5].sum(axis=1) % 2).tolist()),
            token_labels=("0", "1"),
            class_labels=("even", "odd"),
            n_prefix=5,
        )  # fmt: skip


def main() -> None:
    """Grow a run in real time: `python -m tests.live.synthetic FOLDER [STEPS_PER_SECOND] [START]`."""
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else 100.0
    run = SyntheticRun(Path(sys.argv[1]), nan_at=1100)
    run.grow(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    while run.step < run.steps:
        time.sleep(0.25)
        run.grow(min(run.steps, run.step + max(1, round(rate / 4))))
    run.finish()


if __name__ == "__main__":
    main()
