"""What blocks do to the residual stream: identity paths as numbers, gains against autodiff, contraction."""

import numpy as np
import pytest
import torch

from sandbox.diagnostics import SnapshotView
from sandbox.diagnostics.layer_norms import LayerNorms
from sandbox.diagnostics.replay import module_of, parts_of, replay, weights_of
from sandbox.diagnostics.residual_gains import NO_BUDGET, ResidualGains
from sandbox.diagnostics.residual_geometry import ResidualGeometry
from sandbox.diagnostics.sublayers import sublayers
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import from_plain_experiment
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import PerHead
from sandbox.models.placement.family import Block
from tests.diagnostics.test_diagnostics_contract import group, look

pytestmark = pytest.mark.slow

PARTS = ("attention", "feed-forward")


def snapshot(arm: str, n_layers: int = 2, steps: int = 0) -> SnapshotView:
    experiment = from_plain_experiment(
        {
            "task": {
                "kind": "sparse modular addition",
                "length": 6,
                "n_terms": 3,
                "n_train": 32,
                "n_test": 32,
            },
            "model": {"kind": "encoder", "d_model": 8, "n_heads": 2, "n_layers": n_layers, "d_ff": 8},
            "arms": [arm],
            "batch_size": 8,
            "steps": 20,
            "seeds": [0, 1],
        }
    )
    trained = TorchGroup(experiment.setting(arm), experiment.seeds)
    trained.advance(steps)
    return look(trained)


def read(diagnostic: object, view: SnapshotView) -> PerHead:
    answer = diagnostic.read(view)  # type: ignore[attr-defined]
    assert isinstance(answer, PerHead) and answer.per == "layer"
    return answer


@pytest.mark.parametrize("arm", ["pre-ln", "no-norm"])
def test_an_additive_placement_has_an_identity_path_of_exactly_one(arm: str) -> None:
    answer = read(ResidualGains(), snapshot(arm, steps=3))
    for part in PARTS:
        assert (answer.columns[f"{part} identity path"] == 1.0).all()
        assert (answer.columns[f"{part} minus identity"] == answer.columns[f"{part} branch"]).all()
        bound = 1 + answer.columns[f"{part} branch"]
        assert (answer.columns[f"{part} gain"] <= bound * 1.2).all()  # lower estimates on both sides
        assert answer.not_applicable[f"{part} budget"] == NO_BUDGET
    assert (answer.columns["alpha"] == 1.0).all()


def test_after_a_norm_the_identity_path_is_the_norms_own_jacobian() -> None:
    view = snapshot("post-ln", n_layers=1)
    answer = read(ResidualGains(), view)
    norms = read(LayerNorms(sequences=1), view)
    for part in PARTS:
        path = answer.columns[f"{part} identity path"]
        np.testing.assert_allclose(path, norms.columns[f"{part} norm"], rtol=1e-9)
        assert (np.abs(path - 1) > 0.01).all()
        assert (answer.columns[f"{part} minus identity"] > 0).all()


def test_deepnorm_shows_alpha_beta_and_a_budget_of_one_at_its_start() -> None:
    n_layers = 3
    deep = read(ResidualGains(), snapshot("deepnorm+deepnorm-init", n_layers))
    plain = read(ResidualGains(), snapshot("post-ln+xavier", n_layers))
    assert deep.columns["alpha"] == pytest.approx((2 * n_layers) ** 0.25)
    assert f"{(8 * n_layers) ** -0.25:.4g} at DeepNorm's start" in deep.provenance.note
    for part in PARTS:
        assert deep.columns[f"{part} beta"] == pytest.approx((8 * n_layers) ** -0.25, rel=0.25)
        assert np.mean(deep.columns[f"{part} budget"]) == pytest.approx(1.0, rel=0.25)
    # Xavier's start gives W_V gain 1 and leaves W_O at nn.Linear's, whose entries are sqrt(3) times smaller.
    assert np.mean(plain.columns["attention budget"]) == pytest.approx(2 * n_layers * (1 + 1 / 3), rel=0.1)


@pytest.mark.parametrize("arm", ["pre-ln", "post-ln", "deepnorm", "pre-ln:norm=rms norm", "no-norm"])
def test_gains_come_close_to_the_true_norm_of_autodiffs_jacobian_from_below(arm: str) -> None:
    view = snapshot(arm, n_layers=1, steps=2)
    answer = read(ResidualGains(), view)
    module, found = module_of(view), replay(view, 1)
    assert isinstance(module, torch.nn.Module) and not isinstance(found, NotApplicable)
    ((place, block),) = parts_of(module, Block)
    stream = found[0][f"{place}:input"][0]
    for part, (sublayer, tokens) in zip(
        PARTS, sublayers(block, place, weights_of(view, 0), stream), strict=True
    ):
        x = torch.from_numpy(tokens)
        for word, function in (("gain", sublayer.around()), ("branch", sublayer.branch())):
            jacobian = torch.autograd.functional.jacobian(function, x).numpy()  # token channel token channel
            # Any unit direction v of an output token gives sum_j |J_ij^T v|_2, at most sum_j |J_ij|_2.
            ceiling = np.linalg.norm(jacobian.transpose(0, 2, 1, 3), 2, axis=(-2, -1)).sum(axis=1).max()
            rng = np.random.default_rng(0)
            v = rng.standard_normal((2000, 8))
            v /= np.linalg.norm(v, axis=1, keepdims=True)
            floor = np.linalg.norm(np.einsum("icjd,rc->rijd", jacobian, v), axis=-1).sum(axis=-1).max()
            measured = answer.columns[f"{part} {word}"][0, 0, 0]
            assert 0.9 * floor <= measured <= ceiling * (1 + 1e-9), (part, word)


def test_sublayers_in_turn_are_the_block() -> None:
    view = snapshot("deepnorm", n_layers=2, steps=2)
    module, found = module_of(view), replay(view, 1)
    assert isinstance(module, torch.nn.Module) and not isinstance(found, NotApplicable)
    for place, block in parts_of(module, Block):
        stream = found[1][f"{place}:input"][0]
        *_, (last, tokens) = sublayers(block, place, weights_of(view, 1), stream)
        out = last.around()(torch.from_numpy(tokens)).detach().numpy()
        np.testing.assert_allclose(out, found[1][f"{place}.residual"][0], atol=1e-12)


@pytest.mark.parametrize("norm", ["layer norm", "rms norm"])
def test_the_contraction_condition_is_read_sublayer_by_sublayer(norm: str) -> None:
    answer = read(LayerNorms(sequences=2), snapshot(f"post-ln:norm={norm}", n_layers=2, steps=1))
    product = 1.0
    for layer in range(2):
        for part in PARTS:
            bound, exact = (answer.columns[f"{part} {word}"][0, layer, 0] for word in ("bound", "norm"))
            assert 0 < exact <= bound * (1 + 1e-12)
            assert answer.columns[f"{part} contracts"][0, layer, 0] == float(bound < 1)
            product *= bound
        assert answer.columns["product so far"][0, layer, 0] == pytest.approx(product)


def test_a_model_without_norms_or_blocks_says_so() -> None:
    bare = LayerNorms().read(snapshot("no-norm"))
    assert isinstance(bare, NotApplicable) and "No sublayer" in bare.reason
    for diagnostic in (ResidualGains(), ResidualGeometry()):
        answer = diagnostic.read(look(group("visual model", seeds=(0,))))
        assert isinstance(answer, NotApplicable) and "no residual stream" in answer.reason


def test_the_multi_head_bound_is_above_the_measured_norm_and_drops_out_where_it_is_not_proved() -> None:
    proved = read(ResidualGeometry(), snapshot("pre-ln", steps=3))
    assert (proved.columns["attention at least"] <= proved.columns["attention bound"]).all()
    assert (proved.columns["attention at least"] > 0).all()
    other = read(ResidualGeometry(), snapshot("preconditioned"))
    assert (
        "attention bound" not in other.columns
        and "unchanged into W_O" in other.not_applicable["attention bound"]
    )


def test_products_with_the_whole_jacobian_and_without_it_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    view = snapshot("deepnorm", n_layers=1, steps=2)
    whole = read(ResidualGains(), view)
    monkeypatch.setattr("sandbox.diagnostics.operators.MOST_ENTRIES", 0)
    for name, values in read(ResidualGains(), view).columns.items():
        np.testing.assert_allclose(values, whole.columns[name], rtol=1e-9)
