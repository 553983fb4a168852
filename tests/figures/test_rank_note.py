"""Beside a drawn condition number stands how it came about, and the rank that was reached."""

from pathlib import Path

import numpy as np

from sandbox.figures import Asked, draw
from sandbox.foundations.readings import PerHead, Provenance
from sandbox.store import open_run
from tests.live.synthetic import SyntheticRun


def test_an_infinite_condition_number_says_the_rank_that_was_reached(tmp_path: Path) -> None:
    made = SyntheticRun(tmp_path / "a-run", steps=20, evaluate_every=10, read_every=10)
    made.grow(20)
    of_j = {"median": np.inf, "rank": 30.0, "ceiling": 32.0}
    how = Provenance(tolerance=1e-6, sample_size=4)
    columns = {name: np.full((3, 1, 1), value) for name, value in of_j.items()}
    made.writer.reading(20, 0, "jacobian", PerHead(columns=columns, unit="kappa", log=True, provenance=how))
    made.finish()
    with open_run(tmp_path / "a-run") as run:
        asked = Asked(run=run, kind="jacobian", arm=run.arms[0], seed=1, step=20, column="median")
        assert f"{run.arms[0]}, seed 1: infinite (rank 30 of 32)" in draw(asked).notes
        assert {"exact, float64", "sample size 4", "tolerance 1e-06"} <= set(draw(asked).notes)
        rank = Asked(run=run, kind="jacobian", arm=run.arms[0], seed=1, step=20, column="rank")
        assert not any("infinite" in note for note in draw(rank).notes)
