"""Sharpness: the largest eigenvalue of the loss's Hessian, with the residual that says how good it is."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.replay import module_of, replay, trained_names, weights_of
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.lanczos import SpectrumBracket, lanczos_ends

COLUMNS = ("sharpness", "residual", "smallest eigenvalue", "residual of the smallest")


@dataclass(frozen=True)
class LossHessian:
    """The Hessian of the mean cross-entropy at some weights, as a product with vectors; one graph for all."""

    parameters: list[Tensor]
    gradient: Tensor

    @classmethod
    def at(
        cls,
        module: nn.Module,
        weights: Mapping[str, Tensor],
        trained: Collection[str],
        tokens: Tensor,
        targets: Tensor,
    ) -> "LossHessian":
        """Record the gradient's graph on these rows; only the `trained` weights are variables."""
        leaves = {n: v.detach().requires_grad_() if n in trained else v for n, v in weights.items()}
        logits = functional_call(module, leaves, (tokens,))
        loss = nn.functional.cross_entropy(logits, targets)
        parameters = [value for name, value in leaves.items() if name in trained]
        gradients = torch.autograd.grad(loss, parameters, create_graph=True, materialize_grads=True)
        return cls(parameters, torch.cat([gradient.flatten() for gradient in gradients]))

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """Hessian times vector."""
        found = torch.autograd.grad(
            self.gradient @ torch.from_numpy(vector),
            self.parameters,
            retain_graph=True,
            materialize_grads=True,
        )
        return torch.cat([part.flatten() for part in found]).numpy()


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
        n_rows = max(self.tokens // view.probe.tokens.shape[1], 1)
        found = [self._of_run(module, view, run, n_rows) for run in range(len(view.seeds))]
        table = np.array(
            [[f.largest, f.residual_largest, f.smallest, f.residual_smallest] for f in found],
            dtype=np.float64,
        )
        return PerHead(
            columns={name: table[:, i, None, None] for i, name in enumerate(COLUMNS)},
            unit=self.unit,
            per="run",
            provenance=Provenance(
                method=f"Lanczos, {self.products} Hessian products from a fixed start, reorthogonalized",
                sample_size=n_rows,
                exactness="estimated",
                note=(
                    f"first {n_rows} training rows of each seed, or all; an eigenvalue lies within the "
                    "residual of each value, and none is above the largest eigenvalue"
                ),
            ),
        )

    def _of_run(self, module: nn.Module, view: SnapshotView, run: int, n_rows: int) -> SpectrumBracket:
        data = view.setting.task.data(view.seeds[run], view.setting.reference_start)
        tokens = torch.from_numpy(data.train_tokens[:n_rows].astype(np.int64))
        targets = torch.from_numpy(data.train_targets[:n_rows].astype(np.int64))
        hessian = LossHessian.at(module, weights_of(view, run), trained_names(view), tokens, targets)
        # A fixed start keeps the answer a function of the weights; its direction is as good as any.
        start = np.random.default_rng(0).standard_normal(len(hessian.gradient))
        return lanczos_ends(hessian, start, self.products)
