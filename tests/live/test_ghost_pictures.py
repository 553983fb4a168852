"""The parent's ghost in pictures that are no curves of their own: accuracy by group, and spectra."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from sandbox.foundations.readings import Table
from sandbox.live.feed import Feed
from sandbox.live.hello import hello
from tests.live.synthetic import SyntheticRun
from tests.live.watched_canvas import replayed, strokes

STEPS, BEGUN = 200, 100
PARENT = {"run": "old-parent", "step": BEGUN, "changed": [], "last": 300, "mean": 0}
HOLLOW, PALE = 0.55, 0.5


def fork(folder: Path) -> SyntheticRun:
    """A made-up run with a parent whose accuracies and singular values are told apart from its own."""
    run = SyntheticRun(folder, arms=2, groups=True, steps=STEPS)
    ends = ("query largest", "query smallest", "key largest", "key smallest")
    names = [f"singular values/{end}" for end in ends]
    run.writer.describe(parent=PARENT | {"readings": names})
    steps = list(range(0, 301, 20))
    for arm in range(2):
        for label in ("1", "2"):
            values = np.full((len(steps), len(run.seeds)), 0.25)
            run.writer.scalars(arm, f"parent/test_accuracy/depth/{label}", steps, values)
        for step in steps:
            for name in names:
                value = 40.0 if name.endswith("largest") else 0.02
                run.writer.past(step, arm, name, np.full((len(run.seeds), 1, 2), value, np.float32))
    run.grow(STEPS)
    for arm in range(2):
        for step in range(0, STEPS + 1, 20):
            values = np.array([[4.0, 3.0], [1.0, 0.9], [0.3, 0.2]], np.float32)
            run.writer.reading(step, arm, "spectra", Table(
                cells=np.broadcast_to(values, (3, 1, 2, 3, 2)), rows=("σ1", "σ2", "σ3"),
                columns=("W_Q", "W_K"), unit="singular value", log=True,
            ))  # fmt: skip
    run.writer.commit()
    return run


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Page]:
    """The replay of such a run."""
    folder = tmp_path_factory.mktemp("ghosts") / "run"
    fork(folder).finish()
    with replayed(folder, browser) as made:
        for name in ("Accuracy by group of rows", "Conditioning"):
            made.get_by_role("button", name=name).click()
        yield made


def test_the_parents_groups_come_after_the_runs_own(tmp_path: Path, feed_of: Callable[[Path], Feed]) -> None:
    run = fork(tmp_path / "run")
    feed = feed_of(tmp_path / "run")
    feed.refresh()
    past = [name for name in feed.groups if name.startswith("parent/")]
    assert past == ["parent/test_accuracy/depth/1", "parent/test_accuracy/depth/2"]
    assert feed.groups[-2:] == past and "test_accuracy/depth/1" in feed.groups
    told = {column["name"]: column for column in hello(feed, steer=False)["columns"]}
    assert told[past[0]] == {"name": past[0], "per": "group", "unit": "share"}
    assert told["parent/singular values/query largest"]["per"] == "head"
    run.writer.close()


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("kind", "looks", "legend", "row"),
    [
        ("accuracy by group", {"alpha": HOLLOW, "width": 1.2}, "hollow: parent old-parent",
         "standard, parent old-parent · depth 125.0 % at step 200"),
        ("spectra", {"alpha": PALE, "width": 1.3, "dash": "5,4"},
         "dashed: largest and smallest of parent old-parent",
         "largest of W_Q, parent old-parent40.0step 200"),
    ],
)  # fmt: skip
def test_the_parent_is_drawn_pale_and_named_until_its_ghost_is_put_out(
    page: Page, kind: str, looks: dict[str, object], legend: str, row: str
) -> None:
    def strokes_of(kind: str) -> list[dict[str, object]]:
        return [{name: s[name] for name in ("alpha", "width", "dash")} for s in strokes(page, kind)]

    def drawn() -> int:
        return sum(looks.items() <= stroke.items() for stroke in strokes_of(kind))

    panel = page.locator(f'[data-kind="{kind}"]')
    panel.scroll_into_view_if_needed()
    expect(panel.locator(".acs-foot")).to_contain_text(legend)
    expect(panel.locator("table")).to_contain_text(row, timeout=10_000)
    assert drawn() >= 2
    chip = page.locator(".acs-ghost-chip")
    chip.click()
    panel.scroll_into_view_if_needed()
    expect(panel.locator(".acs-foot")).not_to_contain_text("old-parent")
    expect(panel.locator("table")).not_to_contain_text("old-parent", timeout=10_000)
    assert drawn() == 0
    chip.click()
