"""Maps beside one another: one step and head, one scale that nothing moves, reasons where there is none."""

from pathlib import Path

import numpy as np
import pytest

from sandbox.figures.compare_maps import map_cell, maps_figure
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import AttentionMap
from sandbox.store import Run, RunWriter, open_run

KIND, ARMS, SEEDS = "attention map", ("flat", "sharp", "none"), (3, 5)
TOKENS = ("a", "b", "c")


def attention(sharp: float, tokens: tuple[str, ...] = TOKENS, masked: bool = False) -> AttentionMap:
    """Two layers of one head each; the second layer is the first one mirrored."""
    n = len(tokens)
    rows = np.full((n, n), (1 - sharp) / n) + sharp * np.eye(n)
    weights = np.stack([rows, rows[::-1]])[None, :, None].repeat(len(SEEDS), axis=0)
    weights[1] *= 0.5
    mask = np.tri(n, dtype=np.bool_) if masked else np.ones((n, n), dtype=np.bool_)
    return AttentionMap(weights=weights.astype(np.float32), key_labels=tokens, query_labels=tokens, mask=mask)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    plain = {
        "schema": 1, "task": {"kind": "t"}, "model": {"kind": "encoder", "n_layers": 2}, "steps": 20,
        "seeds": list(SEEDS), "arms": [{"name": name} for name in ARMS],
    }  # fmt: skip
    writer = RunWriter.create(tmp_path / "made", plain)
    for step, sharp in ((0, 0.1), (10, 0.9)):
        writer.reading(step, 0, KIND, attention(0.0, masked=True))
        writer.reading(step, 1, KIND, attention(sharp))
    writer.reading(0, 2, KIND, NotApplicable("it has no attention"))
    writer.close()
    return open_run(tmp_path / "made")


def test_maps_of_one_step_and_layer_stand_on_one_scale_from_0_to_1(run: Run) -> None:
    cells = [map_cell(run, arm, KIND, 10, 3, arm) for arm in ARMS[:2]]
    figure = maps_figure(cells, 2, 1, 0, False).figure
    flat, sharp = [t for t in figure.data if t.type == "heatmap"]
    assert {flat.coloraxis, sharp.coloraxis} == {"coloraxis"}
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    np.testing.assert_allclose(sharp.z, run.reading(KIND, 10, "sharp", 3).weights[0, 1, 0])
    assert np.isnan(np.array(flat.z, dtype=float)).sum() == 3, "what is masked has no colour"
    early = maps_figure([map_cell(run, "sharp", KIND, 0, 3, "sharp")], 1, 1, 0, False).figure
    assert early.layout.coloraxis == figure.layout.coloraxis


def test_each_cell_is_of_its_own_seed(run: Run) -> None:
    cells = [map_cell(run, "sharp", KIND, 10, seed, f"seed {seed}") for seed in SEEDS]
    first, second = [np.array(t.z) for t in maps_figure(cells, 2, 0, 0, False).figure.data]
    np.testing.assert_allclose(second, 0.5 * first)


def test_where_there_is_no_map_the_reason_stands_below(run: Run) -> None:
    cells = [
        map_cell(run, arm, KIND, step, 3, arm) for arm, step in (("sharp", 0), ("none", 0), ("flat", -1))
    ]
    drawing = maps_figure(cells, 3, 0, 0, False)
    notes = " ".join(drawing.notes)
    assert (
        "none: it has no attention" in notes and "flat: Run made stores no attention map at step -1" in notes
    )
    assert len([t for t in drawing.figure.data if t.type == "heatmap"]) == 1
    only = maps_figure([cells[1]], 1, 0, 0, False)
    assert "it has no attention" in only.alt and not only.figure.data


def test_between_two_readings_the_earlier_one_is_shown_and_said(run: Run) -> None:
    cell = map_cell(run, "sharp", KIND, 9, 3, "sharp")
    assert cell.title == "sharp (step 0)" and cell.answer is not None
    np.testing.assert_array_equal(cell.answer.weights, run.reading(KIND, 0, "sharp", 3).weights)


def test_a_layer_that_is_not_there_is_brought_to_the_last_and_said(run: Run) -> None:
    drawing = maps_figure([map_cell(run, "sharp", KIND, 10, 3, "sharp")], 1, 9, 4, False)
    assert drawing.figure.layout.annotations[0].text == "sharp (layer 2, head 1)"


def test_maps_of_other_sequences_are_told(run: Run, tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path / "other", run.experiment)
    writer.reading(10, 1, KIND, attention(0.5, ("a", "c", "b")))
    writer.close()
    other = open_run(tmp_path / "other")
    cells = [map_cell(one, "sharp", KIND, 10, 3, one.id) for one in (run, other)]
    assert any("different sequences" in note for note in maps_figure(cells, 2, 0, 0, False).notes)
    assert not any("different sequences" in note for note in maps_figure(cells[:1], 1, 0, 0, False).notes)
