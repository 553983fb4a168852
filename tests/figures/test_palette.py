"""The palette: arms and groups stay apart for colour-blind readers, and all stands out from the page."""

from itertools import combinations

import numpy as np
import pytest
from jaxtyping import Float

from sandbox.figures.palette import arm_style, group_style, sequential

# Severity 1.0 of Machado, Oliveira and Fernandes (2009), "A
# physiologically-based model for simulation of color vision deficiency", on linear RGB.
SEEN_BY = {
    "everyone": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# sRGB to XYZ and its white, IEC 61966-2-1.
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])
LEAST_ARMS, LEAST_GROUPS = 18.0, 14.0
"""CIE 1976 distances in Lab; 2.3 is just noticeable, and thin lines need several times that."""
PAGES = {False: "#ffffff", True: "#12161c"}
LEAST_CONTRAST = 3.0
"""WCAG 2.1, 1.4.11: of graphics."""


def linear(colour: str) -> Float[np.ndarray, " 3"]:
    """Linear RGB of #rrggbb."""
    part = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(rgb: Float[np.ndarray, " 3"]) -> Float[np.ndarray, " 3"]:
    """CIE L*a*b* of linear RGB."""
    t = XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def least(colours: list[str], eye: str) -> tuple[float, tuple[str, str]]:
    """The smallest distance between any two of the colours, and which two."""
    seen = {colour: lab(SEEN_BY[eye] @ linear(colour)) for colour in colours}
    return min((float(np.linalg.norm(seen[a] - seen[b])), (a, b)) for a, b in combinations(colours, 2))


def test_lab_knows_white_black_and_red() -> None:
    np.testing.assert_allclose(lab(linear("#ffffff")), [100, 0, 0], atol=0.02)
    np.testing.assert_allclose(lab(linear("#000000")), [0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(lab(linear("#ff0000")), [53.24, 80.09, 67.20], atol=0.02)


@pytest.mark.parametrize("eye", SEEN_BY)
def test_greys_stay_grey_for_every_eye(eye: str) -> None:
    np.testing.assert_allclose(SEEN_BY[eye] @ np.ones(3), 1.0, atol=2e-6)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", SEEN_BY)
def test_all_eight_arms_stay_apart(eye: str, dark: bool) -> None:
    distance, pair = least([arm_style(i, dark).colour for i in range(8)], eye)
    assert distance >= LEAST_ARMS, (pair, distance)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", SEEN_BY)
def test_all_ten_groups_of_points_stay_apart(eye: str, dark: bool) -> None:
    distance, pair = least([group_style(i, dark).colour for i in range(10)], eye)
    assert distance >= LEAST_GROUPS, (pair, distance)


def test_the_colours_that_were_there_before_would_not_pass() -> None:
    assert least(["#c44f00", "#8a6d00"], "protanopia")[0] < LEAST_ARMS / 3


@pytest.mark.parametrize("dark", [False, True])
def test_every_line_and_point_stands_out_from_its_page(dark: bool) -> None:
    def luminance(colour: str) -> float:
        return float(XYZ[1] @ linear(colour)) + 0.05

    page = luminance(PAGES[dark])
    colours = [arm_style(i, dark).colour for i in range(8)] + [group_style(i, dark).colour for i in range(10)]
    for colour in colours:
        here = luminance(colour)
        assert max(page, here) / min(page, here) >= LEAST_CONTRAST, colour


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", SEEN_BY)
def test_attention_gets_steadily_darker_or_lighter_for_every_eye(eye: str, dark: bool) -> None:
    light = [lab(SEEN_BY[eye] @ linear(colour))[0] for _, colour in sequential(dark)]
    steps = np.diff(light) * (1 if dark else -1)
    assert (steps > 3).all()
