"""Spectra, answers and expressions against NumPy and against what can be counted by hand."""

import numpy as np
import pytest

from sandbox.diagnostics import Diagnostic
from sandbox.diagnostics.expression import deepest, nesting
from sandbox.diagnostics.probe import Probe
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import Answer, Table, decode, encode
from tests.diagnostics.views import probe, random_view, softmax, view

WORDS = ("0", "1", "[MAX", "]")
EXPRESSIONS = np.array(
    [[2, 0, 1, 3, 0, 0, 0], [2, 0, 2, 1, 3, 3, 0], [2, 2, 0, 3, 1, 1, 3], [2, 1, 3, 0, 0, 0, 0]]
)
LENGTHS = (4, 6, 7, 3)


def expressions() -> Probe:
    visible = np.arange(7) < np.array(LENGTHS)[:, None]
    return probe(EXPRESSIONS, visible, token_labels=WORDS)


def ask(kind: str, **parts: object) -> Answer:
    return Diagnostic.variants[kind]().read(view(expressions(), **parts))  # type: ignore[arg-type]


def test_a_spectrum_is_that_of_numpy_and_falls_from_rank_to_rank() -> None:
    whole = random_view()
    answer = Diagnostic.variants["spectra"]().read(whole)
    assert isinstance(answer, Table) and answer.columns == ("W_Q", "W_K", "W_V")
    for place, name in enumerate(("query", "key", "value")):
        expected = np.linalg.svd(whole.projections[name].astype(np.float64), compute_uv=False)
        np.testing.assert_allclose(answer.cells[..., place], expected, rtol=1e-6)
    assert (np.diff(answer.cells, axis=-2) <= 0).all() and answer.rows[0] == "σ1"


def test_a_long_spectrum_keeps_its_ends() -> None:
    whole = random_view(width=16)
    kept = Diagnostic.variants["spectra"](most=3).read(whole)
    every = Diagnostic.variants["spectra"]().read(whole)
    assert isinstance(kept, Table) and isinstance(every, Table)
    assert kept.rows == ("σ1", "σ5", "σ8") and "3 of 8" in kept.provenance.note
    np.testing.assert_array_equal(kept.cells, every.cells[..., [0, 4, 7], :])


def test_answers_are_the_softmax_of_the_logits_and_know_the_truth() -> None:
    logits = np.array([[[0.0, 0.0, 9.0], [np.log(3.0), 0.0, 9.0], [800.0, 0.0, 0.0], [0.0, 800.0, 0.0]]])
    answer = ask("probe answers", trace={"logits": logits})
    assert isinstance(answer, Table) and answer.columns == ("even", "odd") and answer.truth == (0, 1, 0, 1)
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    np.testing.assert_allclose(answer.cells[0, 0, 0], (shares / shares.sum(-1, keepdims=True))[0, :, :2])
    assert answer.rows[1] == "[MAX 0 [MAX 1 ] ]"


def test_the_deepest_expression_that_is_short_enough_is_drawn() -> None:
    batch = expressions()
    assert [nesting(batch, row) for row in range(4)] == [1, 2, 2, 1]
    assert deepest(batch, 40) == 2  # as deep as the second, but longer
    assert deepest(batch, 6) == 1 and deepest(batch, 4) == 0 and deepest(batch, 2) == 3


def test_attention_received_is_the_mean_over_the_visible_queries_and_sums_to_one() -> None:
    batch = expressions()
    weights = softmax(np.random.default_rng(1).normal(size=(2, 4, 3, 7, 7)), batch.visible)
    answer = ask("expression", trace={"blocks.0.attention.weights": weights})
    assert isinstance(answer, Table) and answer.rows == batch.sequence(2)
    np.testing.assert_allclose(answer.cells[:, 0, :, :, 0], weights[:, 2].mean(axis=-2), rtol=1e-6)
    np.testing.assert_allclose(answer.cells.sum(axis=-2), 1, rtol=1e-6)


def test_sequences_without_brackets_have_no_tree() -> None:
    answer = Diagnostic.variants["expression"]().read(random_view())
    assert isinstance(answer, NotApplicable) and "no nested expressions" in answer.reason


def test_a_table_comes_back_from_the_store_as_it_was() -> None:
    before = Diagnostic.variants["probe answers"]().read(random_view())
    after = decode(*encode(before))
    assert isinstance(before, Table) and isinstance(after, Table)
    np.testing.assert_array_equal(after.cells, before.cells)
    assert (after.rows, after.columns, after.truth) == (before.rows, before.columns, before.truth)
    assert after.for_run(1).cells.shape[0] == 1


def test_a_table_whose_words_do_not_fit_is_refused() -> None:
    cells = np.zeros((1, 1, 1, 2, 3))
    for words in ({"rows": ("a",)}, {"truth": (0,)}, {"truth": (0, 3)}):
        settings = {"rows": ("a", "b"), "columns": ("x", "y", "z"), "unit": "u", **words}
        with pytest.raises(InvalidData):
            Table(cells=cells, **settings)  # type: ignore[arg-type]
