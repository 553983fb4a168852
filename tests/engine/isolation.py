"""What every engine promises of a run whose weights are no longer numbers."""

import numpy as np

from sandbox.engine.torch_engine import TorchGroup


def assert_a_broken_run_leaves_the_others_alone(sound: TorchGroup, broken: TorchGroup, n_steps: int) -> None:
    """Break the third of four runs of `broken`; all the others keep the numbers of `sound`, bit for bit."""
    sound.advance(3)
    broken.advance(3)
    state = broken.state()
    state["theta"][2, 4] = np.nan
    broken.load(state)
    expected, losses = sound.advance(n_steps), broken.advance(n_steps)
    others = [0, 1, 3]
    assert np.isnan(losses[1:, 2]).all()
    np.testing.assert_array_equal(losses[:, others], expected[:, others])
    np.testing.assert_array_equal(broken.theta()[others], sound.theta()[others])
    expected_metrics, metrics = sound.evaluate(), broken.evaluate()
    for name, values in expected_metrics.items():
        np.testing.assert_array_equal(metrics[name][others], values[others])
    assert np.isnan(metrics["test_loss"][2]) and metrics["test_accuracy"][2] == 0
