"""A page with a run on it: pressing Train, reading the clock, and timing what a press does, in the page."""

import re
import sys

from playwright.sync_api import Locator, Page, expect

# Milliseconds from the click until the state's word matches, as painted; null after too long. The view is
# looked up anew each time, since the page may build it again, and a press that was lost with it is repeated.
PRESSED = """([label, word, patience, again]) => new Promise((resolve) => {
  const view = () => document.querySelector('.acs-live'), wanted = new RegExp(word);
  const press = () => [...view().querySelectorAll('button')].find((b) => b.title.startsWith(label)).click();
  const began = performance.now();
  let pressed = began;
  const look = () => {
    const now = performance.now();
    if (wanted.test(view()?.querySelector('.acs-state')?.textContent))
      return requestAnimationFrame(() => resolve(now - began));
    if (now - began > patience) return resolve(null);
    if (now - pressed > again && view()) { pressed = now; press(); }
    requestAnimationFrame(look);
  };
  press();
  look();
})"""

# Milliseconds from the click on Train until the run has a picture.
TRAINED = """(button) => new Promise((resolve) => {
  const began = performance.now();
  const look = () => {
    const view = document.querySelector('.acs-live');
    const drawn = view?.dataset.step && view.querySelector('[data-kind="loss"] canvas');
    if (drawn) resolve(performance.now() - began);
    else requestAnimationFrame(look);
  };
  button.click();
  look();
})"""

INK = """(canvas) => {
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let n = 0;
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i] > 60) n++;
  return n;
}"""

PRESS_AGAIN = 8_000  # ms after which a person would press again

BUTTONS = {
    "pause": "Pause or resume",
    "resume": "Pause or resume",
    "step": "Train one",
    "stop": "Stop training",
}


def say(sentence: str) -> None:
    """Tell what was measured to who asks for it with -s or -rP."""
    sys.stdout.write(f"{sentence}\n")


FIRST_MOVE = """const look = () => {
  const place = document.querySelector('.acs-time input');
  if (place && Number(place.value) > 0) window.moved = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);"""


def seconds_to_play(page: Page, address: str) -> float:
    """From asking for Home, on a page that is still blank, to the second step of its recorded run."""
    page.add_init_script(FIRST_MOVE)
    page.goto(address, wait_until="commit")
    return float(page.wait_for_function("window.moved").json_value()) / 1000


STILL = """() => document.getAnimations().every((one) => one.playState !== 'running'
  || one.effect.getComputedTiming().endTime === Infinity)"""


def settled(page: Page) -> None:
    """Wait until nothing of the page is under way."""
    page.wait_for_load_state("networkidle")
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    page.wait_for_timeout(300)
    page.wait_for_function(STILL)  # what is fresh fades in


class Watched:
    """What a person does with, and sees of, the run on `page`."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def train_button(self) -> Locator:
        """The button that starts."""
        return self.page.locator(".st-key-sandbox-train button")

    @property
    def run_id(self) -> str:
        """The run in the address."""
        found = re.search(r"run=([^&]+)", self.page.url)
        assert found is not None
        return found[1]

    @property
    def state(self) -> Locator:
        """The word for what the run is doing."""
        return self.page.locator(".acs-live .acs-state")

    def train(self) -> float:
        """Press Train; milliseconds until the first picture of the run."""
        expect(self.train_button).to_be_enabled()
        passed = float(self.train_button.evaluate(TRAINED))
        self.page.wait_for_url("**run=**")
        return passed

    def step(self) -> int:
        """The step that the newest picture shows."""
        return int(self.page.locator(".acs-live").get_attribute("data-step") or -1)

    def beyond(self, step: int) -> None:
        """Wait until a picture of a later step is drawn."""
        self.page.wait_for_function(
            "(step) => Number(document.querySelector('.acs-live')?.dataset.step ?? -1) > step", arg=step
        )

    def press(self, command: str, word: str, patience: float = 30_000) -> float:
        """Press a button of the head in the page; milliseconds until the state's word matches `word`."""
        passed = self.page.evaluate(PRESSED, [BUTTONS[command], word, patience, PRESS_AGAIN])
        if passed is None:  # seen on overloaded machines, where a new page found all well; it has to
            state = self.page.locator(".acs-state").all_inner_texts()
            say(f"{command}: no {word} within {patience:.0f} ms but {state}")
            self.page.reload()
            self.beyond(-1)
            passed = self.page.evaluate(PRESSED, [BUTTONS[command], word, patience, PRESS_AGAIN])
        assert passed is not None, f"{command}: no {word} within {patience:.0f} ms"
        return float(passed)

    def ink(self, kind: str) -> int:
        """How many pixels of a panel's picture are drawn."""
        return int(self.page.locator(f'[data-kind="{kind}"] canvas').evaluate(INK))
