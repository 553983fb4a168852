"""What may be written on a run."""

import pytest

from sandbox.foundations.errors import InvalidData
from sandbox.store.labels import Labels


@pytest.mark.parametrize("name", ["a\u00a0b", "👩\u200d🔬 lab", "naïve", "<b>&"])
def test_pasted_text_may_be_a_name(name: str) -> None:
    assert Labels(name=name, tags=(name,), note=f"{name}\n{name}").name == name


@pytest.mark.parametrize(("character", "told"), [("\u202e", "U+202E"), ("\0", "U+0000"), ("\t", "U+0009")])
def test_a_character_that_cannot_be_printed_is_named(character: str, told: str) -> None:
    for labels in ({"name": f"a{character}b"}, {"tags": (f"a{character}",)}, {"note": f"a\n{character}"}):
        with pytest.raises(InvalidData, match=rf"holds {told[:1]}\{told[1:]}, which cannot be printed"):
            Labels(**labels)  # type: ignore[arg-type]


def test_a_name_has_one_line_and_an_end() -> None:
    for name in ("a\nb", "a" * 81):
        with pytest.raises(InvalidData):
            Labels(name=name)
