"""The encoder as the kernels are handed it: sizes, choices, and where each parameter begins in a row."""

import ctypes
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch

from sandbox.attention.causal import Causal
from sandbox.conditioning.output.preconditioned import EPSILON as OUTPUT_EPSILON
from sandbox.conditioning.output.preconditioned import Preconditioned
from sandbox.conditioning.projection.spectral import SpectralConditioning
from sandbox.conditioning.projection.spectral_svd import SpectralSvd
from sandbox.conditioning.query_key.qk_l2 import EPSILON as LENGTH_EPSILON
from sandbox.conditioning.query_key.qk_l2 import L2QueryKey, UnitLength
from sandbox.conditioning.query_key.qk_rms import EPSILON as RMS_EPSILON
from sandbox.conditioning.query_key.qk_rms import RmsQueryKey, UnitRms
from sandbox.engine.layout import Layout
from sandbox.models.encoder import Encoder
from sandbox.models.placement.deepnorm import DeepNorm, residual_gain
from sandbox.models.placement.family import EPSILON as NORM_EPSILON
from sandbox.models.placement.family import NormalizedPlacement
from sandbox.models.placement.pre_ln import PreLN
from sandbox.tasks import Task

PRE_NORM, POST_NORM, NO_NORM = range(3)
LAYER_NORM, RMS_NORM = range(2)
DIRECT, UNIT_ROWS, UNIT_ROWS_DIFFERENTIATED = range(3)
AS_PROJECTED, UNIT_LENGTH, UNIT_RMS = range(3)
READ_OUTS = ("mean", "first", "last")
NONE = -1  # offset of a parameter that a model does not have

OF_LAYER = (
    "attention.w_query.weight",
    "attention.w_key.weight",
    "attention.w_value.weight",
    "attention.w_out.weight",
    "feed_forward.0.weight",
    "feed_forward.0.bias",
    "feed_forward.2.weight",
    "feed_forward.2.bias",
    "norm_attention.weight",
    "norm_attention.bias",
    "norm_feed_forward.weight",
    "norm_feed_forward.bias",
    "attention.normalize_query.gain",
    "attention.normalize_key.gain",
    "attention.scale.scale",
    *(
        f"attention.correct_{which}.{part}"
        for which in ("query", "key", "value")
        for part in ("correction", "gamma", "u", "v")
    ),
)
"""Parameters of a layer, in the order of the structure."""

OF_MODEL = (
    "tokens.weight",
    "positions.weight",
    "final.weight",
    "final.bias",
    "classify.weight",
    "classify.bias",
)


SIZES = ("n_tokens", "vocab", "n_classes", "d", "heads", "layers", "d_ff", "pad_token", "size")


class EncoderLayerStructure(ctypes.Structure):
    """Where the parameters of one layer begin."""

    _fields_: ClassVar[Sequence[Any]] = [(name.replace(".", "_"), ctypes.c_int32) for name in OF_LAYER]


class EncoderModelStructure(ctypes.Structure):
    """Sizes, choices and offsets of an encoder; its layers and corrections stay alive with it."""

    _fields_: ClassVar[Sequence[Any]] = [
        *(
            (name, ctypes.c_int32)
            for name in (
                "n_tokens",
                "vocab",
                "n_classes",
                "d",
                "heads",
                "layers",
                "d_ff",
                "pad_token",
                "size",
            )
        ),
        *((name.replace(".", "_"), ctypes.c_int32) for name in OF_MODEL),
        *((name, ctypes.c_int32) for name in ("placement", "norm", "causal", "read_out", "output")),
        *((name, ctypes.c_int32) for name in ("query_key", "lifted_blocks", "lifted_every")),
        *((name, ctypes.c_float) for name in ("scale", "identity", "norm_epsilon", "output_epsilon")),
        *((name, ctypes.c_float) for name in ("query_gain", "key_gain", "query_key_epsilon")),
        ("corrections", ctypes.c_void_p * 3),
        ("of_layer", ctypes.POINTER(EncoderLayerStructure)),
    ]
    kept: tuple[Any, ...]

    @classmethod
    def of(cls, model: Encoder, task: Task, layout: Layout) -> "EncoderModelStructure":
        """The structure of a model whose every slot the kernels know."""
        # The one trained gain of queries of unit length stands where a gain per channel would.
        names = (name.replace("normalize_query.factor", "normalize_query.gain") for name in layout.names)
        offset = dict(zip(names, layout.offsets, strict=True))
        layers = (EncoderLayerStructure * model.n_layers)(
            *(
                EncoderLayerStructure(*(offset.get(f"blocks.{index}.{name}", NONE) for name in OF_LAYER))
                for index in range(model.n_layers)
            )
        )
        corrections = _corrections(model)
        pad = NONE if task.pad_token is None else task.pad_token
        sizes = (task.n_tokens, task.vocab_size, task.n_classes, model.d_model, model.n_heads)
        structure = cls(
            *(*sizes, model.n_layers, model.d_ff, pad, layout.trained_size),
            *(offset.get(name, NONE) for name in OF_MODEL),
            *(_placement(model), _norm(model), isinstance(model.mechanism, Causal)),
            *(READ_OUTS.index(model.readout), _output(model), _query_key(model), *_lifted(model)),
            *(float(model.temperature.build(model.d_model // model.n_heads)()), _identity(model)),
            *(NORM_EPSILON, OUTPUT_EPSILON, *(_fixed_gain(model, which) for which in ("query", "key"))),
            LENGTH_EPSILON if isinstance(model.qk, L2QueryKey) else RMS_EPSILON,
            (ctypes.c_void_p * 3)(*(None if c is None else c.ctypes.data for c in corrections)),
            layers,
        )
        structure.kept = (layers, *corrections)
        return structure


def _placement(model: Encoder) -> int:
    if not isinstance(model.placement, NormalizedPlacement):
        return NO_NORM
    return PRE_NORM if isinstance(model.placement, PreLN) else POST_NORM


def _norm(model: Encoder) -> int:
    return RMS_NORM if getattr(model.placement, "norm", "layer norm") == "rms norm" else LAYER_NORM


def _identity(model: Encoder) -> float:
    return residual_gain(model.n_layers) if isinstance(model.placement, DeepNorm) else 1.0


def _output(model: Encoder) -> int:
    if not isinstance(model.output, Preconditioned):
        return DIRECT
    return UNIT_ROWS_DIFFERENTIATED if model.output.differentiate else UNIT_ROWS


def _query_key(model: Encoder) -> int:
    if isinstance(model.qk, L2QueryKey):
        return UNIT_LENGTH
    return UNIT_RMS if isinstance(model.qk, RmsQueryKey) else AS_PROJECTED


def _fixed_gain(model: Encoder, which: str) -> float:
    """What normalized queries or keys are multiplied by where that is not trained."""
    module = model.qk.build(model.d_model // model.n_heads, which)
    gain: float | torch.Tensor = 1.0
    if isinstance(module, UnitLength):
        gain = module.factor
    elif isinstance(module, UnitRms):
        gain = module.gain
    return 1.0 if isinstance(gain, torch.Tensor) else gain


def _lifted(model: Encoder) -> tuple[int, int]:
    """Matrices of a projection that get an SVD, none: 0, and the steps from one SVD to the next."""
    if not isinstance(model.projection, SpectralSvd):
        return 0, 1
    return model.n_heads if model.projection.heads == "each head" else 1, model.projection.every


def _corrections(model: Encoder) -> list[np.ndarray | None]:
    """What a fixed correction adds to each projection's weight, (d_model, d_model), None for nothing."""
    if not isinstance(model.projection, SpectralConditioning):
        return [None, None, None]
    zeros = torch.zeros((model.d_model, model.d_model))
    found: list[np.ndarray | None] = []
    for which in ("query", "key", "value"):
        with torch.no_grad():
            added = model.projection.build(model.d_model, model.n_heads, which)(zeros).numpy()
        found.append(np.ascontiguousarray(added, np.float32) if added.any() else None)
    return found
