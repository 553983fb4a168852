"""Choices: what there is to choose from, read once per version of the trainer's catalogue."""

import math
from functools import lru_cache

import streamlit as st

from sandbox.foundations.catalogue import Catalogue
from sandbox.runner import queue
from sandbox.runner.catalogue_file import catalogue_path
from sandbox.ui.complete import complete
from sandbox.ui.settings import Plain

FIRST_PRESET = "conditioned against standard"


def catalogue() -> Catalogue:
    """The catalogue; waits for the trainer to write it at the very first start. RunUnavailable otherwise."""
    path = catalogue_path()
    if path.exists():
        return _read(str(path))
    with st.spinner("The trainer starts and says what there is to choose from. This takes a moment, once."):
        return _read(str(path))


@lru_cache(maxsize=2)
def _read(path: str) -> Catalogue:
    # The path names the sources, so that what is kept can never be of another version.
    return Catalogue(queue.catalogue(timeout=60.0))


def preset(name: str) -> Plain:
    """The experiment of a preset, complete; UnknownVariant for another name."""
    found = catalogue()
    return complete(found, found.presets[name]["experiment"])


def first_draft() -> Plain:
    """What the Sandbox shows to somebody who has chosen nothing."""
    presets = catalogue().presets
    return preset(FIRST_PRESET if FIRST_PRESET in presets else next(iter(presets)))


def preset_of(plain: Plain) -> str | None:
    """The preset that `plain` is, unchanged; None where it is somebody's own."""
    found = catalogue()
    return next((name for name in found.presets if preset(name) == plain), None)


def model_marks(model: Plain, slot: str, kind: str) -> dict[str, list[tuple[float, str]]]:
    """Values of an arm's knobs worth naming for this model, by knob.

    A start that is not saturated needs about shift <= sqrt(2 / sqrt(d_head)): with layer-normed tokens
    the logit of a token with itself grows by shift^2 sqrt(d_head) (our estimate).
    """
    if (slot, kind) != ("projection", "spectral") or "n_heads" not in model:
        return {}
    d_head = max(1, model["d_model"] // model["n_heads"])
    limit = math.floor(1000 * math.sqrt(2 / math.sqrt(d_head))) / 1000
    return {"shift": [(limit, "unsaturated up to")]}
