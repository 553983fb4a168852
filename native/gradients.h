// Gradients of weights, biases and gains: sums over rows and sixteen sequences.
//
// What a weight reads is turned, so that a vector holds sixteen channels of one sequence. Then a gradient's
// entries lie side by side as in the row, and no sum over lanes is left.
#pragma once
#include <initializer_list>

#include "turns.h"
#include "vector.h"

namespace sandbox {

constexpr int ROWS_TURNED = 8;  // at once: two vectors of channels of them stay in the nearest cache
constexpr int SUMS = PART == 8 ? 8 : 16;  // of a tile: AVX2 has sixteen registers, the others have 32

// Vectors that the turned rows take.
inline int64_t turned_room(int ins) { return int64_t(ROWS_TURNED) * vectors(ins) * LANES; }

// What is wanted of a weight's output, (row, out), and where the weight's gradient (out, in) is.
struct Wanted {
    float* gradient;
    const Vec* of;
};

// to (channels by sixteen, row, sequence) from x (row, channel).
inline void turn_rows(Vec* to, const Vec* x, int n, int ins) {
    for (int first = 0; first < ins; first += LANES)
        for (int t = 0; t < n; t++, to += LANES) {
            const Vec* from = x + int64_t(t) * ins + first;
            if (ins - first >= LANES) {
                turn(from, to);
                continue;
            }
            Vec filled[LANES]{};
            std::memcpy(filled, from, sizeof(Vec) * size_t(ins - first));
            turn(filled, to);
        }
}

template <int R, int C>
inline void weight_tile(float* gradient, int outs, int ins, const Vec* wanted, const Vec* turned, int n, int o,
                        int first) {
    const float* left = reinterpret_cast<const float*>(wanted + o);
    const Vec* right = turned + int64_t(first) * n;
    for (int i = 0; i < PARTS; i++) {
        Part sum_of[R][C]{};
        for (int t = 0; t < n; t++)
            for (int lane = 0; lane < LANES; lane++) {
                Part x[C];
#pragma GCC unroll 16
                for (int c = 0; c < C; c++) x[c] = part(right[(int64_t(c) * n + t) * LANES + lane], i);
#pragma GCC unroll 16
                for (int r = 0; r < R; r++) {
                    const Part y = part(left[(int64_t(t) * outs + r) * LANES + lane]);
#pragma GCC unroll 16
                    for (int c = 0; c < C; c++) sum_of[r][c] = fused(x[c], y, sum_of[r][c]);
                }
            }
#pragma GCC unroll 16
        for (int r = 0; r < R; r++)
#pragma GCC unroll 16
            for (int c = 0; c < C; c++) {
                const int at = first + c * LANES + i * PART;
                add_to(gradient + int64_t(o + r) * ins + at, sum_of[r][c], ins - at);
            }
    }
}

template <int C>
inline void weight_columns(const Wanted& w, const Vec* turned, int n, int outs, int ins, int first) {
    int o = 0;
    for (; o + SUMS / C <= outs; o += SUMS / C)
        weight_tile<SUMS / C, C>(w.gradient, outs, ins, w.of, turned, n, o, first);
    for (; o + 4 <= outs; o += 4) weight_tile<4, C>(w.gradient, outs, ins, w.of, turned, n, o, first);
    for (; o < outs; o++) weight_tile<1, C>(w.gradient, outs, ins, w.of, turned, n, o, first);
    breathe(int64_t(n) * outs * C * LANES);
}

// gradient (outs, ins) += wanted (n, outs)^T in (n, ins), summed over the sixteen sequences, for all weights
// that read the same. `room` holds turned_room(ins).
inline void weight_gradients(std::initializer_list<Wanted> weights, const Vec* in, int n, int outs, int ins,
                             Vec* room) {
    for (int t = 0; t < n; t += ROWS_TURNED) {
        const int count = n - t < ROWS_TURNED ? n - t : ROWS_TURNED;
        turn_rows(room, in + int64_t(t) * ins, count, ins);
        for (const Wanted& all_rows : weights) {
            const Wanted w{all_rows.gradient, all_rows.of + int64_t(t) * outs};
            int first = 0;
            for (; first + LANES < ins; first += 2 * LANES) weight_columns<2>(w, room, count, outs, ins, first);
            for (; first < ins; first += LANES) weight_columns<1>(w, room, count, outs, ins, first);
        }
    }
}

template <int COUNT>
inline void row_sums(Vec* sum_of, const Vec* a, const Vec* b, int n, int width) {
    for (int t = 0; t < n; t++, a += width, b += b ? width : 0)
        for (int i = 0; i < COUNT; i++) sum_of[i] = b ? fused(a[i], b[i], sum_of[i]) : sum_of[i] + a[i];
}

// gradient (width) += the sum over `n` rows and sixteen sequences of a product, or of `a` alone.
inline void row_gradient(float* gradient, const Vec* a, const Vec* b, int n, int width) {
    for (int first = 0; first < width; first += LANES) {
        const int count = width - first < LANES ? width - first : LANES;
        Vec sum_of[LANES]{};
        const Vec* const other = b ? b + first : nullptr;
        if (count == LANES) row_sums<LANES>(sum_of, a + first, other, n, width);
        else
            for (int i = 0; i < count; i++) row_sums<1>(sum_of + i, a + first + i, b ? other + i : nullptr, n, width);
        add_to(gradient + first, sums(sum_of), count);
    }
}

}  // namespace sandbox
