"""Instant knobs: what can be turned while all is trained anew, how far, and the experiment that it makes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sandbox.foundations.errors import InvalidKnob

FIRST_EPOCHS, EPOCHS = 100, 300
"""Epochs that are trained while a knob is turned, and as soon as it rests."""
EVERY_EPOCHS = 2
"""Epochs between two evaluations."""
MANY_SEEDS, MANY_EPOCHS = 100, 1000
"""What the histogram of success trains."""
SOLVED = 0.98
"""Held-out accuracy from which a seed has solved the task (Odonnat, Bouaziz & Cabannes, arXiv 2410.24050)."""
ROWS = 2048
"""Rows of the training set, and of the test set, as published."""

TWENTIETHS = (1.0, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2.0, 2.2, 2.4, 2.7, 3.0, 3.3, 3.6, 3.9, 4.3, 4.7, 5.1, 5.6,
              6.2, 6.8, 7.5, 8.2, 9.1)  # fmt: skip
"""A decade in 24 nearly equal ratios, of two digits each (the E24 series, IEC 60063)."""


@dataclass(frozen=True, kw_only=True)
class InstantKnob:
    """A knob with the values that its slider stops at; a link may say any other between the ends."""

    name: str
    label: str
    group: str
    place: str
    """Its place in the plain form of an experiment; the number of seeds has none."""
    default: float
    stops: tuple[float, ...]
    whole: bool
    help: str

    @property
    def low(self) -> float:
        """The least value."""
        return self.stops[0]

    @property
    def high(self) -> float:
        """The greatest value."""
        return self.stops[-1]

    def check(self, value: Any) -> float:
        """The value as the knob's own kind of number; InvalidKnob where it is none between the ends."""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not self.low <= value <= self.high or (self.whole and value != int(value)):
            kind = f"{'whole ' if self.whole else ''}number between {self.low:g} and {self.high:g}"
            raise InvalidKnob(f"{self.label} is {repr(value)[:40]}; here it is a {kind}.")
        return int(value) if self.whole else float(value)


def _decades(low: int, high: int, last: float = 1.0) -> tuple[float, ...]:
    """The stops from ten to the power of `low` up to `last` times ten to the power of `high`."""
    found = [float(f"{step}e{decade}") for decade in range(low, high + 1) for step in TWENTIETHS]
    return tuple(value for value in found if value <= float(f"{last}e{high}"))


def _to(low: int, high: int) -> tuple[float, ...]:
    return tuple(range(low, high + 1))


KNOBS = (
    InstantKnob(
        name="learning_rate", label="Learning rate", group="Optimizer", place="optimizer.learning_rate",
        default=0.003, stops=_decades(-4, -1, 3.0), whole=False, help="The size of a step of Adam.",
    ),
    InstantKnob(
        name="weight_decay", label="Weight decay", group="Optimizer", place="optimizer.weight_decay",
        default=0.0, stops=(0.0, *_decades(-3, 0)), whole=False,
        help="How fast weights shrink, in learning rates (AdamW).",
    ),
    InstantKnob(
        name="batch_size", label="Batch size", group="Optimizer", place="batch_size",
        default=32, stops=(16, 32, 64, 128, 256, 512), whole=True,
        help="Rows of one step; an epoch has 2048 rows.",
    ),
    InstantKnob(
        name="d_model", label="Width d", group="Model", place="model.d_model",
        default=2, stops=_to(2, 8), whole=True, help="2 is drawn as it is, more in a fixed plane.",
    ),
    InstantKnob(
        name="d_ff", label="Feed-forward width", group="Model", place="model.d_ff",
        default=32, stops=(2, 4, 6, 8, 12, 16, 24, 32, 48, 64), whole=True,
        help="Neurons of the feed-forward part.",
    ),
    InstantKnob(
        name="n_embeddings", label="Embeddings", group="Model", place="model.n_embeddings",
        default=2, stops=_to(2, 12), whole=True,
        help="At least the modulus; tokens and answers are read off the same rows.",
    ),
    InstantKnob(
        name="start_scale", label="Starting scale", group="Model", place="model.start_scale",
        default=1.0, stops=_decades(-1, 0, 5.1), whole=False,
        help="A factor on every starting weight; 1 is the published start.",
    ),
    InstantKnob(
        name="modulus", label="Modulus p", group="Task", place="task.modulus",
        default=2, stops=_to(2, 8), whole=True, help="Tokens are 0 to p - 1.",
    ),
    InstantKnob(
        name="length", label="Length", group="Task", place="task.length",
        default=12, stops=_to(3, 24), whole=True, help="Tokens of a sequence.",
    ),
    InstantKnob(
        name="n_terms", label="Terms k", group="Task", place="task.n_terms",
        default=3, stops=_to(1, 24), whole=True, help="How many leading tokens count; 5 as published.",
    ),
    InstantKnob(
        name="n_seeds", label="Seeds", group="Seeds", place="",
        default=5, stops=_to(1, 8), whole=True, help="Seeds 0, 1, 2 and so on.",
    ),
)  # fmt: skip
"""All of them, in the order in which they stand on the page."""

Knobs = dict[str, float]


def defaults() -> Knobs:
    """The published setting of the visual model with five seeds, and three terms: some solve that at once."""
    return {knob.name: knob.default for knob in KNOBS}


def check_knobs(given: object) -> Knobs:
    """A checked value for every knob, what is not given at its default.

    Raises InvalidKnob, in one sentence, for whatever cannot be trained at once.
    """
    if not isinstance(given, Mapping):
        raise InvalidKnob(f"The knobs are {repr(given)[:40]}; they must be names with numbers.")
    known = {knob.name: knob for knob in KNOBS}
    strange = next((name for name in given if name not in known), None)
    if strange is not None:
        raise InvalidKnob(f"There is no knob {str(strange)[:40]!r}; there are {', '.join(known)}.")
    found = {name: knob.check(given.get(name, knob.default)) for name, knob in known.items()}
    if found["n_terms"] > found["length"]:
        raise InvalidKnob(
            f"Terms k is {found['n_terms']} but the sequence has only {found['length']} tokens; "
            "lower k or raise the length."
        )
    if found["n_embeddings"] < found["modulus"]:
        raise InvalidKnob(
            f"There are {found['n_embeddings']} embeddings for {found['modulus']} tokens; "
            "raise the embeddings to the modulus."
        )
    return found


def steps_per_epoch(knobs: Knobs) -> int:
    """Optimizer updates of one epoch."""
    return ROWS // int(knobs["batch_size"])


def experiment_plain(knobs: Knobs, epochs: int = EPOCHS, n_seeds: int | None = None) -> dict[str, Any]:
    """The experiment that the knobs make, in plain form: what the Sandbox trains to the same numbers."""
    per_epoch = steps_per_epoch(knobs)
    plain: dict[str, Any] = {
        "schema": 1,
        "task": {
            "kind": "sparse modular addition", "n_train": ROWS, "n_test": ROWS, "split": "overlapping",
        },
        "model": {"kind": "visual model"},
        "optimizer": {"kind": "adamw"},
        "steps": epochs * per_epoch,
        "evaluate_every": EVERY_EPOCHS * per_epoch,
        "reference_start": True,
        "seeds": list(range(n_seeds or int(knobs["n_seeds"]))),
        "arms": ["standard"],
    }  # fmt: skip
    for knob in KNOBS:
        if knob.place:
            part, _, key = knob.place.rpartition(".")
            (plain[part] if part else plain)[key] = knobs[knob.name]
    return plain


def declared() -> list[dict[str, Any]]:
    """What the browser needs to know of each knob, as JSON values."""
    return [asdict(knob) for knob in KNOBS]
