"""Instant: the knobs in the address, the way to the Sandbox, and what is said without kernels."""

import pytest

from sandbox.runner.instant import knobs as instant_knobs
from sandbox.ui import choices, instant, session
from sandbox.ui.complete import complete
from tests.pages.conftest import Open, said, settled


def test_the_page_opens_and_says_what_it_does(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instant, "found_build", lambda: ("x86-64-v3", ""))
    app = settled(open_page("instant"))
    assert "trained anew" in said(app)
    assert not app.warning and not app.info


def test_without_kernels_it_says_why_and_leads_to_the_sandbox(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instant, "found_build", lambda: ("", "the native engine is not built; `make native`"))
    app = settled(open_page("instant"))
    assert "the native engine is not built" in said(app)


def test_an_address_that_cannot_be_followed_is_told_in_a_sentence(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instant, "found_build", lambda: ("x86-64-v3", ""))
    app = settled(open_page("instant", learning_rate="1e9", d_ff="x"))
    (warning,) = app.warning
    assert "The address was not followed" in warning.value and len(app.warning) == 1


def test_an_address_names_knobs_and_leaves_the_others_as_published() -> None:
    values, trouble = instant.in_address({"learning_rate": "0.0075", "d_model": "4"})
    assert trouble == "" and values == instant_knobs.defaults() | {"learning_rate": 0.0075, "d_model": 4}
    for hostile in ({"d_model": "nan"}, {"d_model": "9" * 5000}, {"<script>": "1"}, {"n_terms": "20"}):
        values, trouble = instant.in_address(hostile)
        assert values == instant_knobs.defaults()
        assert trouble.endswith(".") and len(trouble) < 300


def test_what_is_wanted_opens_in_the_sandbox_with_its_settings(open_page: Open) -> None:
    app = settled(open_page("instant"))
    given = instant_knobs.check_knobs({"learning_rate": 0.01, "n_seeds": 2})
    plain = complete(choices.catalogue(), instant_knobs.experiment_plain(given))
    app.session_state[session._HELD] = {instant.WANTED: plain}
    app = settled(app.run())
    draft = app.session_state[session._DRAFT]
    assert draft == plain
    assert draft["optimizer"]["learning_rate"] == 0.01 and draft["seeds"] == [0, 1]
    assert draft["model"]["kind"] == "visual model" and draft["steps"] == 300 * 64
