"""The Jacobian in closed form: its oracle, automatic differentiation, rank and ceiling."""

import numpy as np
import pytest
import torch

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.attention_jacobian import attention_jacobian, jacobian_condition
from sandbox.mathematics.condition import condition_number, condition_number_nonzero, numerical_rank
from sandbox.mathematics.jacobian_bounds import (
    norm_bound,
    paper_expression,
    row_bound,
    softmax_covariance_values,
)
from sandbox.mathematics.jacobian_condition import condition_of, rank_sentence, structural_ceiling
from sandbox.mathematics.jacobian_factors import (
    attention_factors,
    attention_weights,
    check_head,
    gram_from_factors,
    in_token_space,
    jacobian_from_factors,
)

Head = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
ORACLE: Head = (
    np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    np.array([[1.0], [0.5]]),
    np.array([[0.5], [-1.0]]),
    np.array([[2.0], [1.0]]),
)
SHAPES = [(3, 2, 1), (5, 7, 3), (4, 3, 3), (7, 5, 2), (2, 6, 4), (6, 2, 5), (1, 3, 2)]  # tokens, model, head


def random_head(n_tokens: int, d_model: int, d_head: int, seed: int = 0) -> Head:
    random = np.random.default_rng(seed)
    x = random.normal(size=(n_tokens, d_model))
    w_q, w_k, w_v = random.normal(size=(3, d_model, d_head))
    return x, w_q, w_k, w_v


def automatic_jacobian(head: Head, scale: float, mask: np.ndarray | None = None) -> np.ndarray:
    x = torch.tensor(head[0])

    def output(w_q: torch.Tensor, w_k: torch.Tensor, w_v: torch.Tensor) -> torch.Tensor:
        scores = scale * (x @ w_q) @ (x @ w_k).T
        if mask is not None:
            scores = scores.masked_fill(~torch.tensor(mask), float("-inf"))
        return (torch.softmax(scores, dim=-1) @ (x @ w_v)).T.reshape(-1)  # column by column

    blocks = torch.autograd.functional.jacobian(output, tuple(torch.tensor(w) for w in head[1:]))
    return torch.cat([block.transpose(1, 2).reshape(len(block), -1) for block in blocks], dim=1).numpy()


def test_the_known_head_has_its_known_output_and_singular_values() -> None:
    x, w_q, w_k, w_v = ORACLE
    output = attention_weights(x, w_q, w_k, 1.0) @ x @ w_v
    np.testing.assert_allclose(output[:, 0], [2.0909795145, 2.0645361907, 2.0886174871], atol=1e-8)
    values = np.linalg.svd(attention_jacobian(*ORACLE, 1.0), compute_uv=False)
    np.testing.assert_allclose(values, [1.6341920972, 0.2411303196, 0.0405458338], atol=1e-8)
    condition = jacobian_condition(*ORACLE, 1.0)
    assert condition.kappa == pytest.approx(40.3048092670, abs=1e-8)
    assert (condition.rank, condition.ceiling) == (3, 3)
    assert condition.kappa_effective == condition.kappa


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_the_closed_form_agrees_with_automatic_differentiation(
    shape: tuple[int, int, int], scale: float
) -> None:
    head = random_head(*shape)
    n_tokens, d_model, d_head = shape
    jacobian = attention_jacobian(*head, scale)
    assert jacobian.shape == (n_tokens * d_head, 3 * d_model * d_head)
    truth = automatic_jacobian(head, scale)
    np.testing.assert_allclose(jacobian, truth, atol=1e-13 * np.abs(truth).max())


def test_the_closed_form_agrees_with_automatic_differentiation_under_a_causal_mask() -> None:
    head, causal = random_head(5, 4, 3), np.tri(5, dtype=bool)
    truth = automatic_jacobian(head, 0.5, causal)
    np.testing.assert_allclose(
        attention_jacobian(*head, 0.5, causal), truth, atol=1e-13 * np.abs(truth).max()
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_the_gram_matrix_without_j_equals_the_product_of_j(shape: tuple[int, int, int]) -> None:
    head = random_head(*shape)
    jacobian = attention_jacobian(*head, 0.7)
    product = jacobian @ jacobian.T
    gram = gram_from_factors(attention_factors(*head, 0.7))
    np.testing.assert_allclose(gram, product, atol=1e-13 * np.abs(product).max())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [0.7, 1e-6])
def test_coordinates_among_the_tokens_change_no_singular_value(
    shape: tuple[int, int, int], scale: float
) -> None:
    factors = attention_factors(*random_head(*shape), scale)
    fewer = jacobian_from_factors(in_token_space(factors))
    n_tokens, d_model, d_head = shape
    assert fewer.shape == (n_tokens * d_head, 3 * min(n_tokens, d_model) * d_head)
    found = np.linalg.svd(fewer, compute_uv=False)
    whole = np.linalg.svd(jacobian_from_factors(factors), compute_uv=False)
    n_both = min(len(found), len(whole))
    np.testing.assert_allclose(found[:n_both], whole[:n_both], atol=1e-13 * whole[0])
    assert (whole[n_both:] <= 1e-13 * whole[0]).all()


@pytest.mark.parametrize("shape", [*SHAPES, (16, 8, 4), (24, 4, 4)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_heads_reach_their_structural_ceiling_and_never_pass_it(
    shape: tuple[int, int, int], seed: int
) -> None:
    head = random_head(*shape, seed)
    scale = 0.1  # keeps softmax soft, so that no direction is lost to saturation
    condition = jacobian_condition(*head, scale)
    values = np.linalg.svd(attention_jacobian(*head, scale), compute_uv=False)
    assert (values > 1e-9 * values[0]).sum() <= condition.ceiling
    assert condition.rank <= condition.ceiling
    assert condition.largest == pytest.approx(values[0], rel=1e-10)
    if condition.rank == condition.ceiling:
        assert condition.kappa == pytest.approx(values[0] / values[condition.ceiling - 1], rel=1e-5)


def test_the_ceiling_follows_the_symmetry_of_queries_and_keys() -> None:
    assert structural_ceiling(1000, 4, 16) == 3 * 16 * 4 - 4 * 4
    assert structural_ceiling(1000, 8, 4) == 2 * 4 * 4 - 4 * 4 + 4 * 8
    assert structural_ceiling(5, 4, 16) == 20
    head = random_head(24, 4, 4)
    assert jacobian_condition(*head, 0.2).rank == jacobian_condition(*head, 0.2).ceiling == 32


def test_a_head_that_sees_one_token_has_an_infinite_condition_number_below_its_ceiling() -> None:
    x, w_q, w_k, w_v = random_head(4, 6, 2)
    condition = jacobian_condition(np.repeat(x[:1], 4, axis=0), w_q, w_k, w_v, 1.0)
    assert condition.ceiling == min(8, 2 * 1 - 1 + 2) and condition.rank == 2
    assert condition.kappa == np.inf and condition.kappa_effective == pytest.approx(1.0)
    assert condition.method == "svd"


def test_zero_tokens_give_rank_zero_and_no_exception() -> None:
    _, w_q, w_k, w_v = random_head(4, 6, 2)
    condition = jacobian_condition(np.zeros((4, 6)), w_q, w_k, w_v, 1.0)
    assert (condition.rank, condition.largest) == (0, 0.0)
    assert condition.kappa == condition.kappa_effective == np.inf


def test_well_conditioned_heads_use_the_gram_matrix_and_others_the_svd() -> None:
    x, w_q, w_k, w_v = random_head(4, 8, 3)
    soft = jacobian_condition(x, w_q, w_k, w_v, 0.1)
    flat = jacobian_condition(x, w_q, w_k, w_v, 1e-6)
    assert soft.method == "gram" and flat.method == "svd"
    for found, scale in ((soft, 0.1), (flat, 1e-6)):
        jacobian = attention_jacobian(x, w_q, w_k, w_v, scale)
        assert found.kappa == pytest.approx(condition_number(jacobian), rel=1e-9)


def test_the_parts_of_the_papers_expression_agree_with_their_oracles() -> None:
    x, w_q, w_k, _ = ORACLE
    weights = attention_weights(x, w_q, w_k, 1.0)
    covariance = block_diagonal_covariance(weights)
    assert condition_number_nonzero(covariance) == pytest.approx(3.7660125454, abs=1e-8)
    assert numerical_rank(covariance) == 6 and condition_number(covariance) == np.inf
    assert condition_number(weights) == pytest.approx(153.8994060590, abs=1e-8)
    assert paper_expression(attention_factors(*ORACLE, 1.0)) == pytest.approx(305.6991409726, abs=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_values_of_the_softmax_covariance_are_those_of_the_whole_matrix(
    shape: tuple[int, int, int],
) -> None:
    x, w_q, w_k, _ = random_head(*shape)
    weights = attention_weights(x, w_q, w_k, 0.5, np.tri(len(x), dtype=bool))
    whole = np.linalg.svd(block_diagonal_covariance(weights), compute_uv=False)
    np.testing.assert_allclose(softmax_covariance_values(weights), whole, atol=1e-15)


def block_diagonal_covariance(weights: np.ndarray) -> np.ndarray:
    """Lambda(P) as a whole, block Diag(p) - p p^T after block."""
    n_queries, n_keys = weights.shape
    whole = np.zeros((n_queries, n_keys, n_queries, n_keys))
    for query, p in enumerate(weights):
        whole[query, :, query] = np.diag(p) - np.outer(p, p)
    return whole.reshape(n_queries * n_keys, -1)


def test_the_papers_expression_is_no_bound() -> None:
    identity = np.eye(4)
    head = (identity, 1.5 * identity, identity, 10.0 * identity)
    assert jacobian_condition(*head, 1.0).kappa == pytest.approx(12.4961348431, abs=1e-8)
    assert paper_expression(attention_factors(*head, 1.0)) == pytest.approx(6.9410358829, abs=1e-8)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_proved_bounds_hold_and_the_finer_one_is_below_the_coarser(seed: int, scale: float) -> None:
    factors = attention_factors(*random_head(4, 6, 3, seed), scale)
    kappa = condition_of(factors).kappa
    assert kappa <= row_bound(factors) * (1 + 1e-9)
    assert row_bound(factors) <= norm_bound(factors) * (1 + 1e-9)


def test_proved_bounds_say_nothing_where_their_condition_fails() -> None:
    factors = attention_factors(*random_head(6, 4, 2), 1.0)
    assert row_bound(factors) == norm_bound(factors) == np.inf


def test_an_infinite_value_says_its_rank() -> None:
    assert rank_sentence(np.inf, 3, 7) == "infinite (rank 3 of 7)"
    assert rank_sentence(40.3048, 7, 7) == "40.3"


def test_shapes_that_do_not_fit_and_numbers_that_are_not_finite_are_refused() -> None:
    x, w_q, w_k, w_v = random_head(3, 4, 2)
    with pytest.raises(InvalidData, match="do not fit"):
        check_head(x, (w_q.T, w_k, w_v), None)
    with pytest.raises(InvalidData, match="mask"):
        attention_jacobian(x, w_q, w_k, w_v, 1.0, np.zeros((3, 3), dtype=bool))
    x[1, 1] = np.nan
    with pytest.raises(InvalidData, match="NaN"):
        attention_jacobian(x, w_q, w_k, w_v, 1.0)
