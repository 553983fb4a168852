"""Exactness: does a stack give a run the same bits whoever stands beside it? Asked of the machine itself."""

from functools import partial

import torch
from torch import Tensor

from sandbox.engine.gradient import losses_and_gradients
from sandbox.engine.layout import Layout, in_row_order
from sandbox.engine.stacking import StackedModel, attach
from sandbox.foundations.seeding import torch_generator
from sandbox.models import Architecture
from sandbox.tasks import Task

NEIGHBOURS = 17  # one more than there are 4-byte positions in a 64-byte line, so every alignment occurs
BATCHES = 2


def stacks_exactly(
    model: Architecture, task: Task, reference_start: bool, batch_size: int, size: int, device: torch.device
) -> bool:
    """True where one run gets equal losses and gradients at every place of stacks of 2, 3 and 17.

    Matrix libraries may add in another order where a matrix begins off a 16-byte line, which the runs of
    a stack do when a weight has an odd number of entries. The question is put to seed 0 and made-up
    tokens, so the answer is the same for every group of a setting on one machine.
    """
    module = model.build(task, 0, reference_start).to(device)
    parameters = in_row_order(module)
    layout = Layout.of(parameters)
    stacked = StackedModel(module, size)
    alone = torch.zeros((1, layout.stride), device=device)
    alone[0, : layout.size] = torch.cat([value.detach().flatten() for _, value in parameters])
    generator = torch_generator(0, "exactness")
    for _ in range(BATCHES):
        tokens = torch.randint(task.vocab_size, (1, batch_size, task.n_tokens), generator=generator).to(
            device
        )
        targets = torch.randint(task.n_classes, (1, batch_size), generator=generator).to(device)
        answers = []
        for n_runs in (2, 3, min(NEIGHBOURS, size)):
            attached, leaves = attach(layout, alone.repeat(n_runs, 1))
            loss, gradients = losses_and_gradients(
                partial(stacked.logits, attached),
                leaves,
                tokens.expand(n_runs, -1, -1),
                targets.expand(n_runs, -1),
            )
            answers.append(torch.cat([loss[:, None], *gradients], 1))
        if not all(_bits_equal(answer, answers[0][:1]) for answer in answers):
            return False
    return True


def _bits_equal(rows: Tensor, row: Tensor) -> bool:
    return torch.equal(rows.view(torch.int32), row.view(torch.int32).expand(len(rows), -1))
