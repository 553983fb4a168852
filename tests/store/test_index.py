"""The index of runs: what a card says, that hundreds open at once, and that damage is one named row."""

import math
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidData, RunUnavailable
from sandbox.store import open_run
from sandbox.store.card import Card, card_from_plain, card_plain, flat_settings, make_card, small_curve
from sandbox.store.export import export
from sandbox.store.importing import import_run
from sandbox.store.index import INDEX, Index
from sandbox.store.labels import LABELS, Labels, read_labels, write_labels
from sandbox.store.summary import summarize
from tests.live.synthetic import SyntheticRun

TEXT = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=["C", "Z"]), max_size=20
)


def made(folder: Path, **how: int) -> Path:
    run = SyntheticRun(folder, steps=60, evaluate_every=20, read_every=30, **how)  # type: ignore[arg-type]
    run.grow(60)
    run.finish()
    return folder


def test_a_card_says_what_the_run_says(tmp_path: Path) -> None:
    folder = made(tmp_path / "one-run")
    card = make_card(folder, 0.98)
    assert (card.state, card.step, card.seeds, card.fault) == ("done", 60, 3, "")
    with open_run(folder) as run:
        for arm in card.arms:
            _, accuracy = run.group_curve("test_accuracy", arm.name)
            assert arm.metrics["test_accuracy"] == pytest.approx(accuracy[-1].mean())
            _, entropy = run.reading_column("attention entropy", "entropy", arm.name)
            assert arm.metrics["attention entropy/entropy"] == pytest.approx(float(np.median(entropy[-1])))
    assert card.arms[1].difference is not None
    assert card.arms[1].difference[3] == 3
    assert card_from_plain(card_plain(card)) == card


def test_the_band_of_a_small_curve_keeps_the_extremes(tmp_path: Path) -> None:
    folder = made(tmp_path / "one-run")
    with open_run(folder) as run:
        small = small_curve(run, "standard")
        _, values = run.group_curve("test_accuracy", "standard")
    assert min(small.low) == values.min()
    assert max(small.high) == values.max()


def test_the_index_follows_what_comes_changes_and_goes(tmp_path: Path) -> None:
    made(tmp_path / "first")
    index = Index(tmp_path)
    assert [card.id for card in index.cards()[0]] == ["first"]
    made(tmp_path / "second")
    assert {card.id for card in index.cards()[0]} == {"first", "second"}
    write_labels(tmp_path / "first", Labels(tags=("kept",)))
    assert {card.labels.tags for card in index.cards()[0]} == {("kept",), ()}
    shutil.rmtree(tmp_path / "second")
    assert [card.id for card in index.cards()[0]] == ["first"]
    assert Index(tmp_path).cards()[0] == index.cards()[0]


def test_what_there_is_no_time_for_is_counted_and_comes_later(tmp_path: Path) -> None:
    first = made(tmp_path / "run-0")
    for number in range(1, 4):
        shutil.copytree(first, tmp_path / f"run-{number}")
    index = Index(tmp_path)
    seen = [len(index.cards(seconds=0.0)[0]) for _ in range(4)]
    assert seen == [1, 2, 3, 4]
    assert index.cards(seconds=0.0)[1] == 0


@pytest.mark.parametrize("file", ["experiment.json", "run.sqlite"])
@pytest.mark.parametrize("how", ["overwritten", "missing", "cut"])
def test_a_damaged_folder_is_one_row_that_names_the_file(tmp_path: Path, file: str, how: str) -> None:
    sound, hurt = made(tmp_path / "sound"), made(tmp_path / "hurt")
    path = hurt / file
    content = path.read_bytes()
    path.unlink()
    if how != "missing":
        path.write_bytes(b"not what it was" * 50 if how == "overwritten" else content[: len(content) // 3])
    cards = {card.id: card for card in Index(tmp_path).cards()[0]}
    assert set(cards) == {sound.name, hurt.name}
    assert file in cards["hurt"].fault
    assert not cards["sound"].fault


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    made(tmp_path / "first")
    before = Index(tmp_path).cards()[0]
    (tmp_path / INDEX).write_bytes(b"no database" * 500)
    assert Index(tmp_path).cards()[0] == before
    assert Index(tmp_path).cards()[0] == before


@pytest.mark.slow
def test_five_hundred_runs_open_within_a_second(tmp_path: Path) -> None:
    first = made(tmp_path / "run-000", arms=2)
    for number in range(1, 500):
        folder = tmp_path / f"run-{number:03d}"
        folder.mkdir()
        for name in ("experiment.json", "run.sqlite"):
            (folder / name).hardlink_to(first / name)
    index, unread = Index(tmp_path), 500
    slowest = 0.0
    while unread:
        began = time.process_time()
        _, unread = index.cards(seconds=0.4)
        slowest = max(slowest, time.process_time() - began)
    began = time.process_time()
    cards, unread = Index(tmp_path).cards()
    opened = time.process_time() - began
    assert (len(cards), unread) == (500, 0)
    assert slowest < 1.0, "the first look at folders that were never read"
    assert opened < 1.0, "a look by a server that has just started"


@given(
    TEXT, st.lists(TEXT.filter(lambda t: t and "," not in t), unique=True, max_size=12), TEXT, st.booleans()
)
def test_labels_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, name: str, tags: list[str], note: str, pinned: bool
) -> None:
    folder = tmp_path_factory.mktemp("labelled")
    labels = Labels(name=name, tags=tuple(tags), note=f"{note}\n{note}", pinned=pinned)
    write_labels(folder, labels)
    assert read_labels(folder) == labels


@pytest.mark.parametrize(
    "said",
    [{"name": "x" * 81}, {"name": "a\x00b"}, {"tags": ("a,b",)}, {"tags": ("a", "a")}, {"note": "x" * 2001}],
)
def test_labels_that_nobody_can_read_are_refused(said: dict[str, str]) -> None:
    with pytest.raises(InvalidData):
        Labels(**said)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"schema": 1}', b"\xff" * 30, b" " * 30_000])
def test_damaged_labels_are_named_and_the_run_stays_readable(tmp_path: Path, content: bytes) -> None:
    folder = made(tmp_path / "one-run")
    (folder / LABELS).write_bytes(content)
    with pytest.raises(RunUnavailable, match=LABELS):
        read_labels(folder)
    card = make_card(folder, 0.98)
    assert card.fault == ""
    assert LABELS in card.reason


def test_labels_travel_with_the_run(tmp_path: Path) -> None:
    folder = made(tmp_path / "one-run")
    labels = Labels(name="the good one", tags=("a", "b"), note="said so")
    write_labels(folder, labels)
    with open_run(folder) as run:
        packed = export(run, "zip", tmp_path / "packed.zip")
    other = tmp_path / "elsewhere"
    other.mkdir()
    assert read_labels(import_run(packed, packed.name, root=other)) == labels


def test_settings_are_flat_and_name_their_place() -> None:
    plain = {"schema": 1, "task": {"kind": "listops", "length": 9}, "steps": 5, "seeds": [1], "arms": []}
    assert flat_settings(plain) == {"task": "listops", "task.length": 9, "steps": 5}


def test_a_card_survives_numbers_that_are_none(tmp_path: Path) -> None:
    folder = tmp_path / "one-run"
    run = SyntheticRun(folder, steps=60, evaluate_every=20, read_every=30, nan_at=20)
    run.grow(60)
    run.finish()
    card = make_card(folder, 0.98)
    assert card.diverged > 0
    again = card_from_plain(card_plain(card))
    assert isinstance(again, Card)
    assert [a.diverged for a in again.arms] == [a.diverged for a in card.arms]
    assert all(math.isfinite(v) or math.isnan(v) for a in again.arms for v in a.metrics.values())


def test_a_card_has_the_accuracy_of_the_runs_own_table(tmp_path: Path) -> None:
    folder = tmp_path / "one-run"
    run = SyntheticRun(folder, steps=60, evaluate_every=20, read_every=30, nan_at=20)
    run.grow(60)
    run.finish()
    with open_run(folder) as found:
        lines = {line.arm: line for line in summarize(found)}
    for arm in make_card(folder, 0.98).arms:
        assert arm.metrics["test_accuracy"] == pytest.approx(lines[arm.name].final_accuracy)
