"""1 - theta of heads on rows whose theta stands in the paper's table of values."""

import numpy as np
import pytest

from sandbox.diagnostics.theta import Theta
from sandbox.diagnostics.theta_rows import evenly_spaced
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import PerHead
from tests.diagnostics.views import probe, random_view, view

# rows of three keys and their theta (Emadi 2602.18849; methods table)
KNOWN = {(0.6, 0.3, 0.1): 0.96, (0.4, 0.3, 0.3): 0.96, (0.9, 0.05, 0.05): 0.36, (1.0, 0.0, 0.0): 0.0}


def read(weights: np.ndarray, visible: np.ndarray | None = None, rows: int = 64) -> PerHead:
    """One layer; weights (run, batch, head, query, key)."""
    tokens = np.zeros((weights.shape[1], weights.shape[-1]), dtype=int)
    answer = Theta(rows=rows).read(view(probe(tokens, visible), {"blocks.0.attention.weights": weights}))
    assert isinstance(answer, PerHead)
    return answer


@pytest.mark.parametrize(("row", "theta"), KNOWN.items())
def test_known_rows_have_their_known_value(row: tuple[float, ...], theta: float) -> None:
    found = read(np.broadcast_to(np.array(row), (1, 2, 1, 3, 3))).columns
    for name in ("lower", "upper", "10 % quantile", "90 % quantile"):
        assert found[name][0, 0, 0] == pytest.approx(1 - theta, abs=1e-8), name
    assert found["lower"][0, 0, 0] <= 1 - theta + 1e-12 and found["upper"][0, 0, 0] >= 1 - theta - 1e-12
    assert found["median p_max"][0, 0, 0] == pytest.approx(max(row))
    assert found["share p_max > 1/2"][0, 0, 0] == float(max(row) > 0.5)
    assert found["share exact"][0, 0, 0] == 1.0


def test_median_and_deciles_are_those_of_the_rows() -> None:
    rows = np.linspace(0.55, 0.95, 9)  # p_max above one half: theta = 4 p (1 - p)
    weights = np.stack([rows, 1 - rows], axis=-1).reshape(1, 9, 1, 1, 2)
    answer = Theta().read(view(probe(np.zeros((9, 2), int)), {"attention.weights": weights}))
    assert isinstance(answer, PerHead)
    distance = 1 - 4 * rows * (1 - rows)
    assert answer.columns["lower"][0, 0, 0] == pytest.approx(np.median(distance), abs=1e-9)
    assert answer.columns["upper"][0, 0, 0] == pytest.approx(np.median(distance), abs=1e-9)
    assert answer.columns["10 % quantile"][0, 0, 0] == pytest.approx(np.quantile(distance, 0.1), abs=1e-9)
    assert answer.columns["90 % quantile"][0, 0, 0] == pytest.approx(np.quantile(distance, 0.9), abs=1e-9)


def test_the_bracket_is_ordered_for_every_head() -> None:
    answer = Theta().read(random_view(n_tokens=7))
    assert isinstance(answer, PerHead)
    found = answer.columns
    assert (found["10 % quantile"] <= found["lower"]).all()
    assert (found["lower"] <= found["upper"]).all()
    assert (found["upper"] <= found["90 % quantile"]).all()
    assert (found["10 % quantile"] >= 0).all() and (found["90 % quantile"] <= 1).all()


def test_rows_with_one_visible_key_and_padding_never_count() -> None:
    visible = np.array([[True, True, True, False], [True, False, False, False]])
    weights = np.full((1, 2, 1, 4, 4), np.nan)
    weights[0, 0, 0, :3, :3] = (0.6, 0.3, 0.1)
    weights[0, 1, 0, 0, 0] = 1.0
    found = read(weights, visible)
    assert found.columns["upper"][0, 0, 0] == pytest.approx(0.04, abs=1e-8)
    assert found.columns["share p_max > 1/2"][0, 0, 0] == 1.0
    assert found.provenance.sample_size == 3
    assert "1 rows with one visible key left out" in found.provenance.note


def test_where_every_query_sees_one_key_there_is_no_answer() -> None:
    answer = Theta().read(view(probe(np.zeros((2, 1), int)), {"attention.weights": np.ones((1, 2, 1, 1, 1))}))
    assert isinstance(answer, NotApplicable) and "single key" in answer.reason


def test_fewer_rows_are_bracketed_when_asked_and_said_to_be_a_sample_while_p_max_reads_all() -> None:
    weights = np.broadcast_to(np.array([0.4, 0.3, 0.3]), (1, 10, 1, 3, 3)).copy()
    weights[0, 9] = (0.9, 0.05, 0.05)  # in no row that 8 evenly spaced ones of 30 reach but the last
    all_rows, some = read(weights), read(weights, rows=8)
    assert all_rows.provenance.exactness == "bracket" and all_rows.provenance.sample_size == 30
    assert some.provenance.exactness == "sampled" and some.provenance.sample_size == 8
    assert some.columns["share p_max > 1/2"][0, 0, 0] == pytest.approx(0.1)
    assert "8 evenly spaced of 30 rows" in some.provenance.note


def test_the_sample_is_spread_over_all_rows_and_never_repeats_one() -> None:
    assert evenly_spaced(10, 4).tolist() == [0, 2, 5, 7]
    assert evenly_spaced(3, 8).tolist() == [0, 1, 2]


def test_a_diverged_head_is_nan_and_leaves_the_others_alone() -> None:
    sound, snapshot = Theta().read(random_view()), random_view()
    snapshot.trace["blocks.0.attention.weights"][1, 0, 0] = np.nan
    found = Theta().read(snapshot)
    assert isinstance(sound, PerHead) and isinstance(found, PerHead)
    for name, values in found.columns.items():
        assert np.isnan(values[1, 0, 0])
        values[1, 0, 0] = sound.columns[name][1, 0, 0]
        assert np.array_equal(values, sound.columns[name])


def test_the_distance_is_drawn_on_a_log_axis_and_the_shares_are_not() -> None:
    answer = read(np.full((1, 2, 1, 3, 3), 1 / 3))
    assert answer.log and set(answer.linear) == {"median p_max", "share p_max > 1/2", "share exact"}
