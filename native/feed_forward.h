// The feed-forward part of one layer, W_2 gelu(W_1 x + b_1) + b_2, forward and backward.
#pragma once
#include "layout.h"
#include "products.h"

namespace sandbox {

constexpr int OF_GELU = 40;  // what one costs, in multiplications

// A weight (out, in) as what is multiplied from the right: (in, out).
inline Matrix<const float> transposed(const float* at, int ins) { return {at, 1, ins}; }

// Of `n` rows: `in` and `out` (row, d), `hidden` and `slope` (row, d_ff).
inline void feed_forward(const EncoderModel& m, const EncoderLayer& p, const float* theta, Vec* in, Vec* hidden,
                         Vec* slope, Vec* out, int n) {
    product(rows_of(hidden, m.d_ff), rows_of(in, m.d), transposed(theta + p.up, m.d), n, m.d_ff, m.d, false,
            theta + p.up_bias);
    for (int t = 0; t < n; t++) {
        for (int j = 0; j < m.d_ff; j++) {
            const Gelu g = gelu(hidden[t * m.d_ff + j]);
            hidden[t * m.d_ff + j] = g.value, slope[t * m.d_ff + j] = g.slope;
        }
        breathe(int64_t(OF_GELU) * m.d_ff);
    }
    product(rows_of(out, m.d), rows_of(hidden, m.d_ff), transposed(theta + p.down, m.d_ff), n, m.d, m.d_ff, false,
            theta + p.down_bias);
}

// What is wanted of `in`, from what is `wanted` of `out`; gradients are added to `of_row`.
inline void feed_forward_backward(const EncoderModel& m, const EncoderLayer& p, const float* theta, Vec* wanted,
                                  Vec* in, Vec* hidden, const Vec* slope, Vec* wanted_hidden, Vec* wanted_in,
                                  float* of_row, int n) {
    const Matrix<Vec> of_out = rows_of(wanted, m.d), of_hidden = rows_of(wanted_hidden, m.d_ff);
    weight_gradient(of_row + p.down, of_out, rows_of(hidden, m.d_ff), n, m.d, m.d_ff);
    row_gradient(of_row + p.down_bias, wanted, nullptr, n, m.d);
    product(of_hidden, of_out, rows_of(theta + p.down, m.d_ff), n, m.d_ff, m.d);
    for (int64_t i = 0; i < int64_t(n) * m.d_ff; i++) wanted_hidden[i] *= slope[i];
    weight_gradient(of_row + p.up, of_hidden, rows_of(in, m.d), n, m.d_ff, m.d);
    row_gradient(of_row + p.up_bias, wanted_hidden, nullptr, n, m.d_ff);
    product(rows_of(wanted_in, m.d), of_hidden, rows_of(theta + p.up, m.d), n, m.d, m.d_ff);
}

}  // namespace sandbox
