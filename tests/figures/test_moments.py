"""Figures of one moment: tables by layer, certificates side by side, trees, phases; each as its CSV says."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.figures import (
    Moment,
    happenings_figure,
    layers_figure,
    plotted_csv,
    side_by_side_figure,
    tree_figure,
)
from sandbox.figures.expression_tree import grown
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import PerHead, Table
from sandbox.store import Run, open_run
from tests.live.synthetic import SyntheticRun

TOKENS = ("[MAX", "1", "[MIN", "2", "3", "]", "]")
RECEIVED = np.array([0.4, 0.1, 0.15, 0.05, 0.1, 0.1, 0.1])


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made = SyntheticRun(tmp_path / "a-run", arms=2, layers=2, steps=100)
    made.grow(100)
    shape, whole = (3, 2, 1), np.arange(6.0).reshape(3, 2, 1)
    norms = {"bound": whole + 0.123456, "contracts": (whole > 2) * 1.0}
    norms["bound"][0, 0] = np.nan
    units = {"contracts": "1 if below 1"}
    made.writer.reading(40, 0, "layer norms", PerHead(columns=norms, unit="norm", units=units))
    kinds = {"lower": 0.5, "upper": 0.51, "LPT": 0.48, "LPT, most missed": 0.2, "sorted": 0.3}
    columns = {name: np.full(shape, value) for name, value in kinds.items()}
    made.writer.reading(40, 0, "theta certificates", PerHead(columns=columns, unit="theta"))
    made.writer.reading(40, 1, "theta certificates", NotApplicable("No rows."))
    cells = np.broadcast_to(RECEIVED[:, None], (3, 1, 1, 7, 1)).astype(np.float32)
    made.writer.reading(
        40, 0, "expression", Table(cells=cells, rows=TOKENS, columns=("received",), unit="attention")
    )
    answers = np.broadcast_to([[0.25, 0.75]], (3, 1, 1, 1, 2)).astype(np.float32)
    made.writer.reading(40, 0, "probe answers", Table(
        cells=answers, rows=(" ".join(TOKENS),), columns=("0", "1"), unit="probability", truth=(0,),
    ))  # fmt: skip
    made.writer.event(0, "phase", "plateau: it stands <still>", 0, 1)
    made.writer.event(30, "phase", "fitting: it falls", 0, 1)
    made.writer.event(60, "spike", "min |xi| is small", 1, 2)
    made.finish()
    with open_run(tmp_path / "a-run") as opened:
        yield opened


def table_of(figure: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(plotted_csv(figure))))


def moment(run: Run, kind: str, *columns: str, **more: Any) -> Moment:
    labels = [(f"{kind}/{column}", column) for column in columns]
    chosen: dict[str, Any] = {"arm": "standard", "seed": 1, "step": 40}
    return Moment(run=run, kind=kind, columns=labels, **(chosen | more))


def test_a_table_by_layer_holds_the_readings_numbers_and_answers_in_words(run: Run) -> None:
    drawing = layers_figure(moment(run, "layer norms", "bound", "contracts", "absent"))
    rows = {(row["y"], row["x"]): float(row["z"]) for row in table_of(drawing.figure)}
    assert rows == {
        ("bound", "layer 1"): 2.123456, ("bound", "layer 2"): 3.123456,
        ("contracts", "layer 1"): 0.0, ("contracts", "layer 2"): 1.0,
    }  # fmt: skip
    assert drawing.figure.data[0].text[1] == ["✕ no", "✓ yes"]
    assert drawing.figure.data[0].textfont.color == drawing.figure.layout.font.color
    assert drawing.notes[0] == "arm standard, seed 1, step 40"
    assert "bound: 2.123, 3.123; contracts: ✕ no, ✓ yes" in drawing.alt


def test_a_number_that_is_none_is_written_in_its_cell(run: Run) -> None:
    drawing = layers_figure(moment(run, "layer norms", "bound", seed=0))
    words = drawing.figure.data[1]
    assert (list(words.x), list(words.y), list(words.text)) == (["layer 1"], ["bound"], ["NaN"])


def test_certificates_stand_beside_the_bracket_with_what_they_miss(run: Run) -> None:
    names = ("lower", "upper", "LPT", "LPT, most missed", "sorted")
    drawing = side_by_side_figure(moment(run, "theta certificates", *names, layer=9, head=9))
    bracket, marks = drawing.figure.data
    assert list(drawing.figure.layout.yaxis.categoryarray) == ["LPT", "sorted"]
    assert set(bracket.x) == {0.5, 0.51} and list(bracket.y) == ["LPT", "sorted", "sorted", "LPT"]
    assert list(marks.x) == [0.48, 0.3] and list(marks.error_x.arrayminus) == [0.2, 0.0]
    assert "the value lies in [0.5, 0.51]" in drawing.notes
    rows = {row["y"]: row["text"] for row in table_of(drawing.figure) if row["trace"].startswith("median")}
    assert rows == {"LPT": "misses at most 0.2 at the worst row", "sorted": ""}


def test_what_does_not_apply_is_said_in_a_sentence(run: Run) -> None:
    with pytest.raises(InvalidData, match="choose another arm"):
        side_by_side_figure(moment(run, "theta certificates", "LPT", arm=run.arms[1]))
    with pytest.raises(InvalidData, match="choose another arm"):
        tree_figure(run, "theta certificates", "standard", 0, 40, 0, 0, dark=False)


def test_a_tree_has_every_token_with_its_attention_and_the_answer(run: Run) -> None:
    drawing = tree_figure(run, "expression", "standard", 2, 40, 3, 3, dark=True)
    tokens = [row for row in table_of(drawing.figure) if row["trace"] == "token"]
    np.testing.assert_allclose([float(row["z"]) for row in tokens], RECEIVED, rtol=1e-6)
    assert [row["text"] for row in tokens] == ["MAX", "1", "MIN", "2", "3", "]", "]"]
    assert "the model answers 1 with 75 %, wrong: it is 0" in drawing.notes
    assert "[MAX receives most, 0.400" in drawing.alt


def test_an_operator_stands_amid_its_operands_and_above_them() -> None:
    nodes = grown(TOKENS)
    assert [node.depth for node in nodes] == [0, 1, 1, 2, 2, 2, 1]
    assert [node.place for node in nodes] == [(0 + 2 + 4) / 3, 0, 2, 1, 2, 3, 4]
    assert nodes[0].parent is None and nodes[3].parent is nodes[2]
    assert [node.depth for node in grown(("]", "1"))] == [0, 0]


def test_phases_reach_to_the_next_one_and_spikes_stand_at_their_step(run: Run) -> None:
    drawing = happenings_figure(run, dark=False)
    plateau, fitting, spike = drawing.figure.data
    assert (list(plateau.x), list(fitting.x), list(spike.x)) == ([0, 30], [30, 100], [60])
    assert plateau.hovertext == "plateau from step 0: it stands &lt;still&gt;"
    rows = table_of(drawing.figure)
    assert rows[-1] == {
        "trace": "spectral:shift=0.5, spike", "place": "plot", "x": "60",
        "y": "spectral:shift=0.5, seed 2", "z": "", "n": "", "text": "min |xi| is small",
    }  # fmt: skip
    assert "1 spikes" not in drawing.notes[0] and drawing.notes[0].startswith("1 spike,")
