"""The attention Jacobian of trained heads: against autodiff, with certificates that never overclaim."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sandbox.diagnostics.attention_jacobian import AttentionJacobian
from sandbox.diagnostics.heads import softmax_heads
from sandbox.diagnostics.jacobian_certificates import RANK_LOST, TOO_LONG, JacobianCertificates
from sandbox.diagnostics.sharpness import Sharpness
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.certificate import DOES_NOT_APPLY, HOLDS, NOT_COMPUTED, VIOLATED, Certificate
from sandbox.foundations.readings import PerHead
from sandbox.mathematics.jacobian_condition import jacobian_condition
from tests.diagnostics.test_diagnostics_contract import group, look
from tests.diagnostics.views import random_view


def autodiff_values(head: object) -> np.ndarray:
    """Singular values of autodiff's Jacobian."""
    x, *matrices = (torch.from_numpy(np.asarray(part)) for part in head[1:5])  # type: ignore[index]

    def output(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = head.scale * (x @ q) @ (x @ k).T  # type: ignore[attr-defined]
        return torch.softmax(scores, dim=-1) @ (x @ v)

    parts = torch.autograd.functional.jacobian(output, tuple(matrices))
    n = parts[0].shape[0] * parts[0].shape[1]
    values = np.linalg.svd(
        np.concatenate([p.reshape(n, -1).numpy() for p in parts], axis=1), compute_uv=False
    )
    return values


@pytest.mark.parametrize("name", ["encoder", "post-ln encoder of two layers", "encoder on listops"])
def test_every_head_is_autodiffs(name: str) -> None:
    view = look(group(name, seeds=(0,)))
    heads = softmax_heads(view, 1)
    assert not isinstance(heads, NotApplicable)
    assert len(heads.members) == heads.shape[1] * heads.shape[2]
    for head in heads.members:
        values = autodiff_values(head)
        found = jacobian_condition(*head[1:])
        assert found.largest == pytest.approx(values[0], rel=1e-9)
        assert found.rank <= found.ceiling
        assert values[found.ceiling :].max(initial=0.0) < 1e-9 * values[0]  # nothing beyond the structure
        if found.kappa < 1e6:
            assert found.kappa == pytest.approx(values[0] / values[found.ceiling - 1], rel=1e-4)


def test_certificates_hold_where_they_apply_and_say_why_where_not() -> None:
    wide = JacobianCertificates(sequences=2).read(look(group("encoder", seeds=(0,))))
    narrow = JacobianCertificates(sequences=2).read(look(group("post-ln encoder of two layers", seeds=(0,))))
    assert isinstance(wide, Certificate) and isinstance(narrow, Certificate)
    assert set(np.unique(wide.state)) <= {HOLDS, DOES_NOT_APPLY} and (wide.state == HOLDS).any()
    applies = wide.state == HOLDS
    assert (wide.measured[applies] <= wide.bound[applies]).all()
    assert (narrow.state == DOES_NOT_APPLY).all() and np.isnan(narrow.bound).all()  # 12 tokens, width 8
    assert set(np.unique(narrow.reason)) == {TOO_LONG}
    assert "more tokens than the model has channels" in narrow.sentence(0, 0, 0, 0)


def test_a_bound_below_the_measured_value_is_violated_and_a_lost_rank_claims_nothing() -> None:
    from sandbox.diagnostics.jacobian_certificates import _conclude
    from sandbox.foundations.readings import Provenance

    bound, kappa = np.full((1, 2, 1, 3, 2), 10.0), np.full((1, 2, 1, 3, 2), 5.0)
    kappa[:, :, :, 1, 1] = 11.0
    bound[:, :, :, 2] = np.inf
    nowhere = np.zeros(bound.shape, dtype=bool)
    found = _conclude(bound, kappa, nowhere, nowhere[..., 0], Provenance())
    assert found.state[0, 0, 0].tolist() == [HOLDS, VIOLATED, DOES_NOT_APPLY]
    assert found.reason[0, 0, 0].tolist() == [-1, -1, RANK_LOST]
    assert found.measured[0, 0, 0].tolist()[:2] == [5.0, 8.0] and np.isnan(found.measured[0, 0, 0, 2])
    stale = found.stale("the shift was changed at step 40")
    assert stale.sentence(0, 0, 0, 0) == "stale: the shift was changed at step 40"


def test_the_medians_are_over_the_samples_and_the_paper_expression_is_named_no_bound() -> None:
    answer = AttentionJacobian(sequences=2).read(look(group("encoder", seeds=(0,))))
    assert isinstance(answer, PerHead)
    assert (answer.columns["rank"] <= answer.columns["ceiling"]).all()
    assert sum("no bound" in name for name in answer.columns) == 1
    assert (answer.columns["largest"] >= answer.columns["smallest non-zero"]).all()


def test_a_head_too_large_for_j_has_bounds_that_are_held_against_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sound = JacobianCertificates(sequences=2).read(look(group("encoder", seeds=(0,))))
    for module in ("jacobians", "attention_jacobian"):
        monkeypatch.setattr(f"sandbox.diagnostics.{module}.MOST_OUTPUTS", 12 * 8 - 1)
    view = look(group("encoder", seeds=(0,)))
    found = JacobianCertificates(sequences=2).read(view)
    assert isinstance(sound, Certificate) and isinstance(found, Certificate)
    assert (found.state == NOT_COMPUTED).all() and (sound.state == HOLDS).all()
    np.testing.assert_array_equal(found.bound, sound.bound)
    assert np.isnan(found.measured).all() and found.sentence(0, 0, 0, 0).startswith("not computed: a head of")
    answer = AttentionJacobian(sequences=2).read(view)
    assert isinstance(answer, NotApplicable) and "96 outputs" in answer.reason


def test_other_numbers_than_those_recorded_are_noticed() -> None:
    view = look(group("encoder", seeds=(0,)))
    wrong = replace(view, trace={**view.trace, "logits": view.trace["logits"] + 1.0})
    answer = AttentionJacobian().read(wrong)
    assert isinstance(answer, NotApplicable) and "other numbers than those recorded" in answer.reason


def test_a_snapshot_without_its_setting_says_so() -> None:
    answer = Sharpness().read(random_view())
    assert isinstance(answer, NotApplicable) and "does not say which model" in answer.reason
