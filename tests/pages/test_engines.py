"""Which engine trains, and why not the native one, stands on the pages before a run and beside it."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine.native import coverage
from sandbox.store import RunWriter, run_path
from sandbox.ui import session
from sandbox.ui.complete import complete
from sandbox.ui.links import PARAMETER, encode
from tests.pages.conftest import Open, said, settled
from tests.ui import described

CATALOGUE = described.catalogue()
NO_KERNEL = "the native engine has no kernel for it"


@pytest.fixture(autouse=True)
def as_if_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice falls as it does where the kernels are built."""
    monkeypatch.setattr(coverage, "found_build", lambda: ("some-build", ""))


def before_start(open_page: Open, plain: dict[str, Any]) -> str:
    """What the Sandbox says of these settings."""
    return said(settled(open_page("sandbox", **{PARAMETER: encode(complete(CATALOGUE, plain))})))


def test_before_the_start_a_preset_says_that_it_is_trained_natively(open_page: Open) -> None:
    assert "Trained by: every arm: native engine." in said(settled(open_page("sandbox")))


def test_an_arm_without_a_kernel_says_so_before_the_start(open_page: Open) -> None:
    found = before_start(open_page, {"arms": ["standard", "nystrom"]})
    assert f"Trained by: standard: native engine; nystrom: torch engine ({NO_KERNEL})." in found


def test_sequences_that_are_too_long_say_so_before_the_start(open_page: Open) -> None:
    found = before_start(open_page, {"task": {"kind": "listops", "max_length": 512, "max_depth": 3}})
    assert "standard: torch engine (length 512: the native engine takes sequences of at most 128" in found


def test_without_kernels_the_page_says_so(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "found_build", lambda: ("", "the native engine is not built"))
    found = said(settled(open_page("sandbox")))
    assert "Trained by: every arm: torch engine (the native engine is not built)." in found


def test_a_gpu_is_torchs(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "device", lambda: "cuda")
    assert "every arm: torch engine (GPU: the native engine runs on the CPU alone)." in said(
        settled(open_page("sandbox"))
    )


def describe_engines(run_id: str, engines: Any) -> None:
    """Record this as the engines of a run."""
    folder: Path = run_path(run_id)
    plain = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    with RunWriter.open(folder, plain) as writer:
        writer.describe(engines=engines)
        writer.commit()


def test_a_runs_page_says_per_arm_what_trained_it_and_why(open_page: Open, finished: str) -> None:
    reason = "preconditioned: <b>no kernel</b>"
    describe_engines(
        finished,
        {
            "standard": {"engine": "native", "reason": ""},
            "preconditioned": {"engine": "torch", "reason": reason},
        },
    )
    found = said(settled(open_page("run", run=finished)))
    (sentence,) = [line for line in found.splitlines() if line.startswith("Trained by: ")]
    assert "standard: native engine" in sentence
    assert "preconditioned: torch engine (<b>no kernel</b>)" in sentence


@pytest.mark.parametrize("engines", [None, "native", {"standard": ["native"]}])
def test_a_run_that_does_not_say_is_shown_without_a_word(
    open_page: Open, finished: str, engines: Any
) -> None:
    describe_engines(finished, engines)
    assert "Trained by" not in said(settled(open_page("run", run=finished)))
