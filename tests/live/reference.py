"""Reference pictures of what is drawn, without words, so that they are the same whatever fonts a machine has.

`python -m tests.live.reference` draws them anew into tests/live/reference; look at them before a commit.
"""

import base64
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.live.synthetic import SyntheticRun
from tests.live.watched_canvas import launched, replayed

FOLDER = Path(__file__).with_name("reference")
KINDS = ("loss", "condition numbers", "trajectories", "attention map")
SCHEMES = ("light", "dark")
NAN_AT, STEPS = 700, 1000
ROUGHER = 2
"""Pixels of a canvas averaged to one of the picture, both ways: how edges are smoothed is no matter."""
WORDLESS = """const kind = CanvasRenderingContext2D.prototype;
for (const name of ['fillText', 'strokeText']) kind[name] = () => {};
kind.measureText = (text) => ({ width: 6 * String(text).length });"""
SIZED = """.acs-panel .acs-canvas { flex: none !important; min-height: 0 !important;
  width: 360px !important; height: 200px !important; }"""


@contextmanager
def wordless(browser: Browser, folder: Path, scheme: str) -> Iterator[Page]:
    """The replay of a made-up run with canvases of one size that no word is written on."""
    run = SyntheticRun(folder / "run", steps=STEPS, nan_at=NAN_AT)
    run.grow(STEPS)
    run.finish()
    with replayed(folder / "run", browser, script=WORDLESS, color_scheme=scheme) as page:
        page.add_style_tag(content=SIZED)
        page.wait_for_timeout(400)
        yield page


def picture(page: Page, kind: str) -> Image.Image:
    """What stands on a panel's canvas, on the page's colour."""
    panel = page.locator(f'[data-kind="{kind}"]')
    panel.scroll_into_view_if_needed()
    page.wait_for_timeout(200)
    data = panel.locator("canvas").evaluate("(canvas) => canvas.toDataURL()")
    drawn = Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2]))).convert("RGBA")
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    paper = Image.new("RGBA", drawn.size, (*shade[:3], 255))
    whole = Image.alpha_composite(paper, drawn).convert("RGB")
    return whole.resize((whole.width // ROUGHER, whole.height // ROUGHER), Image.Resampling.BOX)


def path(kind: str, scheme: str) -> Path:
    """Where a reference picture lies."""
    return FOLDER / f"{kind.replace(' ', '-')}-{scheme}.png"


def apart(one: Image.Image, other: Image.Image) -> tuple[float, float]:
    """Mean difference of two pictures in 255ths, and the share of pixels more than a fifth apart."""
    a, b = (np.asarray(image, dtype=np.int16) for image in (one, other))
    if a.shape != b.shape:
        return 255.0, 1.0
    difference = np.abs(a - b).max(axis=2)
    return float(difference.mean()), float((difference > 51).mean())


def main() -> None:
    """Draw all of them anew."""
    FOLDER.mkdir(exist_ok=True)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    with launched(chromium) as browser:
        for scheme in SCHEMES:
            with tempfile.TemporaryDirectory() as folder, wordless(browser, Path(folder), scheme) as page:
                for kind in KINDS:
                    picture(page, kind).save(path(kind, scheme), optimize=True)
    sys.stdout.write(
        "\n".join(f"{file.name}: {file.stat().st_size} bytes" for file in FOLDER.iterdir()) + "\n"
    )


if __name__ == "__main__":
    main()
