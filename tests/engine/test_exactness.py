"""The machine is asked whether stacking is exact, and its answer is heeded."""

from dataclasses import replace

import pytest
import torch

from sandbox.engine import exactness, torch_engine
from sandbox.engine.exactness import stacks_exactly
from sandbox.engine.stacking import StackedModel
from sandbox.engine.torch_engine import TorchGroup
from tests.engine.arms import ARMS

CPU = torch.device("cpu")


def ask(size: int = 20) -> bool:
    """Put the question for the stacked visual model."""
    setting = ARMS["visual model, stacked"]
    return stacks_exactly(setting.model, setting.task, False, setting.batch_size, size, CPU)


@pytest.mark.parametrize("row", [0, 1, 2, 16])
def test_one_last_bit_in_one_place_is_enough_for_a_no(monkeypatch: pytest.MonkeyPatch, row: int) -> None:
    plain = StackedModel.logits

    def off(self: StackedModel, parameters: dict[str, torch.Tensor], tokens: torch.Tensor) -> torch.Tensor:
        logits = plain(self, parameters, tokens)
        nudge = torch.zeros_like(logits)
        nudge[row:] = 1e-6
        return logits * (1 + nudge)

    monkeypatch.setattr(StackedModel, "logits", off)
    assert ask() is (row == 0)  # all rows alike: that is exact


def test_the_visual_model_of_the_paper_is_exact_in_a_stack() -> None:
    assert ask()


def test_where_a_stack_is_not_exact_runs_go_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = replace(ARMS["visual model, stacked"])
    stacked = TorchGroup(setting, (1, 2)).advance(5)
    monkeypatch.setattr(torch_engine, "stacks_exactly", lambda *_: False)
    calls: list[int] = []
    monkeypatch.setattr(StackedModel, "logits", lambda *_: calls.append(1))
    alone = TorchGroup(setting, (1, 2)).advance(5)
    assert calls == []  # each module is called by itself
    torch.testing.assert_close(torch.from_numpy(alone), torch.from_numpy(stacked), rtol=1e-4, atol=1e-5)


def test_the_question_covers_every_alignment_of_a_line() -> None:
    assert exactness.NEIGHBOURS * 4 > 64
