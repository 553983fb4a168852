"""A device is there, or one sentence says why not."""

import ctypes
import sys
from types import SimpleNamespace

import pytest
import torch

from sandbox.engine.device import (
    available_devices,
    choose_device,
    full_precision,
    keep_freed_memory,
    one_thread,
)
from sandbox.foundations.errors import DeviceUnavailable


def test_the_cpu_is_always_there() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    assert "cpu" in available_devices()


@pytest.mark.parametrize(("built_for", "reason"), [(None, "without CUDA"), ("12.6", "no usable GPU")])
def test_without_cuda_one_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch, built_for: str | None, reason: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", built_for)
    with pytest.raises(DeviceUnavailable, match=f"'cuda'.*{reason}.*choose 'cpu'"):
        choose_device("cuda")


def test_with_cuda_it_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("cuda") == torch.device("cuda")


def test_another_device_is_refused_by_name() -> None:
    with pytest.raises(DeviceUnavailable, match="'tpu'; choose one of cpu, cuda"):
        choose_device("tpu")


def test_reading_is_in_full_float32_and_training_keeps_what_was_allowed() -> None:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with full_precision():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


def test_freed_memory_is_kept_where_the_c_library_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[int, int] = {}
    library = SimpleNamespace(mallopt=told.__setitem__)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: library)
    keep_freed_memory()
    assert told == {-3: 2**25, -1: 2**29}  # M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of malloc.h
    del library.mallopt
    keep_freed_memory()
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delattr(ctypes, "CDLL")
    keep_freed_memory()


def test_a_trainer_takes_one_thread() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        one_thread()
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
