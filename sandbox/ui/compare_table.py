"""Tables of a comparison as Markdown: the settings that differ, and where every group stands."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sandbox.mathematics.group_band import BANDS, LOG_BANDS, group_band
from sandbox.store import Run
from sandbox.store.compared import Compared
from sandbox.store.summary import TARGET, ArmSummary, summarize
from sandbox.ui.compare_view import CompareView
from sandbox.ui.compare_words import Standing, number, paired
from sandbox.ui.named import setting_title, setting_value
from sandbox.ui.words import code, duration, escaped, percent, whole

MOST_ROWS = 30


def settings_table(labels: Sequence[str], rows: Mapping[str, Sequence[Any]]) -> str:
    """One row per setting that differs, one column per group."""
    if not rows:
        return "Nothing differs: the same settings, seeds and circumstances."
    head = ["Setting", *map(code, labels)]
    body = [
        [escaped(setting_title(name)), *(escaped(setting_value(name, value)[:120]) for value in row)]
        for name, row in list(rows.items())[:MOST_ROWS]
    ]
    more = f"\n\nand {len(rows) - MOST_ROWS} settings more" if len(rows) > MOST_ROWS else ""
    return _table(head, [":--"] * len(head), body) + more


def standings_table(
    view: CompareView,
    standings: Sequence[Standing],
    groups: Sequence[Compared],
    runs: Mapping[str, Run],
    reference: str,
) -> str:
    """One row per group: its numbers at the place that is looked at, and what it reached in its whole run.

    The middle and its two ends are those of the group's band in the picture.
    """
    lines = {
        (run_id, line.arm): line
        for run_id, run in runs.items()
        for line in summarize(run, float((run.meta("target") or {}).get("value", TARGET)))
    }
    kind = view.band if view.band in LOG_BANDS or not view.log else "range"
    middle = "Median" if kind == "quartiles" or view.log else "Mean"
    head = [
        "Group", "Seeds", middle, BANDS[kind][:1].upper() + BANDS[kind][1:],
        f"Less {code(reference)}, same seeds", "Whole run: reached its target", "Median step to it",
        "Time per step",
    ]  # fmt: skip
    body = [
        [
            code(standing.label),
            f"{len(standing.finite)} of {len(standing.values)}",
            *_numbers(view, standing),
            _difference(view.metric, standing),
            *_outcome(lines[group.run_id, group.arm]),
        ]
        for standing, group in zip(standings, groups, strict=True)
    ]
    return _table(head, [":--", "--:", "--:", "--:", ":--", "--:", "--:", "--:"], body)


def _difference(metric: str, standing: Standing) -> str:
    if standing.difference is None:
        return "the reference"
    if math.isnan(standing.paired_at):
        return "nothing is paired"
    return escaped(paired(metric, standing.difference, standing.bootstrap, standing.identical))


def _numbers(view: CompareView, standing: Standing) -> list[str]:
    if not len(standing.values):
        return ["none", ""]
    band = group_band(np.array([standing.values], dtype=np.float64), view.band, view.log)
    middle, low, high = (float(part[0]) for part in (band.middle, band.low, band.high))
    if math.isnan(middle):
        return ["none", ""]
    ends = f"{number(view.metric, low)} to {number(view.metric, high)}"
    return [number(view.metric, middle), "one seed" if band.n[0] < 2 else ends]


def _outcome(line: ArmSummary) -> list[str]:
    reached = f"{line.reached} of {line.n} ({percent(line.target)})"
    step = "not reached" if line.median_step is None else f"{whole(line.median_step)} (of {line.reached})"
    pace = line.seconds_per_step
    spent = "not measured" if pace is None else f"{1000 * pace:.1f} ms" if pace < 1 else duration(pace)
    return [reached, step, spent]


def _table(head: Sequence[str], align: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, align, *body))
