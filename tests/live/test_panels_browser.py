"""The folded panels in Chromium: they draw what was read and say what is missing."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Table
from tests.live.serving import served
from tests.live.synthetic import SyntheticRun
from tests.live.test_live_browser import INK, at_step, page
from tests.live.test_open_panels import read_all

pytestmark = pytest.mark.e2e

DRAWN = ("spectra", "singular values", "attention jacobian", "certificates", "theta kinds", "theta by layer",
         "layer norms", "residual parts", "sharpness", "expression tree")  # fmt: skip
UNFOLD = "document.querySelectorAll('.acs-unfold[aria-expanded=false]').forEach((button) => button.click())"
TOKENS = ("[MAX", "1", "[MIN", "2", "3", "]", "]")


def expression(run: SyntheticRun, step: int) -> None:
    """One expression of seven tokens, whose operator of the root is looked at most."""
    cells = column_of([0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    answers = column_of([0.25, 0.75]).swapaxes(3, 4)
    for arm in range(len(run.arms)):
        run.writer.reading(step, arm, "expression", Table(
            cells=cells, rows=TOKENS, columns=("received",), unit="attention received",
        ))  # fmt: skip
        run.writer.reading(step, arm, "probe answers", Table(
            cells=answers, rows=(" ".join(TOKENS),), columns=("0", "1"), unit="probability", truth=(0,),
        ))  # fmt: skip


def column_of(values: list[float]) -> np.ndarray:
    """The numbers as one column of a table, for five seeds of one head."""
    return np.broadcast_to(np.array(values, dtype=np.float32)[:, None], (5, 1, 1, len(values), 1))


def test_panels_draw_what_was_read_and_say_why_nothing_is_there(
    runs_folder: Path, made_up: Callable[..., SyntheticRun], chromium: str
) -> None:
    run = made_up(runs_folder / "run", seeds=5, steps=900, task="listops")
    run.grow(200)
    for step in (100, 200):
        read_all(run, step, without=("residual geometry", "attention condition"))
        expression(run, step)
    run.writer.reading(200, 0, "attention condition", NotApplicable("There is no square matrix here."))
    run.writer.describe(waiting=[{"kind": "residual geometry", "step": 480, "seconds": 3.0, "cost": 0.5}])
    run.writer.commit()
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 200)
        view.evaluate(UNFOLD)
        for kind in DRAWN:
            view.locator(f'[data-kind="{kind}"]').scroll_into_view_if_needed()
            view.wait_for_function(f"(kind) => ({INK})(kind) > 200", arg=kind)
        certificates = view.locator('[data-kind="certificates"]')
        certificates.scroll_into_view_if_needed()
        expect(certificates.locator("table")).to_contain_text("norm bound")
        expect(certificates.locator("table")).to_contain_text("does not apply")
        tree = view.locator('[data-kind="expression tree"]')
        expect(tree.locator(".acs-foot")).to_contain_text("answers 1 with 75.0 %, wrong: it is 0")
        silent = view.locator('[data-kind="attention condition"] .acs-silence')
        silent.scroll_into_view_if_needed()
        expect(silent).to_have_text("There is no square matrix here.")
        view.locator(".acs-arm").nth(1).click()
        foot = view.locator('[data-kind="attention condition"] .acs-foot')
        expect(foot).to_contain_text("no answer for standard")
        waiting = view.locator('[data-kind="residual norms"] .acs-silence')
        waiting.scroll_into_view_if_needed()
        expect(waiting).to_contain_text("waits until about step 480")
        spectrum = view.locator('[data-kind="spectra"]')
        spectrum.scroll_into_view_if_needed()
        spectrum.get_by_role("button", name="W_K").click()
        expect(spectrum.locator(".acs-foot")).to_contain_text("W_K at step 200: 16 values")


def test_a_drag_over_a_long_map_shows_that_part_closely_and_keys_move_it(
    runs_folder: Path, made_up: Callable[..., SyntheticRun], chromium: str
) -> None:
    made_up(runs_folder / "run", arms=1, seeds=1, tokens=160).grow(100)
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 100)
        panel = view.locator('[data-kind="attention map"]')
        canvas, foot = panel.locator("canvas"), panel.locator(".acs-foot")
        expect(foot).to_contain_text("cells average 3 × 3 tokens")
        box = canvas.bounding_box()
        assert box is not None
        view.mouse.move(box["x"] + 110, box["y"] + 70)
        view.mouse.down()
        view.mouse.move(box["x"] + 160, box["y"] + 130, steps=4)
        view.mouse.up()
        part = panel.get_by_role("button", name="part")
        expect(part).to_have_attribute("aria-pressed", "true")
        view.mouse.move(5, 5)
        expect(foot).to_contain_text("queries")
        before = foot.inner_text()
        canvas.press("Shift+ArrowRight")
        view.mouse.move(5, 6)
        expect(foot).not_to_have_text(before)
        part.click()
        expect(foot).to_contain_text("cells average 3 × 3 tokens")


def test_phases_and_spikes_are_named_explained_and_gone_to(
    runs_folder: Path, made_up: Callable[..., SyntheticRun], chromium: str
) -> None:
    run = made_up(runs_folder / "run", arms=2, seeds=2, steps=400)
    run.grow(100)
    run.writer.event(20, "phase", "plateau: the loss has not moved", 0, 0)
    run.writer.event(60, "phase", "fitting: the loss falls", 0, 0)
    run.writer.event(80, "spike", "min |xi| 0.02 of usual 0.4", 1, 1)
    run.grow(400)
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 400)
        view.evaluate(UNFOLD)
        panel = view.locator('[data-kind="phases"]')
        panel.scroll_into_view_if_needed()
        expect(panel.locator(".acs-foot")).to_contain_text("chosen seed: fitting · 1 spike")
        expect(panel.locator("table")).to_contain_text("spike at step 80")
        box = panel.locator("canvas").bounding_box()
        assert box is not None
        x = box["x"] + 30 + (box["width"] - 40) * 80 / 400
        view.mouse.move(x, box["y"] + 4 + 3.5 * 22)
        expect(panel.locator(".acs-tip")).to_contain_text("min |xi| 0.02 of usual 0.4")
        view.mouse.click(x, box["y"] + 4 + 3.5 * 22)
        expect(view.locator(".acs-time")).to_contain_text("viewing step 80")
        expect(view.get_by_role("radio", name="spectral:shift=0.5")).to_have_attribute("aria-checked", "true")
