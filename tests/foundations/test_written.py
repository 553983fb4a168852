"""Numbers as people read them: groups of three, percent with a space, and never more than is true."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.figures.drawing import blank, shares
from sandbox.foundations.written import percent, points, whole

ROOT = Path(__file__).resolve().parents[2]


@given(st.integers(-(10**12), 10**12))
def test_whole_numbers_come_back_from_their_groups(n: int) -> None:
    assert re.fullmatch(r"-?\d{1,3}(,\d{3})*", whole(n))
    assert int(whole(n).replace(",", "")) == n


@given(st.floats(0, 1), st.sampled_from([0, 1]))
def test_a_share_is_written_in_percent_and_100_means_all(share: float, digits: int) -> None:
    words = percent(share, digits)
    assert words.endswith(" %") and (words == "100 %") == (share == 1)
    assert abs(float(words.removesuffix(" %")) / 100 - share) <= 10**-digits / 100


@given(st.floats(0, 1))
def test_shares_below_one_another_have_the_same_digits_and_only_a_whole_one_is_100(share: float) -> None:
    words = percent(share, column=True)
    assert re.fullmatch(r"\d{1,3}\.\d %", words) and (words == "100.0 %") == (share == 1)


def test_a_share_that_is_none_is_said() -> None:
    assert percent(float("nan")) == percent(float("inf")) == "not a number"
    assert (points(0.104), points(-0.001), points(0.0001)) == ("+10.4", "−0.1", "0.0")


def test_an_axis_of_shares_writes_them_the_same_way() -> None:
    figure = blank("test", "step", "accuracy", False)
    shares(figure)
    for n in range(101):
        assert figure.layout.yaxis.labelalias[f"{n}%"] == percent(n / 100, 0)
    shares(figure, signed=True)
    alias = figure.layout.yaxis.labelalias
    assert (alias["+7%"], alias["−20%"], alias["+0%"]) == ("+7", "−20", "0")
    assert figure.layout.xaxis.separatethousands is True


@pytest.mark.parametrize("path", sorted((ROOT / "sandbox" / "ui").glob("*.py")), ids=lambda p: p.stem)
def test_no_page_writes_percent_or_thousands_in_a_way_of_its_own(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\{[^{}]*:[+]?\.?\d*%\}", text), "use words.percent"
    assert not re.search(r"\{[^{}]*:,(\.0f|d)?\}", text), "use words.whole"


def test_the_live_view_groups_digits_as_the_pages_do() -> None:
    words = (ROOT / "assets" / "live" / "dom.js").read_text(encoding="utf-8")
    found = re.search(r'digits\.replace\(/(.+?)/g, "(.+?)"\)', words)
    assert found is not None
    for digits in ("1234567", "12000", "999", "1000"):
        assert re.sub(found[1], found[2], digits) == whole(int(digits))
