"""A run's settings as files that train it again: TOML for the command line, a script for Python."""

import pprint
import re
from collections.abc import Sequence
from typing import Any

import tomli_w

from sandbox.store.run_reader import Run

LIVE_CHANGE = "live change"
"""Kind of the event that a changed live knob leaves (sandbox/runner/live_settings.py)."""

SCRIPT = '''"""Trains again what run {run_id} trained: the same data, batches, starting weights and arms.

On the same device and build of torch every number comes out the same to the last bit.{changes}
"""

import sandbox

EXPERIMENT = {experiment}
{made}
if __name__ == "__main__":
    run = sandbox.train(sandbox.load(EXPERIMENT), out="{run_id}-again", device="{device}"{argument})
    for arm in run.arms:
        for seed in run.seeds:
            steps, accuracy = run.curve("test_accuracy", arm, seed)
            print(arm, seed, *(f"{{a:.4f}} at step {{s}}" for s, a in list(zip(steps, accuracy))[-1:]))
'''


def toml_text(run: Run) -> str:
    """The run's settings as `python -m sandbox train FILE.toml` reads them, after a comment that says so."""
    lines = [
        f"# The settings of run {safe_name(run.id)}; `python -m sandbox train FILE.toml` trains it again."
    ]
    if words := _changes(run, ()):
        lines.append(f"# {words}")
    return "\n".join(lines) + "\n\n" + tomli_w.dumps(run.experiment)


def python_script(run: Run) -> str:
    """A script that trains the run's experiment again; it needs this package and nothing of the run."""
    plain = pprint.pformat(run.experiment, width=100, sort_dicts=False)
    made = _made(run)
    words = _changes(run, made)
    if made:
        words = f"{f'{words} ' if words else ''}Knobs that were changed during the run are changed again."
    return SCRIPT.format(
        run_id=safe_name(run.id),
        experiment=plain,
        device="cuda" if str(run.meta("device")).startswith("cuda") else "cpu",
        changes=f"\n{words}" if words else "",
        made=f"CHANGES = {pprint.pformat(made, width=100, sort_dicts=False)}\n" if made else "",
        argument=", changes=CHANGES" if made else "",
    )


def safe_name(text: str) -> str:
    """`text` with everything but letters, digits, dashes and underscores replaced, for a file's name."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:80] or "run"


def _begin(run: Run) -> int:
    return int((run.experiment.get("fork") or {}).get("step", 0))


def _made(run: Run) -> list[dict[str, Any]]:
    """The live changes that the run recorded, as `sandbox.train` takes them."""
    found = run.meta("changes")
    known = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return [one for one in known if isinstance(one.get("step"), int) and one["step"] >= _begin(run)]


def _changes(run: Run, made: Sequence[dict[str, Any]]) -> str:
    """Where somebody turned a knob that is not among those `made` again: settings do not train that again."""
    known = {one["step"] for one in made}
    steps = sorted({e.step for e in run.events() if e.kind == LIVE_CHANGE and e.step >= _begin(run)} - known)
    if not steps:
        return ""
    at = ", ".join(map(str, steps[:8])) + (", ..." if len(steps) > 8 else "")
    return f"Knobs were changed during that run (at step {at}); from there on these settings go another way."
