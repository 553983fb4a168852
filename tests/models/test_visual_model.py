"""The visual model: the published parameter counts, first losses, and normalization."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from sandbox.foundations.errors import InvalidExperiment
from sandbox.models.visual_model import VisualModel, rms_normalize
from sandbox.tasks.sparse_modular_addition import SparseModularAddition

TASK = SparseModularAddition(split="overlapping")


@pytest.mark.parametrize(("n_embeddings", "n_parameters"), [(2, 196), (3, 198)])
def test_has_the_published_number_of_parameters(n_embeddings, n_parameters):
    model = VisualModel(n_embeddings=n_embeddings).build(TASK, 0)
    assert sum(p.numel() for p in model.parameters()) == n_parameters


def test_the_reference_start_gives_the_published_first_losses():
    data = TASK.data(0, reference_start=True)
    model = VisualModel().build(TASK, 0, reference_start=True)
    expected = {"train": (0.698555, 0.483398), "test": (0.700190, 0.485352)}
    for name, (loss, accuracy) in expected.items():
        logits = model(torch.tensor(getattr(data, f"{name}_tokens")).long())
        targets = torch.tensor(getattr(data, f"{name}_targets"))
        assert cross_entropy(logits, targets).item() == pytest.approx(loss, abs=1e-6)
        assert (logits.argmax(-1) == targets).double().mean().item() == pytest.approx(accuracy, abs=1e-6)


def test_three_embeddings_start_near_a_loss_of_ln_3():
    data = TASK.data(0, reference_start=True)
    model = VisualModel(n_embeddings=3).build(TASK, 0, reference_start=True)
    loss = cross_entropy(model(torch.tensor(data.train_tokens).long()), torch.tensor(data.train_targets))
    assert loss.item() == pytest.approx(1.0986, abs=0.1)


def test_normalization_is_the_oracles():
    expected = torch.tensor([0.8485257374, 1.1313676499], dtype=torch.float64)
    normalized = rms_normalize(torch.tensor([3.0, 4.0], dtype=torch.float64))
    torch.testing.assert_close(normalized, expected, rtol=0, atol=1e-9)


def test_feed_forward_weights_do_not_depend_on_its_width():
    narrow, wide = (VisualModel(d_ff=h).build(TASK, 0).state_dict() for h in (8, 32))
    assert torch.equal(wide["up.weight"][:8], narrow["up.weight"])
    torch.testing.assert_close(wide["down.weight"][:, :8] * 2, narrow["down.weight"])


def test_the_starting_scale_is_a_factor_on_every_starting_weight():
    published, doubled = (VisualModel(start_scale=s).build(TASK, 3).state_dict() for s in (1.0, 2.0))
    assert all(torch.equal(2 * published[name], doubled[name]) for name in published)


def test_needs_an_embedding_per_class():
    with pytest.raises(InvalidExperiment, match="raise the embeddings"):
        VisualModel(n_embeddings=2).build(SparseModularAddition(modulus=3, split="overlapping"), 0)
