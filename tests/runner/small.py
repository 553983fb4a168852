"""A tiny experiment, and what two runs of it must have in common."""

from typing import Any

import numpy as np

from sandbox.diagnostics import Diagnostic
from sandbox.experiment.experiment import Experiment, load
from sandbox.store import Run

TASK = {
    "kind": "sparse modular addition",
    "length": 5,
    "n_terms": 2,
    "n_train": 96,
    "n_test": 32,
    "split": "overlapping",
}
CHEAP = {kind for kind, diagnostic in Diagnostic.variants.items() if diagnostic.cost == "cheap"}
CURVES = ("loss", "train_loss", "train_accuracy", "test_loss", "test_accuracy")


def tiny(**changes: Any) -> dict[str, Any]:
    """Two arms, two seeds, a model of a few hundred parameters; about a millisecond a step."""
    return {
        "task": TASK,
        "model": {"kind": "encoder", "d_model": 6, "n_heads": 2, "n_layers": 1, "d_ff": 10},
        "batch_size": 16,
        "steps": 24,
        "evaluate_every": 7,
        "seeds": [3, 11],
        "arms": ["standard", "spectral:shift=0.5"],
        **changes,
    }  # fmt: skip


def tiny_experiment(**changes: Any) -> Experiment:
    return load(tiny(**changes))


def assert_same_numbers(one: Run, other: Run, live: bool = False) -> None:
    """Every curve, weight and scheduled reading bit for bit; with `live` `other` may have readings more.

    Costly diagnostics are read where their time came: what both have is compared.
    """
    assert (one.arms, one.seeds) == (other.arms, other.seeds)
    for arm in one.arms:
        for name in CURVES:
            for mine, theirs in zip(one.group_curve(name, arm), other.group_curve(name, arm), strict=True):
                np.testing.assert_array_equal(mine, theirs)
        steps = one.weight_steps(arm)
        np.testing.assert_array_equal(steps, other.weight_steps(arm))
        for step in steps:
            np.testing.assert_array_equal(one.weights(int(step), arm), other.weights(int(step), arm))
        for kind in one.reading_kinds(arm):
            for column in one.reading_columns(kind, arm):
                at, values = one.reading_column(kind, column, arm)
                others_at, others = other.reading_column(kind, column, arm)
                if kind in CHEAP:
                    assert set(at) <= set(others_at) if live else list(at) == list(others_at)
                both = np.intersect1d(at, others_at)
                if len(both):
                    mine, theirs = values[np.isin(at, both)], others[np.isin(others_at, both)]
                    np.testing.assert_array_equal(mine, theirs)
    assert [(e.step, e.kind, e.arm, e.seed) for e in one.events()] == [
        (e.step, e.kind, e.arm, e.seed) for e in other.events()
    ]
