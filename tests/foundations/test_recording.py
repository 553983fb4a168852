"""Probes: they change nothing, are named by their place, and only a recording listens."""

import torch
from torch import Tensor, nn

from sandbox.foundations.probes import Probe, recording


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.after = Probe()

    def forward(self, x: Tensor) -> Tensor:
        return self.after(self.linear(x))


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(Layer(), Layer())


def test_a_recording_holds_every_probe_by_its_dotted_place() -> None:
    net, x = model(), torch.ones(2, 3)
    with recording(net) as trace:
        out = net(x)
    assert list(trace) == ["0.after", "1.after"]
    assert torch.equal(trace["1.after"], out)
    assert torch.equal(trace["0.after"], net[0](x))


def test_a_probe_adds_no_parameter_and_changes_no_bit() -> None:
    net, x = model(), torch.rand(2, 3)
    assert sorted(net.state_dict()) == [
        "0.linear.bias",
        "0.linear.weight",
        "1.linear.bias",
        "1.linear.weight",
    ]
    quiet = net(x)
    with recording(net):
        heard = net(x)
    assert torch.equal(quiet, heard)


def test_nobody_listens_after_the_recording_even_when_the_forward_failed() -> None:
    net = model()
    try:
        with recording(net) as trace:
            net(torch.ones(2, 3))
            net(torch.ones(2, 5))
    except RuntimeError:
        pass
    kept = dict(trace)
    net(torch.zeros(2, 3))
    assert all(trace[name] is kept[name] for name in kept)
    assert not any(module._forward_hooks for module in net.modules())
