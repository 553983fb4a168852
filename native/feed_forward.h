// The feed-forward part of one layer, W_2 gelu(W_1 x + b_1) + b_2, forward and backward.
#pragma once
#include "gelu.h"
#include "gradients.h"
#include "layout.h"
#include "products.h"

namespace sandbox {

constexpr int OF_GELU = 20;  // what one costs, in multiplications

// W_1 and W_2 as both passes read them.
struct FeedForwardWeights {
    Panels up, down, up_back, down_back;
};

// Of `n` rows: `in` and `out` (row, d), `hidden` and `slope` (row, d_ff). Some rows go all the way before the
// next ones begin, so that what is between stays in the nearest caches.
inline void feed_forward(const EncoderModel& m, const EncoderLayer& p, const float* theta,
                         const FeedForwardWeights& w, Vec* in, Vec* hidden, Vec* slope, Vec* out, int n) {
    for (int t = 0; t < n; t += TILE_ROWS) {
        const int count = n - t < TILE_ROWS ? n - t : TILE_ROWS;
        const Matrix<Vec> wide = rows_of(hidden + int64_t(t) * m.d_ff, m.d_ff);
        product(wide, rows_of(in + t * m.d, m.d), w.up, count, m.d_ff, m.d, false, theta + p.up_bias);
        for (int i = 0; i < count * m.d_ff; i++) {
            const Gelu g = gelu(wide.at[i]);
            wide.at[i] = g.value, slope[int64_t(t) * m.d_ff + i] = g.slope;
        }
        breathe(int64_t(OF_GELU) * count * m.d_ff);
        product(rows_of(out + t * m.d, m.d), wide, w.down, count, m.d, m.d_ff, false, theta + p.down_bias);
    }
}

// What is wanted of `in`, from what is `wanted` of `out`; gradients are added to `of_row`. `wanted_hidden` holds
// ROWS_TURNED rows, `room` turned_room of the wider.
inline void feed_forward_backward(const EncoderModel& m, const EncoderLayer& p, const FeedForwardWeights& w,
                                  Vec* wanted, Vec* in, Vec* hidden, const Vec* slope, Vec* wanted_hidden,
                                  Vec* wanted_in, float* of_row, Vec* room, int n) {
    const Matrix<Vec> wide = rows_of(wanted_hidden, m.d_ff);
    row_gradient(of_row + p.down_bias, wanted, nullptr, n, m.d);
    for (int t = 0; t < n; t += ROWS_TURNED) {
        const int count = n - t < ROWS_TURNED ? n - t : ROWS_TURNED;
        const int64_t at = int64_t(t) * m.d, at_hidden = int64_t(t) * m.d_ff;
        weight_gradients({{of_row + p.down, wanted + at}}, hidden + at_hidden, count, m.d, m.d_ff, room);
        product(wide, rows_of(wanted + at, m.d), w.down_back, count, m.d_ff, m.d);
        for (int i = 0; i < count * m.d_ff; i++) wanted_hidden[i] *= slope[at_hidden + i];
        weight_gradients({{of_row + p.up, wanted_hidden}}, in + at, count, m.d_ff, m.d, room);
        row_gradient(of_row + p.up_bias, wanted_hidden, nullptr, count, m.d_ff);
        product(rows_of(wanted_in + at, m.d), wide, w.up_back, count, m.d, m.d_ff);
    }
}

}  // namespace sandbox
