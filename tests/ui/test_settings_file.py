"""A settings file that somebody chooses: read, or refused at once in one sentence."""

import time

import pytest

from sandbox.foundations.errors import SandboxError
from sandbox.ui import choices, downloads, settings_file
from sandbox.ui.complete import complete
from tests.ui import described

CATALOGUE = described.catalogue()


@pytest.fixture(autouse=True)
def _catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "catalogue", lambda: CATALOGUE)


@pytest.mark.parametrize("name", ["mine.toml", "MINE.TOML"])
def test_what_was_downloaded_is_read_back(name: str) -> None:
    plain = complete(CATALOGUE, {"steps": 77, "arms": ["standard", "spectral:shift=0.5"]})
    assert settings_file.read(name, downloads.toml(plain).encode()) == plain
    assert settings_file.read("mine.json", downloads.as_json(plain).encode()) == plain


DOTTED = ".".join("a" * 15_000) + " = 1"
HUGE = "0x" + "f" * 5000


@pytest.mark.parametrize(
    "text",
    [
        DOTTED,
        f"[{DOTTED[:-4]}]",
        f"steps = {HUGE}",
        f"seeds = {HUGE}",
        f"seeds = [{HUGE}]",
        f"arms = {HUGE}",
        f"schema = {HUGE}",
        f"model = {HUGE}",
        f"[task]\nkind = {HUGE}",
        "[task]\nkind = []",
        "arms = [[]]",
        "[[arms]]\nname = []",
        "[optimizer]\nkind = 1979-05-27",
        "steps = nan",
        "steps = inf",
        "\ufeff",
        "=",
        "seeds = " + "[" * 5000,
        "seeds = " + "[" * 400 + "]" * 400,
        "x = 1" + " " * 33_000,
    ],
)
def test_any_other_toml_gets_one_sentence_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(SandboxError) as refused:
        settings_file.read("x.toml", text.encode())
    assert time.process_time() - began < 1
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    "text",
    ["[" * 900 + "]" * 900, '{"seeds": ' + "[" * 900 + "]" * 900 + "}", '{"steps": ' + "9" * 5000 + "}"],
)
def test_any_other_json_gets_one_sentence(text: str) -> None:
    with pytest.raises(SandboxError):
        settings_file.read("x.json", text.encode())
