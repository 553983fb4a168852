"""Which engine trains a setting, and the sentence that says why not the native one."""

import re
from dataclasses import replace

import pytest

from sandbox.attention.nystrom import Nystrom
from sandbox.engine.choice import EngineChoice, choose_engine, group_for
from sandbox.engine.native import coverage
from sandbox.engine.native.coverage import visual_parameters
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.errors import EngineUnavailable, InvalidKnob
from sandbox.models.encoder import Encoder
from sandbox.models.visual_model import VisualModel
from sandbox.tasks.listops import ListOps
from tests.engine.arms import ARMS, Setting

VISUAL = ARMS["visual model, stacked"]
LONG = ListOps(max_length=200)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the kernels were there, whether or not they are."""
    monkeypatch.setattr(coverage, "found_build", lambda: ("some-build", ""))


@pytest.fixture
def not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if they were not."""
    monkeypatch.setattr(coverage, "found_build", lambda: ("", "the native engine is not built"))


@pytest.mark.usefixtures("built")
def test_the_native_engine_is_taken_where_it_applies():
    assert choose_engine(VISUAL) == EngineChoice("native")
    assert choose_engine(VISUAL, wanted="native") == EngineChoice("native")
    assert choose_engine(VISUAL, wanted="torch") == EngineChoice("torch", "asked for")


@pytest.mark.usefixtures("built")
def test_the_encoder_is_trained_natively_too():
    encoder = ARMS["encoder, stacked"]
    assert choose_engine(encoder) == EngineChoice("native")
    assert choose_engine(encoder, before="native") == EngineChoice("native")
    nystrom = replace(encoder, model=Encoder(mechanism=Nystrom()))
    reason = "nystrom: the native engine has no kernel for it"
    assert choose_engine(nystrom) == EngineChoice("torch", reason)
    with pytest.raises(EngineUnavailable, match=reason):
        choose_engine(nystrom, wanted="native")


@pytest.mark.usefixtures("built")
def test_a_wide_encoder_is_trained_natively_where_that_is_asked_for():
    most = coverage.MOST_AUTOMATIC_WIDTH
    wide = [replace(ARMS["encoder, stacked"], model=Encoder(d_model=width)) for width in (most, 2 * most)]
    assert [choose_engine(setting).engine for setting in wide] == ["native", "torch"]
    assert choose_engine(wide[1]).reason == f"width {2 * most}: above {most} the torch engine is as fast"
    assert choose_engine(wide[1], wanted="native") == EngineChoice("native")
    assert choose_engine(wide[1], before="native") == EngineChoice("native")


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("setting", "device", "reason"),
    [
        (VISUAL, "cuda", "^GPU: "),
        (replace(VISUAL, task=LONG), "cpu", "^length 200: "),
        (replace(VISUAL, model=VisualModel(d_model=64, d_ff=1024)), "cpu", "parameters: above 65536"),
    ],
)
def test_what_it_does_not_know_stays_with_torch_for_a_reason(setting: Setting, device: str, reason: str):
    found = choose_engine(setting, device)
    assert found.engine == "torch" and re.search(reason, found.reason)
    with pytest.raises(EngineUnavailable, match=reason.removeprefix("^")):
        choose_engine(setting, device, "native")


@pytest.mark.usefixtures("not_built")
def test_without_kernels_everything_is_torchs():
    assert choose_engine(VISUAL) == EngineChoice("torch", "the native engine is not built")
    with pytest.raises(EngineUnavailable, match="not built; choose 'auto' or 'torch'"):
        choose_engine(VISUAL, wanted="native")


@pytest.mark.usefixtures("built")
def test_a_run_goes_on_with_the_engine_it_began_with():
    assert choose_engine(VISUAL, before="torch").engine == "torch"
    assert choose_engine(VISUAL, before="native").engine == "native"
    assert choose_engine(VISUAL, wanted="native", before="torch").engine == "native"


@pytest.mark.usefixtures("not_built")
def test_a_run_that_began_with_kernels_goes_on_without_them():
    assert choose_engine(VISUAL, before="native") == EngineChoice("torch", "the native engine is not built")


def test_an_engine_that_does_not_exist_is_refused():
    with pytest.raises(InvalidKnob, match="'fortran'; choose one of auto, torch, native"):
        choose_engine(VISUAL, wanted="fortran")


def test_the_torch_engine_is_what_a_group_is_by_default():
    assert type(group_for(VISUAL, (1,))) is TorchGroup


@pytest.mark.parametrize("d_model", [2, 3])
def test_the_count_of_parameters_is_that_of_the_model(d_model: int):
    model = VisualModel(d_model=d_model, d_ff=7, n_embeddings=4)
    counted = sum(p.numel() for p in model.build(VISUAL.task, 0).parameters())
    assert visual_parameters(model, VISUAL.task) == counted
