"""The comparison as a person works with it: choose, warn, align, read the sentence, hand on."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sandbox.mathematics.group_band import group_band
from sandbox.runner import queue, resampling, trash
from sandbox.store import open_run, run_path
from sandbox.ui import compare_files, links, session
from sandbox.ui.compare_view import SHOWS, CompareView
from sandbox.ui.complete import complete
from tests.pages.conftest import Open, record, said, settled
from tests.ui import described


@pytest.fixture(autouse=True)
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bootstrap's process has tests of its own."""
    monkeypatch.setattr(resampling, "intervals", lambda rows: tuple((-0.01, 0.01) for _ in rows))


@pytest.fixture
def two(runs_folder: Path) -> tuple[str, str]:
    record(runs_folder, "first-test-run")
    record(runs_folder, "other-test-run", arms=2, seeds=2)
    return "first-test-run", "other-test-run"


def listed(app: AppTest) -> str:
    """Everything said, warnings included."""
    return said(app) + "\n".join(str(w.value) for w in app.warning).replace("\\", "")


@pytest.mark.parametrize("show", SHOWS)
def test_every_view_of_one_run_is_drawn(open_page: Open, two: tuple[str, str], show: str) -> None:
    app = settled(open_page("compare", runs=two[0], show=show))
    assert app.multiselect(key="compare.groups").value == [f"{two[0]}:{arm}" for arm in range(4)]
    assert bool(app.get("plotly_chart")) == (show != "table")
    words = said(app)
    assert "At step 100, held-out accuracy, mean over seeds: standard" in words
    assert "(n = 3)" in words
    assert "bootstrap" in words
    assert ("| Group" in words) == (show == "table")


@pytest.mark.parametrize("by", ["step", "event"])
@pytest.mark.parametrize("metric", ["test_loss", "condition numbers/key"])
def test_any_curve_on_any_axis(open_page: Open, two: tuple[str, str], by: str, metric: str) -> None:
    app = settled(open_page("compare", runs=two[0], by=by, metric=metric))
    assert app.selectbox(key="compare.metric").value == metric
    words = said(app)
    title = {"test_loss": "held-out loss", "condition numbers/key": "ondition numbers κ(W): key"}[metric]
    assert title in words or "nothing is compared" in words
    assert metric not in words, "no page speaks in keys"


def means(app: AppTest) -> dict[str, str]:
    """What the sentence says of each group."""
    line = (
        next(m.value for m in app.markdown if "mean over seeds" in m.value).replace("\\", "").splitlines()[0]
    )
    parts = line.partition("mean over seeds: ")[2].rstrip(".").split("; ")
    return {part.partition(" ")[0]: part.partition(" ")[2] for part in parts}


def test_what_a_group_shows_does_not_depend_on_the_others(open_page: Open, two: tuple[str, str]) -> None:
    both = means(settled(open_page("compare", runs=two[0], at="60")))
    assert len(both) == 4
    for arm, name in enumerate(both):
        alone = settled(open_page("compare", runs=two[0], groups=f"{two[0]}:{arm}", at="60"))
        assert means(alone) == {name: both[name]}
        table = settled(open_page("compare", runs=two[0], at="60", show="table", reference=f"{two[0]}:{arm}"))
        row = next(m.value for m in table.markdown if m.value.startswith("| Group"))
        assert f"| `{name}` | 3 of 3 | {both[name].partition(' (')[0]} |" in row


@pytest.mark.parametrize("band", ["range", "interval", "deviation", "quartiles"])
def test_the_table_has_the_numbers_of_the_band_that_is_drawn(
    open_page: Open, two: tuple[str, str], band: str
) -> None:
    with open_run(run_path(two[0])) as run:
        found = group_band(run.group_curve("test_loss", "standard")[1][-1:], band)  # type: ignore[arg-type]
    app = settled(open_page("compare", runs=two[0], metric="test_loss", show="table", band=band))
    table = next(m.value for m in app.markdown if m.value.startswith("| Group"))
    middle, low, high = (f"{float(part[0]):.4g}" for part in (found.middle, found.low, found.high))
    assert f"| `standard` | 3 of 3 | {middle} | {low} to {high} |" in table
    assert table.split(" | ")[2] == ("Median" if band == "quartiles" else "Mean")


@pytest.mark.parametrize("show", ["side by side", "grid"])
def test_attention_maps_are_compared_at_a_step_on_one_scale(
    open_page: Open, two: tuple[str, str], show: str
) -> None:
    app = settled(
        open_page("compare", runs=two[0], metric="attention map", show=show, at="50", head="2", seed="1")
    )
    (chart,) = app.get("plotly_chart")
    drawn = json.loads(chart.proto.spec)
    maps = [trace for trace in drawn["data"] if trace["type"] == "heatmap"]
    assert len(maps) == (4 if show == "side by side" else 4 * 3)
    assert {trace["coloraxis"] for trace in maps} == {"coloraxis"}
    assert (drawn["layout"]["coloraxis"]["cmin"], drawn["layout"]["coloraxis"]["cmax"]) == (0, 1)
    assert maps[0]["name"] == ("standard · seed 1" if show == "side by side" else "standard · seed 0")
    assert "At step 50, layer 1, head 2." in said(app)
    assert "mean over seeds" not in said(app)


def test_maps_of_two_runs_stand_beside_one_another(open_page: Open, two: tuple[str, str]) -> None:
    groups = f"{two[0]}:0,{two[1]}:0"
    app = settled(
        open_page("compare", runs=",".join(two), groups=groups, metric="attention map", show="side by side")
    )
    (chart,) = app.get("plotly_chart")
    assert len([t for t in json.loads(chart.proto.spec)["data"] if t["type"] == "heatmap"]) == 2
    app.segmented_control(key="compare.show").set_value("overlay")
    app = settled(app.run())
    assert "side by side or in a grid" in said(app) and not app.get("plotly_chart")


def test_two_runs_open_with_six_groups_and_a_warning_of_what_differs(
    open_page: Open, two: tuple[str, str]
) -> None:
    app = settled(open_page("compare", runs=",".join(two)))
    assert len(app.multiselect(key="compare.groups").value) == 6
    assert "The seeds are not the same" in listed(app)
    assert "2 are shared" in listed(app)
    assert "no difference is an arm's alone" in listed(app)


def test_what_is_chosen_is_in_the_address_and_comes_back(open_page: Open, two: tuple[str, str]) -> None:
    app = settled(open_page("compare", runs=two[0]))
    app.toggle(key="compare.log").set_value(True)
    app = settled(app.run())
    app.number_input(key="compare.smooth").set_value(3)
    app = settled(app.run())
    app.multiselect(key="compare.groups").set_value([f"{two[0]}:0", f"{two[0]}:2"])
    app = settled(app.run())
    params = {key: value[0] if isinstance(value, list) else value for key, value in app.query_params.items()}
    again = settled(open_page("compare", **params))
    assert again.toggle(key="compare.log").value is True
    assert again.number_input(key="compare.smooth").value == 3
    assert again.multiselect(key="compare.groups").value == [f"{two[0]}:0", f"{two[0]}:2"]


def test_a_link_out_of_range_is_clamped_and_told(open_page: Open, two: tuple[str, str]) -> None:
    app = settled(open_page("compare", runs=two[0], smooth="9999", by="moon"))
    assert app.number_input(key="compare.smooth").value == 200
    assert "out of range" in listed(app)
    assert "'moon'" in listed(app)


def test_a_run_that_is_gone_is_said_and_its_settings_are_offered(
    open_page: Open, two: tuple[str, str]
) -> None:
    gone, here = two
    with open_run(run_path(gone)) as first, open_run(run_path(here)) as second:
        plain = complete(described.catalogue(), first.experiment)
        view = CompareView(runs=two)
        open_page("home")
        carried = compare_files.setups(view, {gone: first, here: second})
    assert carried.split("~")[0] == links.encode(plain)
    trash.delete(gone, "local")
    app = settled(open_page("compare", **view.to_params(), setups=carried))
    assert f"There is no run `{gone}` here (any more)." in said(app)
    assert app.multiselect(key="compare.groups").value == [f"{here}:0", f"{here}:1"]
    app.button(key=f"gone.settings.{gone}").click()
    app = settled(app.run())
    assert app.session_state[session._DRAFT] == json.loads(json.dumps(plain))


def test_a_deleted_run_can_be_put_back_from_the_comparison(open_page: Open, two: tuple[str, str]) -> None:
    trash.delete(two[0], "local")
    app = settled(open_page("compare", runs=",".join(two)))
    app.button(key=f"gone.restore.{two[0]}").click()
    settled(app.run())
    assert queue.state(two[0]) is not None


def test_a_damaged_run_is_told_and_the_other_is_compared(open_page: Open, two: tuple[str, str]) -> None:
    (run_path(two[0]) / "run.sqlite").write_bytes(b"not what it was" * 100)
    app = settled(open_page("compare", runs=",".join(two)))
    assert "run.sqlite" in listed(app)
    assert len(app.multiselect(key="compare.groups").value) == 2


def test_without_runs_the_page_says_what_to_choose(open_page: Open) -> None:
    assert "Choose one run" in said(settled(open_page("compare")))
