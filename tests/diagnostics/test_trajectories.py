"""Trajectories: each plane is fixed, tells the truth about what it shows, and never flips."""

from dataclasses import replace

import numpy as np
import pytest

from sandbox.diagnostics.family import SnapshotView
from sandbox.diagnostics.token_trajectories import TokenTrajectories
from sandbox.diagnostics.trajectories import Trajectories
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import Trajectory
from tests.diagnostics.views import one_run, probe, random_view, view

COMPONENTS, CENTRE, STEP = "trajectories/components", "trajectories/centre", "trajectories/step"
KINDS = [Trajectories(), TokenTrajectories()]


def read(snapshot: SnapshotView) -> Trajectory:
    answer = Trajectories().read(snapshot)
    assert isinstance(answer, Trajectory)
    return answer


def tokens_of(snapshot: SnapshotView) -> Trajectory:
    answer = TokenTrajectories().read(snapshot)
    assert isinstance(answer, Trajectory)
    return answer


def embedded(table: np.ndarray, places: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """E[x] + P[t] for tables (run, token, d) and (run, position, d)."""
    return table[:, tokens] + places[:, None]


def test_two_dimensions_are_drawn_as_they_are() -> None:
    rng = np.random.default_rng(0)
    tokens = np.array([[0, 1], [1, 1], [0, 0]])
    table, places = rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2, 2))
    xi = rng.normal(size=(2, 3, 2))
    basis: dict[str, np.ndarray] = {}
    snapshot = view(probe(tokens), {"embedding": embedded(table, places, tokens), "xi": xi}, basis=basis)
    found, sequences = tokens_of(snapshot), read(snapshot)
    assert found.labels == ("0 @ 1", "1 @ 1", "0 @ 2", "1 @ 2")
    assert found.points[:, :2] == pytest.approx(table + places[:, :1], abs=1e-6)
    assert found.points[:, 2:4] == pytest.approx(table + places[:, 1:], abs=1e-6)
    assert np.array_equal(sequences.points, xi.astype(np.float32))
    assert found.explained_variance is None and sequences.explained_variance is None and not basis


def test_points_are_named_and_grouped_by_position_and_class() -> None:
    tokens = np.array([[0, 1, 1], [1, 0, 1]])
    snapshot = view(probe(tokens, n_prefix=2), {"embedding": np.ones((1, 2, 3, 2)), "xi": np.ones((1, 2, 2))})
    found, sequences = tokens_of(snapshot), read(snapshot)
    assert dict(zip(found.labels, found.groups, strict=True)) == {
        "0 @ 1": "prefix token",
        "1 @ 1": "prefix token",
        "0 @ 2": "prefix token",
        "1 @ 2": "prefix token",
        "1 @ 3": "other token",
    }
    assert dict(zip(sequences.labels, sequences.groups, strict=True)) == {
        "0 1 1": "class even",
        "1 0 1": "class odd",
    }


def test_tokens_and_sequences_have_a_plane_each_however_far_apart_they_lie() -> None:
    snapshot = random_view(n_runs=1, padded=False)
    alone = tokens_of(snapshot).points
    snapshot.trace["readout"][:] += 1000.0
    snapshot.basis.clear()
    read(snapshot)
    assert np.array_equal(tokens_of(snapshot).points, alone)
    assert np.ptp(read(snapshot).points[0], axis=0).min() > 0.1
    assert {name.split("/")[0] for name in snapshot.basis} == {"trajectories", "token trajectories"}


def test_many_tokens_are_drawn_once_each_at_the_mean_of_their_positions() -> None:
    rng = np.random.default_rng(1)
    tokens = np.stack([np.roll(np.arange(9), shift) for shift in range(9)])  # 81 token-position pairs
    table, places = rng.normal(size=(1, 9, 2)), rng.normal(size=(1, 9, 2))
    found = tokens_of(view(probe(tokens), {"embedding": embedded(table, places, tokens)}))
    assert found.labels == tuple("012345678") and set(found.groups) == {"number"}
    assert found.points == pytest.approx(table + places.mean(axis=1, keepdims=True), abs=1e-6)


def test_padding_is_no_point() -> None:
    tokens, visible = np.array([[1, 2, 0], [1, 0, 0]]), np.array([[True, True, False], [True, False, False]])
    embedding = np.random.default_rng(0).normal(size=(1, 2, 3, 2))
    embedding[0, 1, 0] = embedding[0, 0, 0]
    embedding[0, :, 2] = np.nan
    found = tokens_of(
        view(probe(tokens, visible, token_labels=("PAD", "7", "[MAX")), {"embedding": embedding})
    )
    assert found.labels == ("7 @ 1", "[MAX @ 2") and found.groups == ("number", "operator")
    assert np.isfinite(found.points).all()


def test_one_seed_gets_the_two_principal_axes_of_its_points() -> None:
    snapshot = random_view(n_runs=1, padded=False)
    for found, values in (
        (tokens_of(snapshot), _distinct(snapshot)),
        (read(snapshot), snapshot.trace["readout"][0].astype(np.float64)),
    ):
        singular = np.linalg.svd(values - values.mean(axis=0), compute_uv=False)
        assert found.explained_variance is not None
        assert found.explained_variance[0] == pytest.approx(singular[:2] ** 2 / (singular**2).sum(), abs=1e-6)
        assert (found.points[0] ** 2).sum(axis=0) == pytest.approx(singular[:2] ** 2, rel=1e-5)


def _distinct(snapshot: SnapshotView) -> np.ndarray:
    """The embedding of every (position, token) that occurs, once each."""
    flat = snapshot.trace["embedding"][0].reshape(-1, snapshot.trace["embedding"].shape[-1])
    n_tokens = snapshot.probe.tokens.shape[1]
    keys = (np.arange(n_tokens) * 10 + snapshot.probe.tokens).ravel()
    return flat[np.unique(keys, return_index=True)[1]].astype(np.float64)


def test_an_axis_means_the_same_pattern_in_every_seed_although_their_coordinates_are_unrelated() -> None:
    rng = np.random.default_rng(2)
    tokens = rng.integers(0, 2, (12, 6))
    turns = np.stack([np.linalg.qr(rng.normal(size=(16, 16)))[0] for _ in range(3)])
    pattern = embedded(rng.normal(size=(1, 2, 16)), rng.normal(size=(1, 6, 16)), tokens)
    turned = np.einsum("btd,rde->rbte", pattern[0], turns) * np.array([1, 5, 0.2])[:, None, None, None]
    found = tokens_of(view(probe(tokens), {"embedding": turned}))
    unit = found.points / np.linalg.norm(found.points, axis=(1, 2), keepdims=True)
    assert unit[1] == pytest.approx(unit[0], abs=1e-4) and unit[2] == pytest.approx(unit[0], abs=1e-4)
    assert found.explained_variance is not None
    assert np.ptp(found.explained_variance, axis=0) == pytest.approx([0, 0], abs=1e-6)


def test_the_basis_is_fitted_once_and_later_frames_move_in_it_without_a_flip() -> None:
    basis: dict[str, np.ndarray] = {}
    first = random_view()
    before = read(view(first.probe, first.trace, basis=basis, step=7))
    kept = {name: values.copy() for name, values in basis.items()}
    mirrored = {name: -values for name, values in first.trace.items()}
    after = read(view(first.probe, mirrored, basis=basis, step=90))
    assert all(np.array_equal(basis[name], kept[name]) for name in kept) and int(basis[STEP]) == 7
    offset = basis[CENTRE][:, None] @ basis[COMPONENTS].swapaxes(1, 2)
    assert after.points + offset == pytest.approx(-(before.points + offset), abs=1e-5)
    assert before.provenance == after.provenance
    assert "fitted at step 7 on all seeds" in after.provenance.method


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_in_the_encoder_the_axes_are_what_the_classifier_reads_at_the_start(n_classes: int) -> None:
    snapshot = random_view()
    classify = np.random.default_rng(3).normal(size=(3, n_classes, 8))
    snapshot = replace(snapshot, weights={"classify.weight": classify})
    found, axes = read(snapshot), snapshot.basis[COMPONENTS]
    assert axes @ axes.swapaxes(1, 2) == pytest.approx(np.broadcast_to(np.eye(2), (3, 2, 2)), abs=1e-12)
    assert "what the classifier reads" in found.provenance.method
    if n_classes == 2:  # the first axis is the difference of the logits, up to its length
        logits = snapshot.trace["readout"].astype(np.float64) @ classify.swapaxes(1, 2)
        margin = logits[..., 0] - logits[..., 1]
        for run in range(3):
            assert np.corrcoef(margin[run], found.points[run, :, 0])[0, 1] == pytest.approx(1, abs=1e-6)
    if n_classes == 3:  # the plane holds all that the classifier tells apart
        centred = classify - classify.mean(axis=1, keepdims=True)
        assert centred @ axes.swapaxes(1, 2) @ axes == pytest.approx(centred, abs=1e-9)


def test_every_seeds_axes_are_orthonormal() -> None:
    basis = Trajectories().fit(random_view())
    assert isinstance(basis, dict)
    gram = basis[COMPONENTS] @ basis[COMPONENTS].swapaxes(1, 2)
    assert gram == pytest.approx(np.broadcast_to(np.eye(2), (3, 2, 2)), abs=1e-12)


def test_the_fit_is_the_same_bit_for_bit_each_time_and_can_be_kept_as_arrays() -> None:
    one, two = Trajectories().fit(random_view()), Trajectories().fit(random_view())
    assert isinstance(one, dict) and isinstance(two, dict)
    assert {name: values.tobytes() for name, values in one.items()} == {
        name: values.tobytes() for name, values in two.items()
    }
    assert all(values.dtype in (np.float64, np.int64) for values in one.values())


def test_explained_variance_is_what_the_plane_shows_now_not_when_it_was_fitted() -> None:
    basis: dict[str, np.ndarray] = {}
    snapshot = random_view(n_runs=1)
    read(view(snapshot.probe, snapshot.trace, basis=basis))
    inside = {
        name: values @ basis[COMPONENTS][0].T @ basis[COMPONENTS][0]
        for name, values in snapshot.trace.items()
        if name == "readout"
    }
    found = read(view(snapshot.probe, inside, basis=basis)).explained_variance
    assert found is not None and found.sum() == pytest.approx(1.0)
    outside = {name: snapshot.trace[name] - values for name, values in inside.items()}
    found = read(view(snapshot.probe, outside, basis=basis)).explained_variance
    assert found is not None and found.sum() == pytest.approx(0.0, abs=1e-9)


def test_a_seed_that_diverged_is_nan_alone_and_spoils_no_fit() -> None:
    snapshot = random_view()
    for value in (np.nan, np.inf):
        snapshot.trace["embedding"][1, 0, 0, 0] = snapshot.trace["readout"][1, 0, 0] = value
        for kind in KINDS:
            found = kind.read(view(snapshot.probe, snapshot.trace))
            assert isinstance(found, Trajectory) and found.explained_variance is not None
            assert np.isnan(found.points[1]).any() and np.isnan(found.explained_variance[1]).all()
            assert np.isfinite(found.points[[0, 2]]).all()
            assert np.isfinite(found.explained_variance[[0, 2]]).all()


def test_when_every_seed_has_diverged_no_plane_is_fitted() -> None:
    snapshot = random_view()
    snapshot.trace["readout"][:] = np.nan
    basis: dict[str, np.ndarray] = {}
    answer = Trajectories().read(view(snapshot.probe, snapshot.trace, basis=basis))
    assert isinstance(answer, NotApplicable) and "diverged" in answer.reason and not basis


def test_a_basis_of_other_seeds_or_another_width_is_refused() -> None:
    whole = random_view()
    read(whole)
    alone = one_run(random_view(), 0)
    alone.basis.update(whole.basis)
    with pytest.raises(InvalidData, match="a basis belongs to the seeds and the width it was fitted on"):
        Trajectories().read(alone)


def test_a_model_without_embedding_or_with_one_dimension_has_no_trajectories() -> None:
    batch = probe([[0, 1]])
    for trace in (
        {"logits": np.ones((1, 1, 2))},
        {"embedding": np.ones((1, 1, 2, 1)), "xi": np.ones((1, 1, 1))},
    ):
        for kind in KINDS:
            assert isinstance(kind.read(view(batch, trace)), NotApplicable)
