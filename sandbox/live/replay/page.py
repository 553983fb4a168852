"""The replay's page: the live view's scripts, the recording and the report in one file."""

import base64
import hashlib
import html
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.live.bundle import bundled
from sandbox.live.hello import ASSETS
from sandbox.live.json_text import json_text
from sandbox.live.replay.recording import Recording, Tell, record
from sandbox.mathematics.statistics import PairedDifference
from sandbox.store import Run
from sandbox.store.again import python_script, safe_name, toml_text
from sandbox.store.export import write_file
from sandbox.store.summary import ArmSummary, summarize
from sandbox.store.whole_file import destination

MEGABYTES = 5.0
"""Size of the file unless another is asked for."""
SCRIPTS, OWN = ASSETS / "live", ASSETS / "replay"
MOST_EVENTS = 200
HELLO = 60_000
"""Bytes set aside for what a recording says in words: panels, readings, palette, events."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p class="said">{said}</p>
<div class="acs-live" data-state="waiting"></div>
<section>{report}</section>
</main>
<script type="application/json" id="acs-recording">{recording}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def write_replay(
    run: Run, out: Path | str | None = None, megabytes: float = MEGABYTES, tell: Tell | None = None
) -> Path:
    """Write the replay of `run` to `out` (default: named after the run, here) and return its path."""
    path = Path(out or f"{safe_name(run.id)}.html")
    destination(path)  # what cannot be written to is said before the run is recorded
    return write_file(path, replay_page(run, megabytes, tell).encode())


def replay_page(run: Run, megabytes: float = MEGABYTES, tell: Tell | None = None) -> str:
    """The replay of `run` as HTML of at most about `megabytes` million bytes.

    Everything it needs is inside: its policy lets nothing be fetched and no script run but its own.
    Every text of the run is escaped. Raises InvalidData where the budget is too small.
    """
    script, style = _script(), _style()
    report = _report(run)
    shell = len(script) + len(style) + len(report.encode()) + HELLO
    found = record(run.path, max(0, int(megabytes * 1e6) - shell), tell)
    # Within a script element only "<" could end the data or open a comment.
    recording = json_text(found.to_plain()).replace("<", "\\u003c")
    return PAGE.format(
        policy=_policy(script, style),
        title=html.escape(f"Run {run.id}"),
        said=html.escape(_said(run, found, (shell + len(recording)) / 1e6)),
        style=style,
        report=report,
        recording=recording,
        script=script,
    )


@cache
def _script() -> str:
    """The live view as one module, with its connection replaced by the recording."""
    scripts = {path.name: path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js")}
    scripts["socket.js"] = (OWN / "recorded.js").read_text(encoding="utf-8")
    scripts["replay.js"] = (OWN / "replay.js").read_text(encoding="utf-8")
    return _inline(bundled(scripts, "replay.js"))


@cache
def _style() -> str:
    return _inline(
        "".join(path.read_text(encoding="utf-8") for path in (SCRIPTS / "live.css", OWN / "replay.css"))
    )


def _inline(text: str) -> str:
    if "</" in text or "<!--" in text:
        raise ValueError("A script or style with a closing tag inside cannot stand in a page.")
    return text


def _policy(script: str, style: str) -> str:
    """A policy under which the page's own script and style are all that acts."""
    allowed = {kind: _hash(text) for kind, text in (("script", script), ("style", style))}
    return (
        f"default-src 'none'; script-src {allowed['script']}; style-src {allowed['style']}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _said(run: Run, found: Recording, megabytes: float) -> str:
    status = run.status
    words = [f"{status['state']} at step {status['step']} of {run.experiment['steps']}"]
    if status["reason"]:
        words.append(str(status["reason"]))
    if found.pictures < found.recorded:
        words.append(f"of up to {found.recorded} pictures of a kind {found.pictures} are kept, evenly spread")
    words.append("curves are thinned as on the server, extremes kept; a csv export has every number")
    words.append(f"this file has {megabytes:.1f} MB, needs no server and asks for nothing")
    return "; ".join(words) + "."


def _report(run: Run) -> str:
    parts = ["<h2>What each arm reached</h2>", _table(_arm_rows(summarize(run)))]
    parts += [f"<p>{html.escape(str(note))}</p>" for note in run.notes]
    events = run.events()
    if events:
        heading = ("step", "what", "arm", "seed", "detail")
        rows = [
            (e.step, e.kind, e.arm or "every arm", "all" if e.seed is None else e.seed, e.detail)
            for e in events[:MOST_EVENTS]
        ]
        left = f" (the first {MOST_EVENTS} of {len(events)})" if len(events) > MOST_EVENTS else ""
        parts.append(f"<h2>Events{left}</h2>" + _table([heading, *rows]))
    parts.append("<h2>Train it again</h2>")
    for title, text in (("Settings, for the command line", toml_text(run)), ("Python", python_script(run))):
        parts.append(f"<details><summary>{title}</summary><pre>{html.escape(text)}</pre></details>")
    return "".join(parts)


def _arm_rows(arms: Iterable[ArmSummary]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [
        ("arm", "seeds", "held-out accuracy", "difference", "reached", "median step", "s/step", "diverged")
    ]
    for arm in arms:
        rows.append((
            arm.arm, arm.n, _number(arm.final_accuracy), _difference(arm.difference),
            f"{arm.reached} of {arm.n} at {arm.target:g}", _number(arm.median_step),
            _number(arm.seconds_per_step), arm.diverged,
        ))  # fmt: skip
    return rows


def _difference(found: PairedDifference | None) -> str:
    """The mean over equal seeds, with its interval where there are enough of them for one."""
    if found is None:
        return "-"
    interval = "" if found.low is None else f" [{found.low:+.4f}, {found.high:+.4f}]"
    return f"{found.mean:+.4f}{interval}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _table(rows: list[tuple[Any, ...]]) -> str:
    head, *body = (tuple(html.escape(str(cell)) for cell in row) for row in rows)
    lines = ["".join(f"<th>{cell}</th>" for cell in head)]
    lines += ["".join(f"<td>{cell}</td>" for cell in row) for row in body]
    return (
        '<div class="wide"><table class="report">'
        + "".join(f"<tr>{line}</tr>" for line in lines)
        + "</table></div>"
    )
