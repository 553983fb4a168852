"""Sharpness: the largest eigenvalue of the loss's Hessian, with the residual that says how good it is."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.hessian import LossHessian, run_stacks, whole_vectors
from sandbox.diagnostics.replay import module_of, replay, trained_names
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.lanczos import lanczos_ends

COLUMNS = ("sharpness", "residual", "smallest eigenvalue", "residual of the smallest")


@Diagnostic.variants.register("sharpness")
@dataclass(frozen=True, kw_only=True)
class Sharpness(Diagnostic):
    """Both ends of the Hessian's spectrum on training rows, by Lanczos."""

    title: ClassVar[str] = "Sharpness"
    sentence: ClassVar[str] = (
        "How steeply the loss bends in its steepest direction; plain gradient descent with step eta becomes "
        "unstable above 2 / eta."
    )
    equation: ClassVar[str] = r"\lambda_{\max}(\nabla^2_\theta L),\quad |H y - \lambda y| = |\beta_k s_k|"
    unit: ClassVar[str] = "eigenvalue"
    source: ClassVar[str] = "Cohen et al., arXiv 2103.00065 (sharpness); Lanczos 1950"
    certainty: ClassVar[str] = "A: the definition; B: Lanczos with its residual"
    our_reading: ClassVar[str] = (
        "Of the plain Hessian on the first training rows, not preconditioned by Adam's second moments, so "
        "2 / eta is no threshold for Adam."
    )
    cost: ClassVar[str] = "costly"
    usual_ms: ClassVar[float] = 255

    tokens: int = knob(
        1024,
        "Training tokens",
        low=128,
        high=65536,
        step=128,
        help="In the first training rows, on which the loss is taken.",
        expert=True,
    )
    products: int = knob(
        12, "Lanczos steps", low=4, high=64, step=1, help="Hessian products per seed.", expert=True
    )

    def read(self, view: SnapshotView) -> Answer:
        """Per run: "sharpness" with its "residual", and the smallest eigenvalue with its own."""
        module = module_of(view)
        if isinstance(module, NotApplicable):
            return module
        checked = replay(view, 1)
        if isinstance(checked, NotApplicable):
            return checked
        tokens, targets = _training_rows(view, -(-self.tokens // view.probe.tokens.shape[1]))
        n_runs, n_rows = targets.shape
        table = np.empty((n_runs, len(COLUMNS)))
        floats_per_row = sum(int(np.prod(values.shape[2:])) for values in view.trace.values())
        for runs in run_stacks(n_runs, n_rows, floats_per_row):
            hessian = LossHessian(
                module, *_weights(view, runs), torch.from_numpy(tokens[runs]), torch.from_numpy(targets[runs])
            )
            # A fixed start keeps the answer a function of the weights; its direction is as good as any.
            start = np.random.default_rng(0).standard_normal(hessian.shape[1])
            found = lanczos_ends(hessian, np.broadcast_to(start, hessian.shape).copy(), self.products)
            ends = (found.largest, found.residual_largest, found.smallest, found.residual_smallest)
            table[runs] = np.stack(ends, axis=1)
        return PerHead(
            columns={name: table[:, i, None, None] for i, name in enumerate(COLUMNS)},
            unit=self.unit,
            per="run",
            provenance=Provenance(
                precision="float64, of weights trained in float32",
                method=f"Lanczos, {self.products} Hessian products from a fixed start, reorthogonalized",
                sample_size=n_rows,
                exactness="estimated",
                note=(
                    f"first {n_rows} training rows of each seed; an eigenvalue lies within the residual of "
                    "each value, and none is above the largest eigenvalue"
                ),
            ),
        )


def _training_rows(view: SnapshotView, n_wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """The first training rows of every seed: tokens (run, row, token) and targets (run, row)."""
    setting = view.setting
    data = [setting.task.data(seed, setting.reference_start) for seed in view.seeds]
    n_rows = whole_vectors(n_wanted, len(data[0].train_targets))
    tokens = np.stack([part.train_tokens[:n_rows] for part in data], dtype=np.int64)
    return tokens, np.stack([part.train_targets[:n_rows] for part in data], dtype=np.int64)


def _weights(view: SnapshotView, runs: list[int]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The trained and the carried weights of these runs in float64, by name, each (run, ...)."""
    trained = trained_names(view)
    rows = {n: torch.from_numpy(values[runs].astype(np.float64)) for n, values in view.weights.items()}
    return (
        {name: value for name, value in rows.items() if name in trained},
        {name: value for name, value in rows.items() if name not in trained},
    )
