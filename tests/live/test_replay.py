"""The saved replay: the server's own messages, within a budget, with every text of the run harmless."""

import base64
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.foundations.errors import InvalidData, RunUnavailable
from sandbox.live.feed import Feed
from sandbox.live.replay.page import replay_page
from sandbox.live.replay.recording import Recording, record
from sandbox.live.selection import Selection
from sandbox.live.updates import Cursor, next_update
from sandbox.live.wire import Update, decode
from sandbox.store import RunWriter, open_run
from tests.live import synthetic
from tests.live.synthetic import SyntheticRun

pytestmark = pytest.mark.slow

PLENTY = 50_000_000
HOSTILE = ("</script><script>hacked=1</script>", "<img src=x onerror=hacked=1>", "a'\"&<!--\u2028")


@pytest.fixture
def run(runs_folder: Path, made_up: Callable[..., SyntheticRun]) -> SyntheticRun:
    made = made_up(runs_folder / "run", steps=400, groups=True)
    made.grow(400)
    made.finish()
    return made


def told(recording: Recording, choice: str) -> Update:
    """What the page's script puts together for a choice."""
    chunks = [recording.chunks[part] for part in recording.parts[choice]]
    header = bytearray(recording.header)
    header[24:26] = sum(count for count, _ in chunks).to_bytes(2, "little")
    return decode(bytes(header) + b"".join(data for _, data in chunks))


def pictures(update: Update) -> list[tuple[str, int, int]]:
    return sorted(
        (type(block).__name__, getattr(block, "kind", 0), block.step)
        for block in update.blocks
        if not hasattr(block, "series")
    )


def curves(blocks: list[Any]) -> dict[tuple[int, int], tuple[bytes, bytes]]:
    return {
        series: (block.steps.tobytes(), block.values[i].tobytes())
        for block in blocks
        if hasattr(block, "series")
        for i, series in enumerate(block.series)
    }


def test_every_choice_is_answered_with_what_the_server_would_send(
    run: SyntheticRun, runs_folder: Path
) -> None:
    recording = record(runs_folder / "run", PLENTY)
    assert len(recording.parts) == 4 * 3 * 1 * 2
    feed = Feed("run", runs_folder / "run")
    feed.refresh()
    for choice in ("0/0/0/0", "2/1/0/1"):
        arm, seed, layer, head = map(int, choice.split("/"))
        wish = {"arm": arm, "seed": seed, "layer": layer, "head": head, "batch": True, "groups": True}
        wish |= {"open": sorted(feed.readings()), "grid": True}
        message, _ = next_update(feed, Cursor(), Selection.read(wish, feed), 0)
        server, page = decode(message), told(recording, choice)
        assert pictures(page) == pictures(server)
        sent, kept = curves(server.blocks), curves(page.blocks)
        assert sent and {series: kept[series] for series in sent} == sent
    feed.close()


def test_what_several_choices_share_is_kept_once(run: SyntheticRun, runs_folder: Path) -> None:
    recording = record(runs_folder / "run", PLENTY)
    assert len({data for _, data in recording.chunks}) == len(recording.chunks)
    shared = set(recording.parts["0/0/0/0"]) & set(recording.parts["0/0/0/1"])
    assert len(shared) > 3


def test_a_budget_leaves_pictures_out_evenly_and_keeps_every_curve(
    run: SyntheticRun, runs_folder: Path
) -> None:
    whole = record(runs_folder / "run", PLENTY)
    size = sum(4 * len(data) // 3 for _, data in whole.chunks)
    small = record(runs_folder / "run", size // 2)
    assert sum(4 * len(data) // 3 for _, data in small.chunks) <= size // 2
    assert 2 <= small.pictures < small.recorded == whole.recorded == 21
    full, thin = told(whole, "1/2/0/1"), told(small, "1/2/0/1")
    assert curves(full.blocks) == curves(thin.blocks)
    steps = [step for name, kind, step in pictures(thin) if name == "MapBlock"]
    assert (steps[0], steps[-1]) == (0, 400)
    assert np.ptp(np.diff(steps)) <= 20


def test_a_budget_too_small_for_two_pictures_is_refused_with_what_it_takes(
    run: SyntheticRun, runs_folder: Path
) -> None:
    with pytest.raises(InvalidData, match=r"needs \d\.\d MB and may have 0\.0"):
        record(runs_folder / "run", 1000)


def test_a_folder_without_a_run_is_refused(runs_folder: Path) -> None:
    (runs_folder / "empty").mkdir(parents=True)
    with pytest.raises(RunUnavailable, match="holds no run yet; nothing to replay"):
        record(runs_folder / "empty", PLENTY)


def test_progress_is_told_and_may_stop_the_work(run: SyntheticRun, runs_folder: Path) -> None:
    shares: list[float] = []
    record(runs_folder / "run", PLENTY, shares.append)
    assert shares == sorted(shares) and shares[0] == 0 and 0.9 < shares[-1] < 1

    def enough(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(runs_folder / "run", PLENTY, enough)


class Elements(HTMLParser):
    """The elements of a page, as a browser finds them, and the data of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data: dict[str, str] = {}
        self._open = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = str(dict(attrs).get("type", tag))

    def handle_data(self, data: str) -> None:
        self.data[self._open] = self.data.get(self._open, "") + data


def test_no_text_of_the_run_becomes_part_of_the_page(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harmless = Elements(replay_page(hostile_run(runs_folder / "plain", ("a", "b", "c"), monkeypatch)))
    page = Elements(replay_page(hostile_run(runs_folder / "run", HOSTILE, monkeypatch)))
    assert page.tags[1:] == [(tag, given) for tag, given in harmless.tags[1:]]
    recording = json.loads(page.data["application/json"])
    assert recording["hello"]["arms"] == list(HOSTILE)
    assert [tag for tag, given in page.tags if {"src", "href", "srcset", "style"} & given.keys()] == []


def hostile_run(folder: Path, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> open_run:  # type: ignore[valid-type]
    """A short run whose every free text is one of `names`."""
    monkeypatch.setattr(synthetic, "ARMS", names)
    made = SyntheticRun(folder, arms=3, seeds=1, steps=40)
    made.writer.describe(notes=list(names))
    made.writer.event(20, names[0], names[1], 2, 0)
    made.grow(40)
    made.writer.status("stopped", 40, 1.0, names[1])
    made.writer.close()
    return open_run(folder)


def test_the_policy_names_exactly_the_pages_own_script_and_style(
    run: SyntheticRun, runs_folder: Path
) -> None:
    import hashlib

    page = replay_page(open_run(runs_folder / "run"))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    for tag in ('script type="module"', "style"):
        text = page.split(f"<{tag}>")[1].split(f"</{tag.split()[0]}>")[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    assert policy[1].startswith("default-src 'none';") and "unsafe" not in policy[1]


def test_a_run_that_is_being_written_can_be_saved_too(runs_folder: Path) -> None:
    made = SyntheticRun(runs_folder / "run", steps=400)
    made.grow(200)
    assert "running at step 200 of 400" in replay_page(open_run(runs_folder / "run"))
    assert isinstance(made.writer, RunWriter)
    made.finish()
