"""What every variant owes its family, asked of each one that is registered."""

import json
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
import torch

from sandbox.diagnostics import Diagnostic, SnapshotView, probe_batch
from sandbox.engine.optimizer import Optimizer
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.arm import SLOTS, arm_kinds, parse_arm
from sandbox.experiment.experiment import from_plain_experiment
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import SandboxError
from sandbox.foundations.knobs import knob_fields
from sandbox.foundations.plain import from_plain, to_plain
from sandbox.foundations.readings import decode, encode
from sandbox.initialization import Initialization
from sandbox.models import Architecture
from sandbox.tasks import Task

FAMILIES = {
    "task": Task.variants,
    "architecture": Architecture.variants,
    "optimizer": Optimizer.variants,
    "diagnostic": Diagnostic.variants,
    **SLOTS,
}
VARIANTS = [(family, kind) for family, registry in FAMILIES.items() for kind in registry]
TINY_TASKS = {
    "sparse modular addition": {"length": 7, "n_terms": 3, "n_train": 24, "n_test": 16, "modulus": 3},
    "listops": {"max_length": 16, "n_train": 64, "n_test": 64},
}
TINY_MODELS = {
    "encoder": {"d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 5},
    "visual model": {"n_embeddings": 3, "d_ff": 5},
}
HARMLESS = {
    "sparse modular addition": {"n_terms": 1, "split": "overlapping"},
    "listops": {"n_train": 64, "n_test": 64, "min_length": 3},
    "encoder": {"n_heads": 1},
}
"""Values that let one knob at a time go to its bounds without contradicting another."""


def tiny(task="sparse modular addition", model="encoder", arm="standard", optimizer="adamw", **more):
    return from_plain_experiment(
        {
            "task": {"kind": task} | TINY_TASKS.get(task, {}),
            "model": {"kind": model} | TINY_MODELS.get(model, {}),
            "optimizer": {"kind": optimizer},
            "arms": [arm],
            "batch_size": 5,
            "steps": 4,
            "seeds": [0, 3],
        }
        | more
    )


def group(**settings):
    experiment = tiny(**settings)
    return TorchGroup(experiment.setting(experiment.arms[0].name), experiment.seeds)


@pytest.mark.parametrize(("family", "kind"), VARIANTS)
class TestEveryVariant:
    def test_explains_itself_and_cites_a_source(self, family, kind):
        variant = FAMILIES[family][kind]
        for word in ("title", "sentence", "equation", "source", "certainty"):
            assert getattr(variant, word).strip(), word
        assert not variant.sentence[0].islower() and variant.sentence.rstrip().endswith((".", "?"))
        assert variant.certainty[0] in "ABCD"

    def test_survives_its_plain_form(self, family, kind):
        settings = FAMILIES[family][kind]()
        assert from_plain(type(settings), json.loads(json.dumps(to_plain(settings)))) == settings

    def test_every_field_is_a_knob_or_a_slot(self, family, kind):
        for field in fields(FAMILIES[family][kind]):
            assert {"knob", "registry"} & set(field.metadata), field.name

    def test_knobs_hold_at_both_ends_and_break_beyond(self, family, kind):
        variant = FAMILIES[family][kind]
        for field, spec in knob_fields(variant):
            assert spec.label and (spec.label[0].isupper() or spec.label[0] == "\N{GREEK SMALL LETTER LAMDA}")
            harmless = {k: v for k, v in HARMLESS.get(kind, {}).items() if k != field.name}
            ends = spec.options or [end for end in (spec.low, spec.high) if end is not None]
            for end in ends:
                try:
                    from_plain(variant, harmless | {field.name: end})
                except SandboxError as contradiction:
                    assert "must lie" not in str(contradiction) and "choose one" not in str(contradiction)
            beyond = [spec.low - 1] if spec.low is not None else []
            beyond += [spec.high * 2 + 1] if spec.high is not None else []
            for value in beyond:
                with pytest.raises(SandboxError):
                    from_plain(variant, harmless | {field.name: value})
            with pytest.raises(SandboxError):
                from_plain(variant, harmless | {field.name: None})


@pytest.mark.parametrize("kind", Task.variants)
class TestEveryTask:
    def test_rows_are_tokens_and_classes_of_the_task(self, kind):
        task = tiny(task=kind).task
        data = task.data(3)
        for tokens, targets in (
            (data.train_tokens, data.train_targets),
            (data.test_tokens, data.test_targets),
        ):
            assert tokens.shape == (len(targets), task.n_tokens)
            assert tokens.max() < task.vocab_size and targets.min() >= 0 and targets.max() < task.n_classes

    def test_equal_seeds_give_equal_rows(self, kind):
        task = tiny(task=kind).task
        assert np.array_equal(task.data(3).train_tokens, task.data(3).train_tokens)

    def test_lines_are_shares_and_groups_cover_the_test_rows(self, kind):
        data = tiny(task=kind).task.data(3)
        assert data.lines and all(0 < line < 1 for line in data.lines.values())
        assert data.loss_lines and all(line >= 0 for line in data.loss_lines.values())
        for part in data.groups.values():
            assert len(part.index) == len(data.test_targets) and part.index.max() < len(part.labels)

    def test_is_learned_from_by_every_optimizer(self, kind):
        for optimizer in Optimizer.variants:
            losses = group(task=kind, optimizer=optimizer).advance(4)
            assert losses.shape == (4, 2) and np.isfinite(losses).all()


KINDS_WITH_TEACHER = {kind for kind, variant in Initialization.variants.items() if variant.needs_teacher}


@pytest.mark.parametrize("kind", [kind for kind in arm_kinds() if kind not in KINDS_WITH_TEACHER])
class TestEveryArm:
    def test_trains_with_finite_losses_on_every_task(self, kind):
        for task in Task.variants:
            assert np.isfinite(group(task=task, arm=kind).advance(4)).all()

    def test_resumes_bit_for_bit(self, kind):
        straight, first, second = (group(arm=kind) for _ in range(3))
        straight.advance(4)
        first.advance(2)
        second.load(first.state())
        second.advance(2)
        assert np.array_equal(straight.theta(), second.theta())

    def test_a_run_alone_is_itself_in_a_group_bit_for_bit(self, kind):
        together = group(arm=kind, batch_size=32, seeds=[0, 3, 5])
        alone = group(arm=kind, batch_size=32, seeds=[3])
        assert np.array_equal(together.advance(3)[:, 1:2], alone.advance(3))
        assert np.array_equal(together.theta()[1:2], alone.theta())

    def test_draws_from_its_own_generators_only(self, kind):
        torch.manual_seed(1)
        first = group(arm=kind).theta()
        torch.manual_seed(2)
        assert np.array_equal(first, group(arm=kind).theta())

    def test_sees_the_data_of_the_standard_arm(self, kind):
        for arm, standard in zip(group(arm=kind).task_data, group().task_data, strict=True):
            assert np.array_equal(arm.train_tokens, standard.train_tokens)

    def test_says_why_where_a_model_gives_it_no_meaning(self, kind):
        for name, architecture in Architecture.variants.items():
            slot = arm_kinds()[kind]
            if slot in architecture.slots_without_effect:
                with pytest.raises(SandboxError, match=r"does nothing here|is fixed here"):
                    tiny(model=name, arm=kind)

    def test_its_spec_names_it(self, kind):
        arm = parse_arm(kind)
        assert arm.name == kind and [variant.kind for variant in arm.changes.values()] == [kind]


@pytest.mark.parametrize("kind", Diagnostic.variants)
@pytest.mark.parametrize("model", Architecture.variants)
class TestEveryDiagnostic:
    def view(self, model):
        trained = group(model=model)
        trained.advance(2)
        probe = probe_batch(trained.setting.task, trained.task_data[0], seed=0)
        return trained, SnapshotView.of(trained, probe, {})

    def test_answers_with_a_reading_that_survives_the_store(self, kind, model):
        answer = Diagnostic.variants[kind]().read(self.view(model)[1])
        columns, meta = encode(answer)
        json.dumps(meta)
        again = decode(columns, meta)
        assert type(again) is type(answer)
        if not isinstance(answer, NotApplicable):
            assert columns and all(values.shape[0] == 2 for values in columns.values())

    def test_changes_nothing_and_repeats_itself(self, kind, model):
        trained, view = self.view(model)
        before = trained.theta()
        first, second = (encode(Diagnostic.variants[kind]().read(view))[0] for _ in range(2))
        assert np.array_equal(before, trained.theta())
        assert all(np.array_equal(first[name], second[name], equal_nan=True) for name in first)


@pytest.mark.parametrize("kind", KINDS_WITH_TEACHER)
def test_a_start_from_a_stored_run_says_what_it_needs(kind):
    with pytest.raises(SandboxError, match="run"):
        group(arm=kind)


def test_lambda_zero_is_the_standard_run_bit_for_bit():
    standard, zero = group(arm="standard"), group(arm="spectral:shift=0")
    assert np.array_equal(standard.advance(4), zero.advance(4))
    assert np.array_equal(standard.theta(), zero.theta())


def test_menus_list_every_kind_once():
    kinds = [kind for registry in SLOTS.values() for kind in registry]
    assert all(a != b for a, b in pairwise(sorted(kinds)))
