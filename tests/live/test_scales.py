"""Scales: one axis for all arms and seeds from the first look on, which only ever widens."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sandbox.figures.small_models import answers, sequence_embeddings
from sandbox.live.routes import live_routes
from sandbox.live.scales import Range, Scales, Square
from sandbox.live.tokens import Permission, Tokens
from sandbox.live.visual_layers import look
from tests.live.synthetic import SyntheticRun
from tests.live.test_open_panels import read_all


def test_a_scale_holds_every_arm_and_seed_before_any_of_them_is_chosen(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[..., Any]
) -> None:
    run, feed = made_up(tmp_path / "run"), feed_of(tmp_path / "run")
    run.grow(400)
    feed.refresh()
    scale = Scales(feed).look(["trajectories"])["trajectories"]["points"]
    steps = range(0, 401, 20)
    drawn = np.concatenate(
        [
            v.reshape(-1, 2)
            for arm in range(4)
            for _, v in feed.frames(arm, "trajectories", "points", [*steps])
        ]
    )
    assert (np.abs(drawn - scale["centre"]) <= scale["half"]).all()
    assert scale["half"] <= 1.3 * np.ptp(drawn, axis=0).max() / 2


def test_a_scale_only_ever_widens_and_seldom(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[..., Any]
) -> None:
    run, feed = made_up(tmp_path / "run"), feed_of(tmp_path / "run")
    scales, seen = Scales(feed), []
    for step in range(0, 1500, 60):
        run.grow(step)
        feed.refresh()
        seen.append(scales.look(["trajectories"])["trajectories"]["points"])
    ends = np.array(
        [[c - s["half"] for c in s["centre"]] + [-c - s["half"] for c in s["centre"]] for s in seen]
    )
    assert (np.diff(ends, axis=0) <= 1e-5).all()
    assert 1 < len({str(scale) for scale in seen}) < 10


@given(st.lists(st.tuples(st.floats(allow_nan=True), st.floats(allow_nan=True)), max_size=9))
def test_a_square_holds_what_is_finite_and_ignores_the_rest(points: list[tuple[float, float]]) -> None:
    places, square = np.clip(np.array(points).reshape(-1, 2), -1e9, 1e9), Square()
    for place in places:
        square.widen(place[None])
    finite = places[np.isfinite(places).all(axis=1)]
    assert np.isfinite([square.half, *square.centre]).all()
    if len(finite):
        assert (np.abs(finite - square.centre) <= square.half * (1 + 1e-9)).all()


def test_a_range_on_a_log_axis_begins_at_the_least_positive_number() -> None:
    ends = Range()
    ends.widen(np.array([[0.0, -3.0, 2.0], [np.nan, np.inf, 9.0]]))
    assert (ends.low, ends.high) == (2.0, 9.0)


def test_tables_certificates_and_values_side_by_side_have_one_range_for_all_arms(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[..., Any]
) -> None:
    run, feed = made_up(tmp_path / "run", seeds=5), feed_of(tmp_path / "run")
    run.grow(100)
    for step in (50, 100):
        read_all(run, step)
    feed.refresh()
    found = Scales(feed).look(["spectra", "jacobian certificates", "theta certificates", "nothing such"])
    assert found["spectra"]["range"] == pytest.approx([0.5 * 51, 2.0 * 101])
    assert found["jacobian certificates"]["range"] == [5.0, 8.0]
    assert found["theta certificates"]["range"] == [51.0, 101.0]
    assert set(found) == {"spectra", "jacobian certificates", "theta certificates"}


def test_the_visual_models_layers_are_those_of_the_figures(
    tmp_path: Path, made_up: Callable[..., SyntheticRun]
) -> None:
    reading = made_up(tmp_path / "run", visual=True).visual_weights(0.4)
    w = {name: values[1].astype(float) for name, values in reading.weights().items()}
    points, rows = look(reading.values.astype(float), reading.meta())
    xi, expected = sequence_embeddings(w, np.array(reading.tokens))
    np.testing.assert_allclose(rows[1], expected, atol=1e-9)
    np.testing.assert_allclose(points["xi"][1], xi, atol=1e-9)
    logits = points["h"][1] @ w["tokens"].T
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(shares / shares.sum(axis=1, keepdims=True), answers(w, xi), atol=1e-5)


def test_every_layer_of_every_arm_lies_within_its_scale(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[..., Any]
) -> None:
    run, feed = made_up(tmp_path / "run", visual=True, arms=2), feed_of(tmp_path / "run")
    run.grow(200)
    feed.refresh()
    found = Scales(feed).look(["visual weights"])["visual weights"]
    meta = feed.readings()["visual weights"][0]
    for arm in range(2):
        for _, values in feed.frames(arm, "visual weights", "values", [0, 200]):
            points, rows = look(values.astype(float), meta)
            assert rows.max() <= found["range"][1]
            for name, places in points.items():
                assert (np.abs(places - found[name]["centre"]) <= found[name]["half"]).all(), name


def test_a_viewer_is_told_the_scales_before_the_pictures_that_need_them(
    runs_folder: Path, made_up: Callable[..., SyntheticRun]
) -> None:
    made_up(runs_folder / "made-up", arms=2).grow(40)
    token = Tokens().sign(Permission("made-up"))
    with (
        TestClient(Starlette(routes=live_routes(linger=0)), base_url="http://localhost") as client,
        client.websocket_connect(f"/live/ws/made-up?token={token}") as socket,
    ):
        socket.send_json({"since": -1})
        told: list[dict[str, Any]] = []
        while (message := socket.receive()).get("bytes") is None:
            told.append(json.loads(message["text"]))
    (scales,) = (words["scales"] for words in told if words["type"] == "scales")
    assert set(scales) == {"trajectories"} and scales["trajectories"]["points"]["half"] > 0


def test_a_wider_models_points_lie_within_their_scale_in_the_runs_plane(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[..., Any]
) -> None:
    run, feed = made_up(tmp_path / "run", arms=1), feed_of(tmp_path / "run")
    random = np.random.default_rng(4)
    shapes = ((2, 3), (12, 3), (3,), (3, 3), (8, 3), (8,), (3, 8), (3,))
    narrow = run.visual_weights(0.3)
    for step in (0, 20):
        values = random.normal(size=(3, sum(int(np.prod(shape)) for shape in shapes))).astype(np.float16)
        run.writer.reading(step, 0, "visual weights", replace(narrow, values=values, shapes=shapes))
    run.grow(20)
    feed.refresh()
    scales, meta = (
        Scales(feed).look(["visual weights"])["visual weights"],
        feed.readings()["visual weights"][0],
    )
    for _, values in feed.frames(0, "visual weights", "values", [0, 20]):
        points = look(values.astype(float), meta).points
        for name, space in (("xi", "xi"), ("E", "E+P"), ("receptors", "nxi")):
            plane = scales["planes"][space]
            drawn = (points[name] - plane["centre"]) @ np.array(plane["axes"]).T
            edge = scales[name]["half"] * (1 + 1e-5)
            assert (np.abs(drawn - scales[name]["centre"]) <= edge).all(), name
