"""The Jacobian of one attention head with respect to its three projections, in closed form."""

import numpy as np
from jaxtyping import Bool, Float, Real

from sandbox.mathematics.jacobian_condition import JacobianCondition, jacobian_condition
from sandbox.mathematics.jacobian_factors import attention_factors, jacobian_from_factors

__all__ = ["JacobianCondition", "attention_jacobian", "jacobian_condition"]


def attention_jacobian(
    x: Real[np.ndarray, "token model"],
    w_q: Real[np.ndarray, "model head"],
    w_k: Real[np.ndarray, "model head"],
    w_v: Real[np.ndarray, "model head"],
    scale: float,
    mask: Bool[np.ndarray, "token token"] | None = None,
) -> Float[np.ndarray, "output parameter"]:
    """J = [dA/dW_Q, dA/dW_K, dA/dW_V] of A = softmax(scale X W_Q W_K^T X^T) X W_V, of shape N d x 3 D d.

    Both A and each W are read column by column (vec). Projections are the papers' D x d matrices. J_Q = s X_n
    (x) M_n, J_K = s U_n (x) Q_n, J_V = (PX)_n (x) I. (Saratchandran & Lucey 2603.07162, Thm 3.4;
    this row form is derived and agrees with automatic differentiation)
    """
    return jacobian_from_factors(attention_factors(x, w_q, w_k, w_v, scale, mask))
