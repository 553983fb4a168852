"""Condition numbers per head: the paper's examples, singular and diverged matrices, missing ones."""

import numpy as np
import pytest

from sandbox.diagnostics.condition_numbers import ConditionNumbers
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import PerHead
from tests.diagnostics.views import probe, view

BATCH = probe(np.zeros((2, 3), int))


def read(**projections: np.ndarray) -> PerHead:
    answer = ConditionNumbers().read(view(BATCH, projections=projections))
    assert isinstance(answer, PerHead)
    return answer


def test_the_papers_example_before_and_after_its_correction() -> None:
    w = np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    heads = np.stack([w, w + 10 * np.eye(3, 2)])[None, None]
    found = read(query=heads, key=heads[:, :, ::-1], value=heads).columns
    assert found["query"][0, 0] == pytest.approx([3.0, 1.1818181818], abs=1e-8)
    assert found["key"][0, 0] == pytest.approx([1.1818181818, 3.0], abs=1e-8)


def test_a_singular_matrix_is_infinite_and_a_diverged_one_is_nan_alone() -> None:
    stack = np.stack([np.eye(4, 2), np.eye(4, 2) * [1, 0], np.full((4, 2), np.nan)])[:, None, None]
    assert read(query=stack).columns["query"].ravel().tolist()[:2] == [1.0, np.inf]
    assert np.isnan(read(query=stack).columns["query"][2, 0, 0])


def test_a_missing_matrix_is_a_sentence_and_no_column() -> None:
    answer = read(value=np.eye(2)[None, None, None])
    assert list(answer.columns) == ["value"] and answer.log
    assert answer.not_applicable["key"] == "This model has no key matrix, so it has no condition number."
    assert set(answer.not_applicable) == {"query", "key"}


def test_a_model_without_projections_has_no_answer() -> None:
    answer = ConditionNumbers().read(view(BATCH, {"embedding": np.ones((1, 2, 3, 2))}))
    assert answer == NotApplicable("This model has no query, key or value matrix.")
