"""Hub: one feed per watched run, read once for all its viewers, and the bytes they share."""

import asyncio
import logging
import sqlite3
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import RunUnavailable
from sandbox.live.feed import Feed
from sandbox.live.hello import ASSETS
from sandbox.live.scales import Scales
from sandbox.live.selection import Selection
from sandbox.live.updates import Cursor, next_update
from sandbox.live.wire import with_sequence
from sandbox.store.folder import run_path
from sandbox.store.recorded import RECORDED

POLL = 0.03
"""Seconds between looks at the run's database; one look at an unchanged one costs some microseconds."""
STATE_POLL = 0.5
PRESSES = 64
"""Presses of buttons that a run remembers, so that one which is said again does not act again."""
NEWS_POLL = 0.05
"""Seconds between questions just after the run's own word has changed: the queue hears of it too."""
NEWS = 1.0
"""Seconds for which a changed word is news."""
LINGER = 20.0
"""Seconds for which a feed outlives its last viewer, so that a reload does not read everything again."""
SHARED_MESSAGES = 16

log = logging.getLogger(__name__)

StateOf = Callable[[str], dict[str, Any] | None]
"""What the queue says of a run ({"state", "reason"}), or None where the worker's own word stands."""


def folder_of(run_id: str) -> tuple[Path, bool]:
    """The folder of a run's id or of `recorded:NAME`, and whether it is one of the recorded ones."""
    if run_id.startswith(RECORDED):
        return run_path(run_id.removeprefix(RECORDED), ASSETS / "recorded"), True
    return run_path(run_id), False


class Channel:
    """One run's feed with its viewers; `changed` wakes them all."""

    def __init__(self, feed: Feed, state_of: StateOf | None) -> None:
        self.feed = feed
        self.scales = Scales(feed)
        self.viewers = 0
        self._state_of = state_of
        self._changed = asyncio.Event()
        self._shared: OrderedDict[tuple[Any, ...], tuple[bytes, Cursor]] = OrderedDict()
        self.presses: deque[str] = deque(maxlen=PRESSES)
        """Names of the latest presses that were acted on, of all viewers."""
        self._task = asyncio.create_task(self._follow())

    def news(self) -> asyncio.Event:
        """Set when the run has something newer than now; take it before looking, so that nothing slips by."""
        return self._changed

    def next_update(
        self, cursor: Cursor, selection: Selection, sequence: int, budget: int
    ) -> tuple[bytes, Cursor]:
        """As `updates.next_update`, encoded once for all viewers that stand at the same place."""
        key = (*cursor.key(self.feed, selection), budget)
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = next_update(self.feed, cursor, selection, 0, budget)
            if len(self._shared) > SHARED_MESSAGES:
                self._shared.popitem(last=False)
        message, after = found
        return with_sequence(message, sequence), after

    def close(self) -> None:
        self._task.cancel()
        self.feed.close()

    def _wake(self) -> None:
        event, self._changed = self._changed, asyncio.Event()
        event.set()

    async def _follow(self) -> None:
        # The first look may read a long history: not on the loop that serves every other page.
        await asyncio.to_thread(self.feed.refresh)
        self._wake()
        asked = changed = 0.0
        word = None
        answer: asyncio.Task[dict[str, Any] | None] | None = None
        while True:
            await asyncio.sleep(POLL)
            moved, now = self._look(), time.monotonic()
            if word != (word := (self.feed.meta.get("status") or {}).get("state")):
                changed = now
            patience = NEWS_POLL if now - changed < NEWS else STATE_POLL
            if answer is not None and answer.done():
                moved |= self._take(answer)
                answer = None
            # Asked on the side: a queue that is slow to answer keeps nobody from the run's own news.
            if self._state_of is not None and answer is None and now - asked > patience:
                asked = now
                answer = asyncio.create_task(asyncio.to_thread(self._state_of, self.feed.run_id))
            if moved:
                self._wake()

    def _look(self) -> bool:
        """Whether the run has anything new; what stands in the way of looking is tried again."""
        try:
            return self.feed.refresh()
        except OSError as error:
            log.warning("%s could not be read: %s", self.feed.folder, error)
            return False

    def _take(self, answer: "asyncio.Task[dict[str, Any] | None]") -> bool:
        """Take in what the queue says; whether that is news."""
        fault = answer.exception()
        if fault is not None:  # busy or damaged: ask again
            if not isinstance(fault, RunUnavailable | sqlite3.Error):
                log.error("the queue could not say how %s is", self.feed.run_id, exc_info=fault)
            return False
        moved = answer.result() != self.feed.queued_state
        self.feed.queued_state = answer.result()
        return moved


class Hub:
    """All channels of this server, made at the first viewer and closed a while after the last."""

    def __init__(self, state_of: StateOf | None = None, linger: float = LINGER) -> None:
        self._linger = linger
        self._channels: dict[str, Channel] = {}
        self._state_of = state_of

    def join(self, run_id: str) -> Channel:
        """The channel of `run_id`; RunUnavailable where that cannot be a run. Call `leave` after."""
        channel = self._channels.get(run_id)
        if channel is None:
            folder, recorded = folder_of(run_id)
            feed = Feed(run_id, folder, recorded=recorded)
            channel = self._channels[run_id] = Channel(feed, None if recorded else self._state_of)
        channel.viewers += 1
        return channel

    def leave(self, run_id: str) -> None:
        """Count one viewer less."""
        channel = self._channels[run_id]
        channel.viewers -= 1
        if channel.viewers == 0:
            asyncio.get_running_loop().call_later(self._linger, self._close_if_empty, run_id, channel)

    def _close_if_empty(self, run_id: str, channel: Channel) -> None:
        if channel.viewers == 0 and self._channels.get(run_id) is channel:
            del self._channels[run_id]
            channel.close()
