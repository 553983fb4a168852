"""Tables of a comparison as Markdown: the settings that differ, and where every group stands."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.mathematics.statistics import mean_band
from sandbox.store import Run
from sandbox.store.compared import Compared
from sandbox.store.summary import TARGET, ArmSummary, summarize
from sandbox.ui.changes import shown
from sandbox.ui.compare_words import Standing, number, paired
from sandbox.ui.words import code, duration, escaped, percent, whole

MOST_ROWS = 30


def settings_table(labels: Sequence[str], rows: Mapping[str, Sequence[Any]]) -> str:
    """One row per setting that differs, one column per group."""
    if not rows:
        return "Nothing differs: the same settings, seeds and circumstances."
    head = ["Setting", *map(code, labels)]
    body = [
        [code(name), *("—" if value is None else escaped(shown(value)[:120]) for value in row)]
        for name, row in list(rows.items())[:MOST_ROWS]
    ]
    more = f"\n\nand {len(rows) - MOST_ROWS} settings more" if len(rows) > MOST_ROWS else ""
    return _table(head, [":--"] * len(head), body) + more


def standings_table(
    metric: str,
    standings: Sequence[Standing],
    groups: Sequence[Compared],
    runs: Mapping[str, Run],
    reference: str,
) -> str:
    """One row per group: its numbers at the place that is looked at, and what it reached in its whole run."""
    lines = {
        (run_id, line.arm): line
        for run_id, run in runs.items()
        for line in summarize(run, float((run.meta("target") or {}).get("value", TARGET)))
    }
    head = [
        "Group", "Seeds", "Mean", "Least to greatest", "95 % of the mean (Student)",
        f"Less {code(reference)}, same seeds", "Reached its target", "Median step", "Per step",
    ]  # fmt: skip
    body = [
        [
            code(standing.label),
            f"{len(standing.finite)} of {len(standing.values)}",
            *_numbers(metric, standing),
            "the reference"
            if standing.difference is None
            else escaped(paired(metric, standing.difference, standing.bootstrap)),
            *_outcome(lines[group.run_id, group.arm]),
        ]
        for standing, group in zip(standings, groups, strict=True)
    ]
    return _table(head, [":--", "--:", "--:", "--:", "--:", ":--", "--:", "--:", "--:"], body)


def _numbers(metric: str, standing: Standing) -> list[str]:
    finite = standing.finite
    if not len(finite):
        return ["none", "", ""]
    ends = f"{number(metric, float(finite.min()))} to {number(metric, float(finite.max()))}"
    band = mean_band(finite[:, None])
    if len(finite) < 2:
        return [number(metric, float(finite.mean())), ends, "one seed"]
    low, high = float(band.low[0]), float(band.high[0])
    return [number(metric, float(finite.mean())), ends, f"{number(metric, low)} to {number(metric, high)}"]


def _outcome(line: ArmSummary) -> list[str]:
    reached = f"{line.reached} of {line.n} ({percent(line.target)})"
    step = "not reached" if line.median_step is None else whole(line.median_step)
    pace = line.seconds_per_step
    spent = "not measured" if pace is None else f"{1000 * pace:.1f} ms" if pace < 1 else duration(pace)
    return [reached, step, spent]


def _table(head: Sequence[str], align: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, align, *body))
