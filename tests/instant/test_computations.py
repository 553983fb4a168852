"""Curves and the histogram: the numbers of an ordinary run of the same experiment, told piece by piece."""

import numpy as np
import pytest

from sandbox.diagnostics.visual_weights import PARTS
from sandbox.engine.native.group import NativeGroup
from sandbox.experiment.experiment import load
from sandbox.runner.instant import histogram as of_many
from sandbox.runner.instant.curves import SERIES, Curves, Teams
from sandbox.runner.instant.histogram import Histogram
from sandbox.runner.instant.knobs import check_knobs, experiment_plain
from sandbox.runner.instant.team import Team

KNOBS = check_knobs({"batch_size": 512, "d_ff": 8, "n_seeds": 3})
"""Four steps an epoch."""


def told(
    curves: Curves, rows: int = 0, frames: int = 0, seed: int = 0
) -> tuple[dict, np.ndarray, np.ndarray]:
    """The head, the series (name, seed, point) and the pictures (picture, number) of a message."""
    head, numbers = curves.told(rows, frames, seed)
    n_points, n_seeds = len(head["epochs"]), len(head["seeds"])
    cut = 4 * len(SERIES) * n_seeds * n_points
    series = np.frombuffer(numbers[:cut], "<f4").reshape(len(SERIES), n_seeds, n_points)
    return head, series, np.frombuffer(numbers[cut:], "<f2").reshape(len(head["frames"]), head["size"])


def test_the_curves_are_those_of_the_experiment_that_the_sandbox_gets() -> None:
    curves = Curves(1, KNOBS, Teams(threads=2))
    for _ in range(3):
        curves.turn()
    experiment = load(experiment_plain(KNOBS))
    group = NativeGroup(experiment.setting("standard"), experiment.seeds)
    head, series, pictures = told(curves, seed=2)
    assert head["epochs"] == [0, 2, 4, 6] and head["frames"] == [0, 4]
    for point, epoch in enumerate(head["epochs"]):
        group.advance(epoch * curves.per_epoch - group.step)
        metrics = group.evaluate()
        expected = np.stack([metrics[name] for name in SERIES]).astype(np.float32)
        np.testing.assert_array_equal(series[:, :, point], expected)
        if epoch == 4:
            parts = group.layout.unflatten(group.theta())
            row = np.concatenate([parts[name][2].ravel() for name in PARTS])
            np.testing.assert_array_equal(pictures[1], row.astype(np.float16))


def test_a_kept_group_trains_to_the_bits_of_a_fresh_one_after_any_other_value() -> None:
    teams = Teams(threads=2)
    wild = Curves(1, KNOBS | {"learning_rate": 0.3, "weight_decay": 1.0}, teams)
    for _ in range(3):
        wild.turn()
    again, fresh = Curves(2, KNOBS, teams), Curves(3, KNOBS, Teams(threads=1))
    assert again.team is wild.team
    for curves in (again, fresh):
        for _ in range(4):
            curves.turn()
    np.testing.assert_array_equal(told(again)[1], told(fresh)[1])
    np.testing.assert_array_equal(again.team.theta(), fresh.team.theta())


def test_what_is_told_in_pieces_is_what_is_told_at_once() -> None:
    curves = Curves(1, KNOBS, Teams(threads=1))
    pieces, rows, frames = [], 0, 0
    for _ in range(5):
        curves.turn()
        head, series, pictures = told(curves, rows, frames)
        rows, frames = rows + len(head["epochs"]), frames + len(head["frames"])
        pieces.append((series, pictures))
    _, series, pictures = told(curves)
    np.testing.assert_array_equal(np.concatenate([piece[0] for piece in pieces], axis=2), series)
    np.testing.assert_array_equal(np.concatenate([piece[1] for piece in pieces]), pictures)


def test_the_pictures_know_names_shapes_and_the_levels_of_guessing() -> None:
    meta = Curves(1, check_knobs({"modulus": 3, "n_embeddings": 4}), Teams(threads=1)).meta()
    assert meta["shapes"][0] == [4, 2] and meta["token_labels"] == ["0", "1", "2"] and meta["n_prefix"] == 3
    assert sum(int(np.prod(shape)) for shape in meta["shapes"]) == 196 + 4
    assert meta["lines"]["accuracy"]["chance"] == pytest.approx(1 / 3)


def test_the_histogram_ends_every_seed_where_it_would_end_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_many, "MANY_SEEDS", 5)
    monkeypatch.setattr(of_many, "MANY_EPOCHS", 20)
    monkeypatch.setattr(of_many, "LOOK_EVERY", 10)
    many, seen = Histogram(7, KNOBS, threads=2), []
    assert many.told()["n"] == 0 and (many.told()["low"], many.told()["high"]) == (0.0, 1.0)
    while not many.done:
        if many.turn():
            seen.append(many.told()["n"])
    assert seen == [4, 5]
    found = many.told()
    setting = load(experiment_plain(KNOBS, 20, 5)).setting("standard")
    alone = NativeGroup(setting, [4])
    alone.advance(20 * many.per_epoch)
    assert found["accuracies"][4] == pytest.approx(float(alone.evaluate()["test_accuracy"][0]), abs=1e-5)
    assert found["solved"] == sum(value >= 0.98 for value in found["accuracies"])
    assert found["share"] == 1.0 and found["done"] and 0 <= found["low"] <= found["high"] <= 1


class Scripted(Team):
    """A team whose held-out accuracies are written down: one row for each look."""

    def __init__(self, looks: list[list[float]]) -> None:
        self.looks = iter(looks)

    def advance(self, steps: int) -> None:
        """Nothing is trained."""

    def evaluate(self) -> dict[str, np.ndarray]:
        return {"test_accuracy": np.array(next(self.looks))}


def test_only_a_seed_that_ends_solved_has_an_epoch_of_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_many, "MANY_SEEDS", 4)
    monkeypatch.setattr(of_many, "MANY_EPOCHS", 30)
    monkeypatch.setattr(of_many, "LOOK_EVERY", 10)
    # Solved and lost, never solved, solved and lost and solved again, solved in the end.
    looks = [[0.99, 0.5, 0.98, 0.5], [1.0, 0.5, 0.7, 0.97], [0.9, 0.5, 0.99, 1.0]]
    monkeypatch.setattr(of_many, "Team", lambda *_: Scripted(looks))
    many = Histogram(1, KNOBS, threads=2)
    while not many.done:
        many.turn()
    found = many.told()
    assert found["solved_at"] == [None, None, 10, 30]
    assert found["solved"] == sum(epoch is not None for epoch in found["solved_at"]) == 2
