"""Film: the frames of a run's animation, one after the other, into a GIF."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor

from sandbox.figures.animation.growing import Curves
from sandbox.figures.animation.pictures import Chosen, Pictures, ramp
from sandbox.figures.animation.sheet import Sheet
from sandbox.figures.palette import arm_style
from sandbox.foundations.errors import InvalidData
from sandbox.store import Run
from sandbox.store.again import safe_name
from sandbox.store.whole_file import destination, put_whole

SECONDS = 12.0
FRAMES_A_SECOND = 10
LAST_SECONDS = 2.5
"""For which the end stands before the film begins again."""
LONGEST = 60.0
WIDTH, HEIGHT = 960, 600
COLOURS = 256
SCALE = 48
"""Shades of attention that the film has."""

Tell = Callable[[float], None]
"""Called with the share that is done; may raise to stop."""


def write_film(
    run: Run, out: Path | str | None = None, seconds: float = SECONDS, dark: bool = False,
    tell: Tell | None = None, chosen: Chosen | None = None,
) -> Path:  # fmt: skip
    """Write the run as a GIF that plays in `seconds` to `out` (default: named after the run); its path.

    Curves of all arms and seeds grow beside the pictures of one seed (`chosen`, or the first one of layer 1,
    head 1); nothing is fetched and no browser is needed. Raises InvalidData where nothing was recorded yet,
    the length is not 1 to 60 s, there is no such seed, layer or head, or `out` is no file.
    """
    if not 1 <= seconds <= LONGEST:
        raise InvalidData(f"A film of {seconds:g} seconds is not made; choose from 1 to {LONGEST:g}.")
    path = Path(out or f"{safe_name(run.id)}.gif")
    destination(path)  # what cannot be written to is said before a frame is drawn
    count = round(seconds * FRAMES_A_SECOND)
    frames = _frames(run, count, dark, tell, chosen)
    first = next(frames)
    durations = [round(1000 / FRAMES_A_SECOND)] * (count - 1) + [round(1000 * LAST_SECONDS)]

    def write(part: Path) -> None:
        with open(part, "wb") as file:
            first.save(
                file, "GIF", save_all=True, append_images=frames, duration=durations, loop=0, disposal=1
            )

    return put_whole(path, write)


def _frames(
    run: Run, count: int, dark: bool, tell: Tell | None, chosen: Chosen | None
) -> Iterator[Image.Image]:
    """All frames, in one set of colours."""
    curves = [
        Curves(run, "test_accuracy", "Held-out accuracy", True, run.lines.get("accuracy", {})),
        Curves(run, "test_loss", "Held-out loss in nats", False, run.lines.get("loss", {})),
    ]
    if not any(curve.known for curve in curves):
        raise InvalidData(f"Run {run.id} has recorded no evaluation yet; wait for the first one.")
    pictures = Pictures(run, chosen)
    last = max(curve.last for curve in curves)
    palette = _palette(run, _frame(run, curves, pictures, last, last, dark), dark)
    for done, step in enumerate(np.linspace(0, last, count)):
        if tell is not None:
            tell(done / count)
        whole = _frame(run, curves, pictures, last, float(step), dark)
        yield whole.quantize(palette=palette, dither=Image.Dither.NONE)


def _palette(run: Run, end: Image.Image, dark: bool) -> Image.Image:
    """The colours of all frames: those of the last one, every arm's, and the whole scale of attention."""
    colours = [ImageColor.getrgb(arm_style(index, dark).colour) for index in range(len(run.arms))]
    scale = np.concatenate([np.array(colours, np.float64), ramp(dark, SCALE)]).round().astype(np.uint8)
    swatches = np.repeat(np.repeat(scale[None], 64, axis=0), 24, axis=1)
    sample = Image.new("RGB", (max(end.width, swatches.shape[1]), end.height + 64))
    sample.paste(end, (0, 0))
    sample.paste(Image.fromarray(swatches, "RGB"), (0, end.height))
    return sample.quantize(COLOURS, Image.Quantize.MEDIANCUT)


def _frame(
    run: Run, curves: list[Curves], pictures: Pictures, last: int, step: float, dark: bool
) -> Image.Image:
    sheet = Sheet(WIDTH, HEIGHT, dark)
    sheet.text((20, 14), f"Run {run.id}"[:60], 17)
    sheet.text((WIDTH - 20, 16), f"step {step:.0f} of {last}", 15, "ra")
    split = 560 if pictures.arms else WIDTH - 20
    top, bottom = 46, HEIGHT - 66
    middle = (top + bottom) / 2
    curves[0].draw(sheet, (20, top, split, middle - 4), last, step)
    curves[1].draw(sheet, (20, middle + 4, split, bottom), last, step)
    if pictures.arms:
        pictures.draw(sheet, (split + 20, top, WIDTH - 20, bottom), step)
    x = 24.0
    for index, arm in enumerate(run.arms):
        style = arm_style(index, dark)
        sheet.line([(x, HEIGHT - 42), (x + 26, HEIGHT - 42)], style.colour, 2.4)
        sheet.marker(style.symbol, (x + 13, HEIGHT - 42), 4, style.colour)
        sheet.text((x + 33, HEIGHT - 42), arm[:24], 13, "lm")
        x += 52 + 7.2 * min(len(arm), 24)
    n = len(run.seeds)
    words = f"mean of {n} seeds, least to greatest shaded" if n > 1 else "one seed"
    sheet.text((WIDTH - 20, HEIGHT - 42), words, 11, "rm", faint=True)
    sheet.box((20, HEIGHT - 18, WIDTH - 20, HEIGHT - 14), sheet.grid)
    played = 20 + (WIDTH - 40) * step / max(last, 1)
    sheet.box((20, HEIGHT - 18, played, HEIGHT - 14), sheet.faint)
    return sheet.finished()
