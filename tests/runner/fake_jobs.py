"""Worker jobs without torch, for tests of the supervisor: they beat, and do what their plain form says."""

import json
import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

from sandbox.runner.control import RunControl
from sandbox.runner.room import SENTENCE
from sandbox.runner.worker import bind_to_supervisor, tell


def fake_job(connection: Connection, folder: str, plain: str, device: str, memory: int) -> None:
    """Count to `steps`, from where a file says the last one came to; kill itself at the step `dies_at`.

    With `until` it counts on until there is a file of that name in its folder: a run that lasts as long as a
    test needs it, however busy the machine is.
    """
    bind_to_supervisor(connection)
    settings = json.loads(plain)
    mark = Path(folder) / "reached"
    step = int(mark.read_text()) if mark.exists() else 0
    with open(Path(folder) / "pids", "a", encoding="ascii") as pids:
        pids.write(f"{os.getpid()}\n")
    with RunControl(folder) as control:
        while not (
            settings["until"] in os.listdir(folder) if "until" in settings else step >= settings["steps"]
        ):
            if control.wish == "stop":
                tell(connection, ("end", "stopped", step, "told to"))
                return
            if step == settings.get("dies_at"):
                tell(connection, ("beat", "running", step))
                os.kill(os.getpid(), signal.SIGKILL)
            for _ in range(settings.get("full_for", 0) if step == settings.get("full_at") else 0):
                tell(connection, ("beat", "paused", step, SENTENCE))
                time.sleep(0.01)
            tell(connection, ("beat", "running", step))
            time.sleep(0.01)
            step += 1
            mark.with_suffix(".part").write_text(str(step))
            mark.with_suffix(".part").replace(mark)
    tell(connection, ("end", "done", step, ""))


def fake_answers(requests: Connection, lifeline: Connection) -> None:
    """Answer yes to every question; end at the question "die", hang at the question "hang"."""
    bind_to_supervisor(lifeline)
    while True:
        question, number, text = requests.recv()
        if question == "catalogue":
            requests.send((number, json.dumps({"schema": 1})))
            continue
        asked = json.loads(text)
        if asked.get("die"):
            os._exit(9)
        requests.send(
            (number, json.dumps({"ok": True, "error": None, "plain": asked, "arms": [], "cost": {}}))
        )
