"""A sweep is every combination of its grid, or its points as listed, each of them a valid experiment."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sandbox.experiment.sweep import MAX_POINTS, load_sweep
from sandbox.foundations.errors import InvalidPlain, SandboxError

BASE = {"preset": "paper default", "set": {"steps": 7}}


def test_a_grid_is_every_combination_with_arms_and_seeds_in_each() -> None:
    widths, rates = [2, 4, 8], [0.001, 0.01]
    sweep = load_sweep(
        {
            **BASE,
            "seeds": 3,
            "arms": ["standard"],
            "grid": {"model.d_model": widths, "optimizer.learning_rate": rates},
        }
    )
    found = [
        (
            point.experiment.to_plain()["model"]["d_model"],
            point.experiment.to_plain()["optimizer"]["learning_rate"],
        )
        for point in sweep.points
    ]
    assert found == list(product(widths, rates))
    assert {point.experiment.seeds for point in sweep.points} == {(0, 1, 2)}
    assert {point.experiment.steps for point in sweep.points} == {7}
    assert sweep.keys == ("model.d_model", "optimizer.learning_rate")


def test_a_list_sets_what_each_point_says(tmp_path: Path) -> None:
    file = tmp_path / "two points.toml"
    file.write_text(
        'preset = "paper default"\n[[points]]\nmodel.d_model = 4\n[[points]]\n"steps" = 9\nseeds = [5]\n'
    )
    sweep = load_sweep(file)
    assert sweep.name == "two points" and [point.values for point in sweep.points] == [
        {"model.d_model": 4},
        {"steps": 9, "seeds": [5]},
    ]
    assert sweep.points[1].experiment.seeds == (5,) and sweep.points[1].words == "steps = 9, seeds = [5]"


def test_arms_may_be_swept_as_any_other_setting() -> None:
    sweep = load_sweep(
        {"experiment": {}, "grid": {"arms": [["standard"], ["spectral:shift=0.5"], ["spectral:shift=10"]]}}
    )
    assert [point.experiment.arms[0].name for point in sweep.points] == [
        "standard",
        "spectral:shift=0.5",
        "spectral:shift=10",
    ]


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        ({"grid": {"steps": [1]}, "points": [{}]}, "one of the two"),
        ({}, "one of the two"),
        ({"grid": {}}, "empty"),
        ({"grid": {"steps": 5}}, "list of its values"),
        ({"grid": {"steps": list(range(1, MAX_POINTS + 2))}}, f"at most {MAX_POINTS}"),
        ({"grid": {f"model.k{i}": [1, 2, 3, 4, 5] for i in range(64)}}, "has 1000000000 or more points"),
        ({"grid": {f"model.k{i}": [1, 2, 3, 4, 5] for i in range(9000)}}, "grid has 9000 settings"),
        ({"points": [{"steps": 9}, {f"k{i}": 1 for i in range(65)}]}, "Point 2 has 65 settings"),
        ({"grid": {"steps": [1 << 20_000]}}, "thousands of digits"),
        ({"grid": {"model.no_such": [1]}}, "Point 1 .*no_such"),
        ({"grid": {"model.d_model": [4, 7, -1]}}, r"Point 3 \(model.d_model = -1\)"),
        ({"points": [{"steps": 9}, {"steps": 9}]}, "same experiment"),
        ({"knobs": {}}, "knobs"),
        ({"name": "", "grid": {"steps": [1]}}, "1 to 80"),
        ({"schema": 2, "grid": {"steps": [1]}}, "schema 2"),
        ({"experiment": {}, "grid": {"steps": [1]}}, "one of them"),
    ],
)
def test_what_is_no_sweep_is_refused_in_one_sentence(plain: dict[str, Any], words: str) -> None:
    with pytest.raises(SandboxError, match=words) as refused:
        load_sweep({**BASE, **plain})
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("grid = [")
    with pytest.raises(InvalidPlain, match="TOML"):
        load_sweep(tmp_path / "x.toml")
