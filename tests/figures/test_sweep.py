"""A sweep as a figure: every seed a point, the mean with its interval, and what is missing is said."""

import numpy as np
import pytest

from sandbox.figures.sweep import Swept, sweep_figure
from sandbox.mathematics.statistics import mean_band

FINALS = {4: [0.5, 0.7], 64: [0.9, 1.0], 16: [0.8, np.nan]}


def swept(done: bool = True) -> list[Swept]:
    return [
        Swept(width, arm, np.array(finals) - 0.1 * place, done)
        for width, finals in FINALS.items()
        for place, arm in enumerate(("standard", "other"))
    ]


def test_every_seed_is_a_point_and_the_mean_has_its_interval_in_the_order_of_the_knob() -> None:
    figure = sweep_figure(swept(), "Width", "Held-out accuracy", False, False, share=True).figure
    points, mean = (next(t for t in figure.data if t.name == name) for name in ("other, seeds", "other"))
    assert list(points.x) == [4, 4, 16, 64, 64]
    np.testing.assert_allclose(points.y, [0.4, 0.6, 0.7, 0.8, 0.9])
    assert list(mean.x) == [4, 16, 64] and list(mean.customdata) == [2, 1, 2]
    np.testing.assert_allclose(mean.y, [0.5, 0.7, 0.85])
    band = mean_band(np.array([[0.4], [0.6]]))
    assert mean.error_y.array[0] == pytest.approx(float(band.high[0] - band.mean[0]))
    assert mean.error_y.array[1] == 0, "one seed has no interval"
    assert figure.layout.yaxis.labelalias["50%"] == "50 %"


def test_a_knob_of_words_is_an_axis_of_words() -> None:
    words = [Swept(word, "standard", np.array([0.5]), True) for word in ("pre", "post")]
    figure = sweep_figure(words, "Placement", "Held-out loss", True, False).figure
    assert figure.layout.xaxis.type == "category" and figure.layout.yaxis.labelalias is None


@pytest.mark.parametrize("log", [True, False])
def test_a_log_axis_is_for_positive_numbers(log: bool) -> None:
    assert (
        sweep_figure(swept(), "Width", "Held-out loss", log, True).figure.layout.xaxis.type == "log"
    ) == log
    some = [Swept(0.0, "standard", np.array([0.5]), True), *swept()]
    assert sweep_figure(some, "Width", "Held-out loss", True, True).figure.layout.xaxis.type != "log"


def test_what_is_missing_is_said() -> None:
    notes = " ".join(sweep_figure(swept(done=False), "Width", "Held-out loss", False, False).notes)
    assert "2 seeds that are not a number" in notes and "3 values of the knob are not done" in notes
    nothing = sweep_figure([Swept(4, "standard", np.zeros(0), False)], "Width", "Held-out loss", False, False)
    assert "No point has recorded Held-out loss yet." in nothing.alt
