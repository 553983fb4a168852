"""The table of arms as Markdown: what each reached, how fast, and how it differs from the standard one."""

from sandbox.mathematics.statistics import PairedDifference
from sandbox.store.summary import ArmSummary
from sandbox.ui.words import code, count, duration, percent, points, whole


def table(lines: list[ArmSummary]) -> str:
    """A Markdown table with one row per arm."""
    target = percent(lines[0].target) if lines else ""
    reference = code(lines[0].reference if lines else "standard")
    head = (
        "Arm", "Seeds", f"Reached {target}", "Median step (range, of the seeds that reached it)",
        "Held-out accuracy", f"Against {reference}, same seeds", "Per step, all seeds", "Diverged",
    )  # fmt: skip
    standard = next((line.seconds_per_step for line in lines if line.arm == line.reference), None)
    body = [_row(line, standard) for line in lines]
    rows = [head, [":--", "--:", "--:", "--:", "--:", ":--", "--:", "--:"], *body]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def _row(line: ArmSummary, standard: float | None) -> tuple[str, ...]:
    return (
        code(line.arm),
        str(line.n),
        f"{line.reached} of {line.n}",
        _steps(line),
        "not yet" if line.final_accuracy is None else percent(line.final_accuracy, column=True),
        difference(line),
        _pace(line, standard),
        str(line.diverged),
    )


def _steps(line: ArmSummary) -> str:
    if line.median_step is None:
        return "not reached"
    of = f"of {line.reached}"
    if line.first_step == line.last_step:
        return f"{_step(line, line.median_step)} ({of})"
    first, last = _step(line, line.first_step or 0), _step(line, line.last_step or 0)
    return f"{_step(line, line.median_step)} ({first} to {last}, {of})"


def _step(line: ArmSummary, step: float) -> str:
    return f"by {whole(step)}" if 0 < step == line.begun else whole(step)


def difference(line: ArmSummary) -> str:
    """The paired difference as a sentence; no verdict where the interval holds zero or there is none."""
    if line.arm == line.reference:
        return "the reference"
    found = line.difference
    if found is None or found.n == 0:
        return "no pair of seeds yet"
    left = f", {count(found.n_left_out, 'pair')} left out" if found.n_left_out else ""
    if found.low is None or found.high is None:
        return f"{points(found.mean)} points in one seed{left}: too few to say"
    interval = (
        f"{points(found.mean)} points ({points(found.low)} to {points(found.high)}, n = {found.n}{left})"
    )
    return f"{interval}: {verdict(found)}"


def verdict(found: PairedDifference) -> str:
    """What the interval allows to say."""
    if found.low is None or found.high is None or found.low <= 0 <= found.high:
        return "no difference shown"
    return "higher" if found.low > 0 else "lower"


def _pace(line: ArmSummary, standard: float | None) -> str:
    """Time of one step of all seeds, and its ratio to the arm that the others are compared with."""
    if line.seconds_per_step is None:
        return "not yet"
    own = _milliseconds(line.seconds_per_step)
    return (
        own
        if not standard or line.arm == line.reference
        else f"{own} ({line.seconds_per_step / standard:.2f}x)"
    )


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else duration(seconds)
