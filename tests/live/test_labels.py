"""Names of reference lines and of points: where nothing runs through them, else in the legend or the tip."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.live.watched_canvas import scripts

pytestmark = pytest.mark.e2e

# Writes labels on lines at some heights of an area from 46 to 346, with curves through the given heights.
WRITTEN = """async ([turns, bases]) => {
  const { writeLabels } = await import('./labels.js'), { Series } = await import('./model.js');
  const kept = new Map(), found = [];
  const x = { value: (p) => p - 46 }, y = { log: false, place: (v) => v };
  const area = { left: 46, right: 346, top: 20, bottom: 178, x, y };
  for (const curves of turns) {
    const said = [], context = { fillRect: () => {}, fillText: (...given) => said.push(given) };
    context.measureText = (text) => ({ width: 6 * text.length });
    const lines = curves.map((heights) => {
      const series = new Series(1);
      series.append(heights.map((_, i) => (300 * i) / (heights.length - 1)), [heights], heights.length);
      return { series, curve: { seeds: true } };
    });
    const words = bases.map((base, i) => ({ text: i ? 'majority' : 'chance', base }));
    const unwritten = writeLabels(context, {}, words, lines, area, Infinity, kept);
    found.push([said.map(([, x, y]) => [x, y]), unwritten]);
  }
  return found;
}"""
FAR = [30, 30]


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    with scripts(browser) as opened:
        yield opened


def written(page: Page, *turns: list[list[int]], bases: tuple[int, ...] = (100,)) -> list[Any]:
    return list(page.evaluate(WRITTEN, [turns, bases]))


def test_a_label_stands_at_the_right_end_and_moves_only_when_curves_come(page: Page) -> None:
    at_right, moved, stays = written(page, [FAR], [[30, 30, 95, 95]], [FAR])
    assert at_right == [[[304, 94]], []]
    (place,), unwritten = moved
    assert unwritten == [] and place != [304, 94]
    assert stays == moved


def test_a_label_without_room_is_returned_for_the_legend_until_there_is_room_again(page: Page) -> None:
    crowded = [[h] * 2 for h in (90, 94, 98, 103, 107, 110)]
    first, dropped, back = written(page, [FAR], crowded, [FAR])
    assert len(first[0]) == 1
    assert dropped == [[], ["chance"]]
    assert back == first


@pytest.mark.parametrize("apart", range(5, 16))
def test_two_labels_never_overprint_one_another(page: Page, apart: int) -> None:
    ((places, unwritten),) = written(page, [FAR], bases=(100, 100 + apart))
    (one, other), wide = sorted(places, key=lambda place: place[1]), 6 * len("majority")
    assert unwritten == [] and (other[1] - one[1] >= 12 or abs(one[0] - other[0]) >= wide)
