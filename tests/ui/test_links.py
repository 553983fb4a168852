"""Links: what was set comes back whole, and whatever a stranger sends gets one sentence."""

import base64
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.experiment.experiment import from_plain_experiment
from sandbox.foundations.catalogue import Catalogue, KnobEntry, VariantEntry
from sandbox.foundations.errors import SandboxError
from sandbox.ui.complete import complete
from sandbox.ui.links import MAX_LINK, decode, encode
from sandbox.ui.settings import Plain
from tests.ui import described

CATALOGUE = described.catalogue()


def packed(text: bytes) -> str:
    return "1." + base64.urlsafe_b64encode(zlib.compress(text, 9)).decode().rstrip("=")


def values(entry: KnobEntry) -> st.SearchStrategy[Any]:
    spec, default = entry.spec, entry.default
    if isinstance(default, bool):
        return st.booleans()
    if isinstance(default, str) and spec.pattern:
        return st.from_regex(spec.pattern, fullmatch=True)
    if isinstance(default, str):
        return st.sampled_from(spec.options)
    if isinstance(default, int):
        return st.integers(int(spec.low or 0), int(spec.high or 2**31 - 1))
    return st.floats(spec.low or 0.0, spec.high or 1e6, allow_nan=False)


@st.composite
def settings_of(draw: st.DrawFn, catalogue: Catalogue, entry: VariantEntry) -> Plain:
    plain: Plain = {"kind": entry.kind} | {n: draw(values(k)) for n, k in entry.knobs.items()}
    for slot in entry.slots:
        kind = draw(st.sampled_from(sorted(catalogue.families[slot])))
        plain[slot] = draw(settings_of(catalogue, catalogue.families[slot][kind]))
    return plain


@st.composite
def experiments(draw: st.DrawFn) -> Plain:
    def part(family: str) -> Plain:
        variants = CATALOGUE.families[family]
        return draw(settings_of(CATALOGUE, variants[draw(st.sampled_from(sorted(variants)))]))

    slots = draw(st.lists(st.sampled_from(CATALOGUE.slots), unique=True, max_size=3))
    return {
        "schema": CATALOGUE.schema,
        "task": part("task"),
        "model": part("architecture"),
        "optimizer": part("optimizer"),
        **{name: draw(values(entry)) for name, entry in CATALOGUE.pace.items()},
        "seeds": draw(st.lists(st.integers(0, 2**31 - 1), unique=True, min_size=1, max_size=8)),
        "arms": [{"name": "standard"}] + ([{"name": "other"} | {s: part(s) for s in slots}] if slots else []),
    }


@given(experiments())
def test_every_experiment_comes_back_from_its_link(plain: Plain) -> None:
    assert decode(CATALOGUE, encode(plain)) == plain


@pytest.mark.parametrize("name", list(CATALOGUE.presets))
def test_a_preset_with_its_defaults_fits_into_a_link_of_a_thousand_characters(name: str) -> None:
    plain = complete(CATALOGUE, CATALOGUE.presets[name]["experiment"])
    link = encode(plain)
    assert len(link) < 1000
    assert decode(CATALOGUE, link) == plain == from_plain_experiment(plain).to_plain()


@given(st.text(max_size=200))
def test_any_text_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(SandboxError) as refusal:
        decode(CATALOGUE, text)
    assert 10 < len(str(refusal.value)) < 400


@given(st.binary(max_size=300))
def test_any_packed_bytes_are_refused_in_one_sentence(content: bytes) -> None:
    with pytest.raises(SandboxError):
        decode(CATALOGUE, packed(content))


def broken(change: dict[str, Any]) -> bytes:
    plain = complete(CATALOGUE, CATALOGUE.presets["conditioned against standard"]["experiment"])
    return json.dumps(plain | change).encode()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"colour": "red"}, "colour"),
        ({"schema": 99}, "schema"),
        ({"steps": 0}, "steps"),
        ({"steps": 10**40}, "steps"),
        ({"steps": "many"}, "steps"),
        ({"steps": 1.5}, "steps"),
        ({"batch_size": True}, "batch_size"),
        ({"task": {"kind": "chess"}}, "chess"),
        ({"task": {"kind": "listops", "length": 3}}, "length"),
        ({"model": {"kind": "encoder", "projection": {"kind": "spectral", "shift": -1}}}, "shift"),
        ({"seeds": []}, "seeds"),
        ({"seeds": list(range(500))}, "seeds"),
        ({"seeds": [1, 1]}, "once"),
        ({"arms": [{"name": "a"}, {"name": "a"}]}, "'a'"),
        ({"arms": [{"name": "a\x00b"}]}, "name"),
        ({"arms": [{"name": "x", "taste": {"kind": "sweet"}}]}, "taste"),
        ({"arms": ["spectral:shift=0.5+spectral"]}, "twice"),
        ({"arms": {}}, "list"),
        ({"optimizer": ["adamw"]}, "optimizer"),
    ],
)
def test_a_link_that_says_something_impossible_is_told_what(change: dict[str, Any], word: str) -> None:
    with pytest.raises(SandboxError, match=word):
        decode(CATALOGUE, packed(broken(change)))


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none_never_enter(constant: str) -> None:
    text = broken({"steps": 7}).replace(b'"learning_rate": 0.001', f'"learning_rate": {constant}'.encode())
    assert constant.encode() in text
    with pytest.raises(SandboxError, match=constant.removeprefix("-")):
        decode(CATALOGUE, packed(text))


def test_a_small_link_that_unpacks_to_gigabytes_is_refused_without_unpacking_it() -> None:
    bomb = packed(b" " * 10_000_000)
    assert len(bomb) < MAX_LINK
    with pytest.raises(SandboxError, match="more than an experiment"):
        decode(CATALOGUE, bomb)


def test_bottomless_nesting_is_refused() -> None:
    with pytest.raises(SandboxError):
        decode(CATALOGUE, packed(b"[" * 90_000))


def test_a_link_cut_in_half_is_refused() -> None:
    link = encode(complete(CATALOGUE, {}))
    for length in range(len(link)):
        with pytest.raises(SandboxError):
            decode(CATALOGUE, link[:length])
