"""Weight selection: a model starts from evenly spaced rows and columns of a larger trained one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn

from sandbox.foundations.errors import InvalidExperiment
from sandbox.foundations.knobs import knob
from sandbox.initialization.family import Initialization, Layer

RUN_ID_OR_NONE = r"(?:(?:recorded:)?[A-Za-z0-9][A-Za-z0-9_-]{0,63})?"
WHOLE_ROWS = ("tokens.weight", "classify.weight", "classify.bias")
"""Rows that stand for tokens or classes: they must be as many as the teacher's."""
FIRST_ROWS = ("positions.weight",)

Teacher = Mapping[str, Float[np.ndarray, "..."]]
"""Trained parameters by name, of one run at one step."""


def evenly_spaced(n_teacher: int, n_student: int) -> Int[np.ndarray, " student"]:
    """floor(i n_teacher / n_student): so many entries, as far apart as can be, in order."""
    return np.arange(n_student) * n_teacher // n_student


def select(name: str, teacher: Float[np.ndarray, "..."], shape: tuple[int, ...]) -> Float[np.ndarray, "..."]:
    """The part of a teacher's parameter that a student's parameter of `shape` starts from.

    Raises InvalidExperiment where the student's is the larger one or the rows mean something else.
    """
    fits = teacher.ndim == len(shape) and all(a >= b for a, b in zip(teacher.shape, shape, strict=True))
    if not fits or (name in WHOLE_ROWS and teacher.shape[0] != shape[0]):
        what = "as many rows" if name in WHOLE_ROWS else "no more entries along any side"
        raise InvalidExperiment(
            f"Weight selection cannot take {name} of shape {shape} from the teacher's {teacher.shape}; the "
            f"model needs {what} there: choose a larger teacher of the same task, or a smaller model."
        )
    selected = teacher
    for axis, (n_teacher, n_student) in enumerate(zip(teacher.shape, shape, strict=True)):
        first = axis == 0 and name in FIRST_ROWS
        rows = np.arange(n_student) if first else evenly_spaced(n_teacher, n_student)
        selected = selected.take(rows, axis)
    return selected


@dataclass(frozen=True, kw_only=True, eq=False)
class TaughtStart(Initialization):
    """Weight selection once its teacher is known; what `WeightSelection` becomes in an arm's setting."""

    title: ClassVar[str] = "Weight selection"
    teacher: Teacher

    def overwrite(self, model: nn.Module, layers: Sequence[Layer]) -> None:
        """Set every trained parameter of the model, W_O, feed-forward, embeddings and classifier included."""
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if not parameter.requires_grad:
                    continue
                if name not in self.teacher:
                    raise InvalidExperiment(
                        f"Weight selection finds no {name} in the teacher; choose a teacher with the same "
                        "slots and at least as many layers."
                    )
                selected = select(name, self.teacher[name], tuple(parameter.shape))
                parameter.copy_(torch.from_numpy(np.array(selected, dtype=np.float32)))


@Initialization.variants.register("weight-selection")
@dataclass(frozen=True, kw_only=True)
class WeightSelection(Initialization):
    """First layers, evenly spaced rows and columns of a teacher (Xu et al. 2023, arXiv 2311.18823)."""

    title: ClassVar[str] = "Weight selection"
    sentence: ClassVar[str] = "Starts from evenly spaced rows and columns of a larger run of this sandbox."
    equation: ClassVar[str] = r"W_{ij} = W^{\mathrm{teacher}}_{\lfloor i n/m\rfloor,\lfloor j n'/m'\rfloor}"
    source: ClassVar[str] = "Xu et al., arXiv 2311.18823, section 3 (uniform element selection)"
    certainty: ClassVar[str] = "B: two accounts agree; how indices are rounded is ours"
    our_reading: ClassVar[str] = (
        "All weights are taken over, W_O, feed-forward, embeddings and classifier included, from the first "
        "layers. Rows that stand for tokens and classes must agree; the first positions are taken."
    )
    needs_teacher: ClassVar[bool] = True

    run: str = knob(
        "",
        "Teacher's run",
        pattern=RUN_ID_OR_NONE,
        help="The id of a stored run, or recorded:NAME of one that is shipped.",
    )
    arm: int = knob(0, "Teacher's arm", low=0, high=15, step=1, help="Its place in the run, from 0.")
    seed: int = knob(-1, "Teacher's seed", low=-1, high=2**31 - 1, step=1, help="-1 is the run's first.")
    step: int = knob(
        -1,
        "Teacher's step",
        low=-1,
        high=1_000_000,
        step=1,
        help="One whose weights are kept; -1 is the last.",
    )

    def overwrite(self, model: nn.Module, layers: Sequence[Layer]) -> None:
        """Refuse: the experiment looks the teacher up before it builds a model."""
        raise InvalidExperiment("Weight selection has no teacher yet; name a stored run with run=ID.")
