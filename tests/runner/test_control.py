"""The control file: what each button writes, and who may look."""

import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.control import RunControl


def test_a_new_run_wishes_to_run_and_has_no_step_granted(tmp_path: Path) -> None:
    with RunControl(tmp_path, create=True) as control:
        assert (control.wish, control.granted) == ("run", 0)
    assert (tmp_path / "control").read_bytes() == bytes(16)


def test_each_button_writes_the_documented_bytes(tmp_path: Path) -> None:
    with RunControl(tmp_path, create=True) as control:
        control.pause()
        assert (tmp_path / "control").read_bytes()[:1] == b"\x01"
        control.step(258)
        assert (tmp_path / "control").read_bytes()[:8] == b"\x01\0\0\0\x02\x01\0\0"
        control.stop()
        assert (tmp_path / "control").read_bytes()[:8] == b"\x02\0\0\0\x02\x01\0\0"
        control.resume()
        assert (tmp_path / "control").read_bytes()[:8] == b"\0\0\0\0\x02\x01\0\0"


def test_what_one_handle_writes_another_reads_at_once(tmp_path: Path) -> None:
    with RunControl(tmp_path, create=True) as viewer, RunControl(tmp_path, create=True) as trainer:
        viewer.step(2)
        assert (trainer.wish, trainer.granted) == ("pause", 2)
        viewer.stop()
        assert trainer.wish == "stop"
        viewer.pause()
        viewer.step()
        assert (trainer.wish, trainer.granted) == ("stop", 3), (
            "what others press at that moment undoes no stop"
        )
        viewer.resume()
        assert trainer.wish == "run"


def _grant(folder: str) -> None:
    with RunControl(folder, create=True) as control:
        for _ in range(200):
            control.step()


def test_two_viewers_pressing_step_lose_no_press(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    viewers = [context.Process(target=_grant, args=(str(tmp_path),)) for _ in range(2)]
    for viewer in viewers:
        viewer.start()
    for viewer in viewers:
        viewer.join()
    with RunControl(tmp_path, create=True) as control:
        assert control.granted == 400


@given(n=st.integers().filter(lambda n: not 1 <= n <= 1_000_000))
def test_a_senseless_number_of_steps_is_refused_and_changes_nothing(
    n: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with RunControl(tmp_path_factory.mktemp("run"), create=True) as control:
        with pytest.raises(RunUnavailable, match="single steps"):
            control.step(n)
        assert (control.wish, control.granted) == ("run", 0)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunUnavailable, match="nowhere"):
        RunControl(tmp_path / "nowhere")


def test_looking_at_a_folder_makes_no_control_file(tmp_path: Path) -> None:
    with pytest.raises(RunUnavailable, match="control"):
        RunControl(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_the_control_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(bytes(16))
    (tmp_path / "control").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunUnavailable, match="control"):
        RunControl(tmp_path)
