"""The film of a run: as long as asked, honest about what was known when, and stopped without a trace."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sandbox.figures.animation import Chosen, write_film
from sandbox.figures.animation.growing import Axes, ticks
from sandbox.figures.animation.pictures import ramp
from sandbox.figures.animation.sheet import Sheet
from sandbox.figures.palette import arm_style
from sandbox.foundations.errors import InvalidData
from sandbox.store import Run, RunWriter, open_run
from tests.live.synthetic import SyntheticRun


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("runs") / "a-run"
    made = SyntheticRun(folder, arms=2, steps=200, evaluate_every=10, read_every=25, nan_at=80)
    made.grow(200)
    made.finish()
    with open_run(folder) as opened:
        yield opened


def frames(path: Path) -> list[np.ndarray]:
    with Image.open(path) as film:
        found = []
        for place in range(film.n_frames):  # type: ignore[attr-defined]
            film.seek(place)
            found.append(np.asarray(film.convert("RGB")))
    return found


def coloured(frame: np.ndarray, colour: str, box: tuple[slice, slice]) -> int:
    """Pixels of the box that are near `colour`."""
    wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return int((np.abs(frame[box].astype(int) - wanted).sum(axis=-1) < 40).sum())


def rightmost(frame: np.ndarray, colour: str, box: tuple[slice, slice]) -> int:
    """The last column of the box in which there is `colour`."""
    n = frame[box].shape[1]
    columns = (slice(x, x + 1) for x in range(n))
    return max((x.start for x in columns if coloured(frame[box], colour, (slice(None), x))), default=0)


CURVES = (slice(60, 520), slice(70, 550))
PICTURES = (slice(90, 460), slice(580, 940))
BAR = (slice(582, 587), slice(20, 940))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_curves_grow_pictures_move_and_the_bar_runs_through(run: Run, tmp_path: Path, dark: bool) -> None:
    path = write_film(run, tmp_path / "deep" / "run.gif", seconds=2, dark=dark)
    shown = frames(path)
    assert len(shown) == 20 and shown[0].shape == (600, 960, 3)
    assert path.stat().st_size < 1_500_000
    colour = arm_style(1, dark).colour
    reach = [rightmost(frame, colour, CURVES) for frame in shown]
    assert reach[3] < 120 < reach[10] < 300 < reach[-1]
    assert (shown[0][PICTURES] != shown[-1][PICTURES]).any()
    played = [coloured(frame, "#9aa4b0" if dark else "#6a717b", BAR) for frame in shown]
    assert played == sorted(played) and played[-1] > 15 * max(played[1], 1)


def test_the_end_stands_longer_than_the_other_frames(run: Run, tmp_path: Path) -> None:
    with Image.open(write_film(run, tmp_path / "run.gif", seconds=1)) as film:
        durations = []
        for place in range(film.n_frames):  # type: ignore[attr-defined]
            film.seek(place)
            durations.append(film.info["duration"])
        assert film.info["loop"] == 0
    assert durations == [100] * 9 + [2500]


def test_progress_is_told_and_stopping_leaves_the_earlier_film(run: Run, tmp_path: Path) -> None:
    path, shares = tmp_path / "run.gif", list[float]()
    path.write_bytes(b"earlier")

    def enough(share: float) -> None:
        shares.append(share)
        if share > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_film(run, path, seconds=1, tell=enough)
    assert shares == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"earlier"]


def test_a_film_shows_the_chosen_seed_layer_and_head(run: Run, tmp_path: Path) -> None:
    plain = frames(write_film(run, tmp_path / "a.gif", 1.0))
    same = frames(write_film(run, tmp_path / "b.gif", 1.0, chosen=Chosen(0)))
    assert all((a == b).all() for a, b in zip(plain, same, strict=True))
    other = frames(write_film(run, tmp_path / "c.gif", 1.0, chosen=Chosen(2, 0, 1)))
    title = (slice(46, 68), slice(580, 940))
    assert (plain[-1][title] != other[-1][title]).any()  # "head 2, seed 2" is said above the maps
    apart = np.abs(plain[-1][CURVES].astype(int) - other[-1][CURVES]).max(axis=-1)
    assert (apart < 40).mean() > 0.98  # the curves are the same, in each film's own set of colours


@pytest.mark.parametrize("chosen", [Chosen(9), Chosen(0, 1), Chosen(0, 0, 2), Chosen(0, -1)])
def test_a_seed_layer_or_head_that_is_not_there_is_refused(run: Run, tmp_path: Path, chosen: Chosen) -> None:
    with pytest.raises(InvalidData, match=r"has no seed|is not among them"):
        write_film(run, tmp_path / "a.gif", 1.0, chosen=chosen)
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_pictures_is_curves_alone(tmp_path: Path) -> None:
    plain = {"steps": 20, "seeds": [4], "arms": [{"name": "θ <b>"}]}
    with RunWriter.create(tmp_path / "bare", plain) as writer:
        writer.scalars(0, "test_accuracy", [0, 10, 20], np.array([[0.5], [0.7], [np.nan]]))
        writer.scalars(0, "test_loss", [0, 10, 20], np.array([[0.7], [np.inf], [np.nan]]))
    shown = frames(write_film(open_run(tmp_path / "bare"), tmp_path / "bare.gif", seconds=1))
    assert coloured(shown[-1], arm_style(0, False).colour, (slice(60, 520), slice(70, 940))) > 100


def test_a_run_without_an_evaluation_says_so(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "new", {"steps": 9, "seeds": [0], "arms": [{"name": "a"}]}) as writer:
        writer.commit()
        with pytest.raises(InvalidData, match="no evaluation yet"):
            write_film(open_run(tmp_path / "new"), tmp_path / "a.gif")
    assert not (tmp_path / "a.gif").exists()


@pytest.mark.parametrize("seconds", [0.5, 61.0, float("nan")])
def test_a_length_that_nobody_wants_is_refused(run: Run, tmp_path: Path, seconds: float) -> None:
    with pytest.raises(InvalidData, match="choose from 1 to 60"):
        write_film(run, tmp_path / "a.gif", seconds=seconds)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e9))
def test_ticks_are_round_few_and_inside(low: float, width: float) -> None:
    found = ticks(low, low + width)
    assert 2 <= len(found) <= 11
    slack = 1e-6 * width
    assert all(low - slack <= tick <= low + width + slack for tick in found)


def test_a_number_stands_where_its_axes_say() -> None:
    axes = Axes((10, 20, 110, 220), last=50, low=0.0, high=2.0)
    assert axes.place(0, 0) == (10, 220)
    assert axes.place(50, 2) == (110, 20)
    assert axes.place(25, 0.5) == (60, 170)


def test_the_ramp_begins_and_ends_with_the_scales_own_colours() -> None:
    shades = ramp(False, 7)
    assert shades.shape == (7, 3)
    assert shades[0].mean() > shades[-1].mean()
    assert ramp(True, 7)[0].mean() < ramp(True, 7)[-1].mean()


def test_every_marker_of_the_palette_is_drawn_in_its_own_shape() -> None:
    pictures = set()
    for index in range(8):
        sheet = Sheet(40, 40, False)
        sheet.marker(arm_style(index, False).symbol, (20, 20), 8, "#000000")
        pictures.add(sheet.finished().tobytes())
    assert len(pictures) == len({arm_style(index, False).symbol for index in range(8)})
