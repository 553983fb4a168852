"""theta's other reports: certificates beside the exact value, whole layers, the temperature in force."""

import numpy as np
import pytest

from sandbox.diagnostics import SnapshotView, probe_batch
from sandbox.diagnostics.temperature import NO_MODEL, NO_SOFTMAX, temperatures
from sandbox.diagnostics.theta_kinds import NAMES, ThetaCertificates
from sandbox.diagnostics.theta_layers import ThetaByLayer
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import from_plain_experiment
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import PerHead
from sandbox.mathematics.theta import theta_bracket
from tests.diagnostics.test_diagnostics_contract import group, look
from tests.diagnostics.views import probe, random_view, view

ROWS = np.array([[0.3, 0.25, 0.2, 0.15, 0.1], [0.6, 0.3, 0.1, 0.0, 0.0], [0.9, 0.05, 0.05, 0.0, 0.0]])


def of_rows(diagnostic: object, rows: np.ndarray) -> PerHead:
    """The reading of one head with these rows of attention, one sequence each."""
    weights = rows[None, :, None, None]
    snapshot = view(probe(np.zeros(rows.shape, int)), {"attention.weights": weights})
    answer = diagnostic.read(snapshot)  # type: ignore[attr-defined]
    assert isinstance(answer, PerHead)
    return answer


def snapshot_of(temperature: str, mechanism: str = "softmax", steps: int = 0) -> SnapshotView:
    arm = f"{mechanism}+{temperature}" if temperature else mechanism
    experiment = from_plain_experiment(
        {
            "task": {"kind": "sparse modular addition", "n_train": 64, "n_test": 64},
            "model": {"kind": "encoder", "d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 8},
            "arms": [arm],
            "batch_size": 4,
            "steps": 20,
            "seeds": [0, 1],
        }
    )
    trained = TorchGroup(experiment.setting(arm), experiment.seeds)
    trained.advance(steps)
    return SnapshotView.of(trained, probe_batch(trained.setting.task, trained.task_data[0], 0, 8), {})


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (0, {"4 p_max (1 - p_max)": 0.84, "1 - p_max^2": 0.91, "sorted prefix": 0.99, "LPT": 0.99}),
        (1, {"4 p_max (1 - p_max)": 0.96, "1 - p_max^2": 0.64, "LPT": 0.96, "Karmarkar-Karp": 0.96}),
        (2, {"4 p_max (1 - p_max)": 0.36, "1 - p_max^2": 0.19, "fill below one half": 0.36}),
    ],
)
def test_every_kind_of_certificate_stands_beside_the_exact_value(
    row: int, expected: dict[str, float]
) -> None:
    found = of_rows(ThetaCertificates(), ROWS[[row]]).columns
    theta = [1.0, 0.96, 0.36][row]
    assert found["lower"][0, 0, 0] == pytest.approx(theta, abs=1e-8)
    assert found["upper"][0, 0, 0] == pytest.approx(theta, abs=1e-8)
    assert found["share exact"][0, 0, 0] == 1.0
    for name, value in expected.items():
        assert found[name][0, 0, 0] == pytest.approx(value, abs=1e-8), name
        assert found[f"{name}, most missed"][0, 0, 0] == pytest.approx(theta - value, abs=1e-8), name
    assert set(NAMES.values()) <= set(found)


def test_no_certificate_is_above_the_bracket_in_any_head() -> None:
    found = ThetaCertificates().read(random_view(n_tokens=9))
    assert isinstance(found, PerHead)
    for name in NAMES.values():
        assert (found.columns[name] <= found.columns["upper"] + 1e-15).all()
        assert (found.columns[f"{name}, most missed"] >= 0).all()


@pytest.mark.parametrize(
    ("arm", "steps", "tau"),
    [
        ("", 0, np.sqrt(8)),
        ("unit", 0, 1.0),
        ("constant:tau=0.5", 3, 0.5),
        ("warm-up:factor=5,steps=10", 0, 5 * np.sqrt(8)),
        ("warm-up:factor=5,steps=10", 5, 3 * np.sqrt(8)),
        ("warm-up:factor=5,steps=10", 12, np.sqrt(8)),
    ],
)
def test_theta_is_divided_by_the_temperature_in_force_at_that_step(arm: str, steps: int, tau: float) -> None:
    snapshot = snapshot_of(arm, steps=steps)
    assert temperatures(snapshot) == pytest.approx(tau, rel=1e-6)
    found = ThetaCertificates().read(snapshot)
    assert isinstance(found, PerHead)
    np.testing.assert_allclose(found.columns["tau"], tau, rtol=1e-6)
    np.testing.assert_allclose(found.columns["theta / tau"], found.columns["lower"] / tau, rtol=1e-6)


def test_a_stored_step_has_the_temperature_it_had_then() -> None:
    arm = "warm-up:factor=5,steps=10"
    then = snapshot_of(arm, steps=2)
    later = SnapshotView(**{**vars(snapshot_of(arm, steps=9)), "weights": then.weights, "step": 2})
    assert np.array_equal(temperatures(later), temperatures(then))


def test_the_scores_the_model_records_are_over_the_temperature_that_is_read() -> None:
    snapshot = snapshot_of("constant:tau=3", steps=1)
    trace = {name: snapshot.trace[f"blocks.1.attention.{name}"] for name in ("query", "key", "scores")}
    products = trace["query"] @ np.swapaxes(trace["key"], -1, -2)
    tau = temperatures(snapshot)
    assert not isinstance(tau, NotApplicable)
    np.testing.assert_allclose(trace["scores"], products / tau[:, :, None, None, None], atol=1e-6)


def test_where_no_softmax_or_no_model_is_known_theta_over_tau_says_why() -> None:
    assert temperatures(random_view()) == NotApplicable(NO_MODEL)
    assert temperatures(snapshot_of("", "linear")) == NotApplicable(NO_SOFTMAX)
    linear = ThetaCertificates().read(snapshot_of("", "linear"))
    assert isinstance(linear, PerHead)
    assert linear.not_applicable == {"theta / tau": NO_SOFTMAX, "tau": NO_SOFTMAX}
    visual = temperatures(look(group("wide visual model", seeds=(0, 1))))
    assert visual == pytest.approx(np.sqrt(8)) and np.shape(visual) == (2, 1)


def test_a_layers_quantiles_are_over_the_rows_of_all_its_heads() -> None:
    snapshot = random_view(n_tokens=7, padded=False, sharpness=6.0)
    answer = ThetaByLayer().read(snapshot)
    assert isinstance(answer, PerHead) and answer.per == "layer"
    weights = snapshot.trace["blocks.1.attention.weights"].astype(np.float64)
    bracket = theta_bracket(weights)  # run batch head query
    for q, name in ((0.1, "10 %"), (0.5, "median"), (0.9, "90 %")):
        lower = np.quantile(bracket.lower.reshape(3, -1), q, axis=1)
        np.testing.assert_array_equal(answer.columns[f"lower, {name}"][:, 1, 0], lower)
        assert (answer.columns[f"lower, {name}"] <= answer.columns[f"upper, {name}"]).all()
    p_max = weights.max(axis=-1) / weights.sum(axis=-1)
    share = (p_max > 0.5).reshape(3, -1).mean(axis=1)
    np.testing.assert_allclose(answer.columns["share p_max > 1/2"][:, 1, 0], share)
    assert (answer.columns["share exact"] == 1.0).all() and answer.provenance.sample_size == 6 * 7
    assert answer.provenance.exactness == "bracket" and "all 42 rows per head" in answer.provenance.note


def test_a_layer_of_masked_rows_counts_visible_keys_alone_and_reads_the_whole_batch() -> None:
    answer = ThetaByLayer().read(random_view(n_sequences=6, n_tokens=5))
    assert isinstance(answer, PerHead)
    assert answer.provenance.sample_size == 4 * 5 + 3  # the sequence of one token has no row of two keys
    assert "6 of 6 probe sequences" in answer.provenance.note
    long = random_view(n_sequences=40, n_tokens=32, n_layers=1, n_heads=1, padded=False)
    whole = ThetaByLayer(exact_to=4).read(long)
    assert isinstance(whole, PerHead) and "40 of 40 probe sequences" in whole.provenance.note
    assert (whole.columns["upper, median"] - whole.columns["lower, median"] <= 1e-6).all()


def test_a_layer_with_a_diverged_head_is_nan_and_leaves_the_other_layer_alone() -> None:
    snapshot = random_view()
    snapshot.trace["blocks.0.attention.weights"][1, 0, 0] = np.nan
    answer = ThetaByLayer().read(snapshot)
    assert isinstance(answer, PerHead)
    for values in answer.columns.values():
        assert np.isnan(values[1, 0, 0]) and np.isfinite(values[1, 1, 0])
