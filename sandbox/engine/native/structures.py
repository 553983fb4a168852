"""What the kernels are handed: the structures of native/layout.h, filled from arrays that stay alive."""

import ctypes
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int32, UInt8

from sandbox.engine.layout import Layout
from sandbox.engine.native.encoder_structure import EncoderModelStructure
from sandbox.engine.setting import GroupSetting
from sandbox.models.encoder import Encoder
from sandbox.models.visual_model import VisualModel
from sandbox.tasks import Task

VISUAL_PARAMETERS = (
    "tokens",
    "positions",
    "query",
    "w_value.weight",
    "up.weight",
    "up.bias",
    "down.weight",
    "down.bias",
)
"""In the order in which the structure names their offsets."""


def address(array: np.ndarray) -> int:
    """Where the numbers of an array begin."""
    return array.ctypes.data


class VisualModelStructure(ctypes.Structure):
    """Sizes of the visual model, and where each parameter begins in a row."""

    _fields_: ClassVar[Sequence[Any]] = [
        (name, ctypes.c_int32)
        for name in ("n_tokens", "vocab", "n_embeddings", "d", "d_ff", "size", *VISUAL_PARAMETERS)
    ]

    @classmethod
    def of(cls, model: VisualModel, task: Task, layout: Layout) -> "VisualModelStructure":
        """The structure of a model on a task."""
        offset = dict(zip(layout.names, layout.offsets, strict=True))
        sizes = (task.n_tokens, task.vocab_size, model.n_embeddings, model.d_model, model.d_ff)
        return cls(*sizes, layout.trained_size, *(offset[name] for name in VISUAL_PARAMETERS))


def model_structure(setting: GroupSetting, layout: Layout) -> tuple[str, ctypes.Structure]:
    """The word of a model in the kernels' names, and its structure."""
    if isinstance(setting.model, Encoder):
        return "encoder", EncoderModelStructure.of(setting.model, setting.task, layout)
    assert isinstance(setting.model, VisualModel)
    return "visual", VisualModelStructure.of(setting.model, setting.task, layout)


class DataStructure(ctypes.Structure):
    """Rows of all runs: one set per run, or one that all share."""

    _fields_: ClassVar[Sequence[Any]] = [
        ("tokens", ctypes.c_void_p),
        ("targets", ctypes.c_void_p),
        ("tokens_apart", ctypes.c_int64),
        ("targets_apart", ctypes.c_int64),
    ]
    kept: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls, tokens: UInt8[np.ndarray, "set row token"], targets: Int32[np.ndarray, "set row"]
    ) -> "DataStructure":
        """The structure; it keeps both arrays alive."""
        apart = (tokens[0].size, targets[0].size) if len(tokens) > 1 else (0, 0)
        structure = cls(address(tokens), address(targets), *apart)
        structure.kept = (tokens, targets)
        return structure


class RowsStructure(ctypes.Structure):
    """Theta and both moments of some runs that stand together."""

    _fields_: ClassVar[Sequence[Any]] = [
        ("theta", ctypes.c_void_p),
        ("mean", ctypes.c_void_p),
        ("square", ctypes.c_void_p),
        ("n_runs", ctypes.c_int64),
        ("stride", ctypes.c_int64),
    ]


class AdamStructure(ctypes.Structure):
    """How the updates of a stretch are scaled."""

    _fields_: ClassVar[Sequence[Any]] = [
        *((name, ctypes.c_void_p) for name in ("step_size", "epsilon", "shrink")),
        *((name, ctypes.c_float) for name in ("new_mean", "keep_square", "new_square")),
        *((name, ctypes.c_float) for name in ("penalty", "clip_norm")),
    ]
    kept: np.ndarray


class StretchStructure(ctypes.Structure):
    """Updates within one epoch: which rows, how many, and where their losses go."""

    _fields_: ClassVar[Sequence[Any]] = [
        ("order", ctypes.c_void_p),
        ("order_apart", ctypes.c_int64),
        ("n_steps", ctypes.c_int64),
        ("batch", ctypes.c_int64),
        ("first_step", ctypes.c_int64),
        ("scales", ctypes.c_void_p),
        ("losses", ctypes.c_void_p),
        ("losses_apart", ctypes.c_int64),
        ("gradient", ctypes.c_void_p),
        ("before", ctypes.c_void_p),
    ]
