"""Numbers on the command line that are none, or that nothing can be, are refused before anything is read."""

import pytest

from sandbox.cli.numbers import GREATEST
from sandbox.foundations.streams import MAX_SEED
from sandbox.store.plain_shapes import LAST_STEP
from tests.cli.test_commands import CapSys, refused

HUGE = "9223372036854775808"
EXPORT = ["export", "RUN", "--to"]


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        *((["theta", "a.npy"], "--tolerance", value) for value in ("nan", "inf", "-1", "x")),
        *((["theta", "a.npy"], "--gap", value) for value in ("nan", "inf", "-1")),
        *(([*EXPORT, "html"], "--megabytes", value) for value in ("nan", "inf", "1e308", "-1")),
        *(([*EXPORT, "gif"], "--seconds", value) for value in ("nan", "inf", "0")),
        *(([*EXPORT, "safetensors"], "--step", value) for value in (HUGE, "-1", "1.5", "9" * 5000)),
        *(([*EXPORT, "gif"], option, HUGE) for option in ("--seed", "--layer", "--head")),
        (["show", "RUN", "--diagnose", "theta"], "--step", "9007199254740993"),
        (["fork", "RUN"], "--step", HUGE),
        (["serve"], "--port", HUGE),
        (["listops", "check", "a.tsv"], "--rows", HUGE),
        (["listops", "sample", "--seed", "1"], "--n", HUGE),
        (["listops", "sample", "--n", "1"], "--seed", HUGE),
        *((["listops", "sample"], f"--{name}", HUGE) for name in ("max-length", "min-length", "max-depth")),
        *((["sweep", "a.toml"], "--workers", value) for value in ("", "0", "65", "²")),
    ],
)
def test_it_is_refused_in_one_short_sentence(
    capsys: CapSys, command: list[str], option: str, value: str
) -> None:
    said = refused(capsys, *command, f"{option}={value}")
    assert f"argument {option}: {value[:40]!r} is no" in said and len(said) < 250


def test_the_greatest_whole_number_is_that_of_steps_and_seeds() -> None:
    assert GREATEST == LAST_STEP == MAX_SEED
