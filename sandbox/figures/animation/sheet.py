"""Sheet: one frame of a film, drawn at twice its size and then halved, which is what makes edges smooth."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

Box = tuple[float, float, float, float]
"""left, top, right, bottom."""
Point = tuple[float, float]
FINE = 2
"""Pixels drawn for one that is kept, along each side."""
CORNERS: dict[str, Sequence[Point]] = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "triangle-up": ((0, -1.2), (1.15, 0.9), (-1.15, 0.9)),
    "triangle-down": ((0, 1.2), (1.15, -0.9), (-1.15, -0.9)),
    "star": ((0, -1.5), (0.5, -0.5), (1.5, 0), (0.5, 0.5), (0, 1.5), (-0.5, 0.5), (-1.5, 0), (-0.5, -0.5)),
    "x": ((-1.2, -0.7), (-0.7, -1.2), (0, -0.5), (0.7, -1.2), (1.2, -0.7), (0.5, 0), (1.2, 0.7), (0.7, 1.2),
          (0, 0.5), (-0.7, 1.2), (-1.2, 0.7), (-0.5, 0)),
    "cross": ((-0.4, -1.3), (0.4, -1.3), (0.4, -0.4), (1.3, -0.4), (1.3, 0.4), (0.4, 0.4), (0.4, 1.3),
              (-0.4, 1.3), (-0.4, 0.4), (-1.3, 0.4), (-1.3, -0.4), (-0.4, -0.4)),
}  # fmt: skip
"""Outlines of the palette's markers; any other is a circle."""


class Sheet:
    """A sheet of `width` by `height` pixels in the theme's ground; places are in those pixels."""

    def __init__(self, width: int, height: int, dark: bool) -> None:
        self.width, self.height, self.dark = width, height, dark
        self.ground, self.ink = ("#12161c", "#e6e9ee") if dark else ("#ffffff", "#20242b")
        self.faint, self.grid = ("#9aa4b0", "#2b323c") if dark else ("#6a717b", "#e6e9ed")
        self._image = Image.new("RGB", (width * FINE, height * FINE), self.ground)
        # Colours with an opacity are laid over what is there.
        self._draw = ImageDraw.Draw(self._image, "RGBA")

    def finished(self) -> Image.Image:
        """The frame in its own size."""
        return self._image.reduce(FINE)

    def line(self, points: Sequence[Point], colour: str, width: float = 1.0, opacity: float = 1.0) -> None:
        """A line through the points."""
        if len(points) > 1:
            places = [(x * FINE, y * FINE) for x, y in points]
            self._draw.line(places, _with(colour, opacity), round(width * FINE), joint="curve")

    def area(self, points: Sequence[Point], colour: str, opacity: float) -> None:
        """A filled outline."""
        if len(points) > 2:
            self._draw.polygon([(x * FINE, y * FINE) for x, y in points], _with(colour, opacity))

    def box(self, box: Box, colour: str) -> None:
        """A filled box."""
        self._draw.rectangle([side * FINE for side in box], fill=colour)

    def text(self, place: Point, words: str, size: int = 13, anchor: str = "la", faint: bool = False) -> None:
        """Words at `place`; the built-in font has ASCII alone, other letters become question marks."""
        plain = words.encode("ascii", "replace").decode()
        colour = self.faint if faint else self.ink
        self._draw.text((place[0] * FINE, place[1] * FINE), plain, colour, _font(size * FINE), anchor)

    def marker(self, shape: str, place: Point, size: float, colour: str) -> None:
        """A marker of the palette; shapes differ where colours cannot be told apart."""
        x, y = place
        if shape in CORNERS:
            self.area([(x + size * dx, y + size * dy) for dx, dy in CORNERS[shape]], colour, 1.0)
        else:
            r = size * 1.1
            self._draw.ellipse([(x - r) * FINE, (y - r) * FINE, (x + r) * FINE, (y + r) * FINE], fill=colour)

    def cells(self, box: Box, colours: np.ndarray) -> None:
        """A picture (row, column, RGB bytes) stretched over the box, cell by cell."""
        left, top, right, bottom = (round(side * FINE) for side in box)
        picture = Image.fromarray(np.ascontiguousarray(colours, dtype=np.uint8), "RGB")
        stretched = picture.resize((right - left, bottom - top), Image.Resampling.NEAREST)
        self._image.paste(stretched, (left, top))


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


@cache
def _with(colour: str, opacity: float) -> tuple[int, int, int, int]:
    red, green, blue = ImageColor.getrgb(colour)[:3]
    return red, green, blue, round(255 * opacity)
