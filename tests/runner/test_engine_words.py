"""Which engine trains what, in sentences that a page can show."""

from typing import Any

import pytest

from sandbox.runner.engine_words import engine_sentences

NATIVE = {"engine": "native", "reason": ""}
KERNEL = "the native engine has no kernel for it"
NYSTROM = {"engine": "torch", "reason": f"nystrom: {KERNEL}"}
GPU = {"engine": "torch", "reason": "GPU: the native engine runs on the CPU alone"}


@pytest.mark.parametrize(
    ("engines", "sentences"),
    [
        ({"standard": NATIVE}, ["standard: native engine"]),
        ({"standard": NATIVE, "causal": NATIVE}, ["every arm: native engine"]),
        (
            {"standard": NATIVE, "nystrom": NYSTROM},
            ["standard: native engine", f"nystrom: torch engine ({KERNEL})"],
        ),
        (
            {"nystrom": NYSTROM, "linear": {"engine": "torch", "reason": f"linear: {KERNEL}"}},
            [f"every arm: torch engine ({KERNEL})"],
        ),
        ({"mine": NYSTROM}, [f"mine: torch engine (nystrom: {KERNEL})"]),
        ({"a": GPU, "b": GPU}, ["every arm: torch engine (GPU: the native engine runs on the CPU alone)"]),
        ({"standard": {"engine": "torch", "reason": "asked for"}}, ["standard: torch engine (asked for)"]),
    ],
)
def test_arms_of_one_engine_and_reason_share_a_sentence(engines: Any, sentences: list[str]) -> None:
    assert engine_sentences(engines) == sentences


@pytest.mark.parametrize("engines", [None, {}, [], "torch", {"standard": 3}, 7])
def test_what_describes_no_engines_gives_no_sentence(engines: Any) -> None:
    assert engine_sentences(engines) == []


def test_a_reason_from_elsewhere_is_cut() -> None:
    (sentence,) = engine_sentences({"standard": {"engine": "t" * 9999, "reason": "r" * 9999}})
    assert len(sentence) < 500
