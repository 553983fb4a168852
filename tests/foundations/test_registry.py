"""A family: who registers, who is found, and what a wrong name is told."""

import sys
from pathlib import Path

import pytest

from sandbox.foundations.errors import SandboxError, UnknownVariant
from sandbox.foundations.registry import Registry, discover


class Shape:
    kind = ""


def family(*kinds: str) -> Registry[Shape]:
    shapes: Registry[Shape] = Registry("shape")
    for kind in kinds:
        shapes.register(kind)(type("Made", (Shape,), {}))
    return shapes


def test_a_registered_class_carries_its_kind_and_keeps_its_place() -> None:
    shapes = family("square", "circle")
    assert list(shapes) == ["square", "circle"]
    assert shapes["circle"].kind == "circle"


def test_a_kind_cannot_be_taken_twice() -> None:
    with pytest.raises(ValueError, match="two shape variants are named 'square'"):
        family("square", "square")


def test_a_near_miss_is_told_the_name_it_meant() -> None:
    with pytest.raises(UnknownVariant, match="no shape named 'sqare'; did you mean 'square'"):
        family("square", "circle")["sqare"]


def test_a_far_miss_is_told_all_names() -> None:
    with pytest.raises(UnknownVariant, match="choose one of square, circle"):
        family("square", "circle")["zzz"]


def test_a_huge_name_is_cut_in_the_message() -> None:
    with pytest.raises(SandboxError) as raised:
        family("square")["x" * 10_000]
    assert len(str(raised.value)) < 200


def test_a_new_file_in_the_folder_is_found_in_alphabetical_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "folder_of_ideas"
    package.mkdir()
    (package / "__init__.py").write_text("order = []\n")
    for name in ("zebra", "ant"):
        (package / f"{name}.py").write_text(
            f"import folder_of_ideas\nfolder_of_ideas.order.append('{name}')\n"
        )
    monkeypatch.syspath_prepend(str(tmp_path))
    import folder_of_ideas  # type: ignore[import-not-found]

    try:
        discover("folder_of_ideas", folder_of_ideas.__path__)
        assert folder_of_ideas.order == ["ant", "zebra"]
    finally:
        for name in [n for n in sys.modules if n.startswith("folder_of_ideas")]:
            del sys.modules[name]
