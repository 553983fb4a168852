// Products of activations, sixteen sequences wide, in tiles of 4 x 4 that stay in registers.
#pragma once
#include "turns.h"
#include "vector.h"

namespace sandbox {

// Where entry (row, column) of a matrix lies.
template <class T>
struct Matrix {
    T* at;
    int64_t row, column;
    T& operator()(int r, int c) const { return at[r * row + c * column]; }
};

template <class T>
Matrix<T> rows_of(T* at, int64_t width) {
    return {at, width, 1};
}
template <class T>
Matrix<T> turned(Matrix<T> m) {
    return {m.at, m.column, m.row};
}

template <int R, int C, class B>
inline void tile(Matrix<Vec> out, Matrix<Vec> a, Matrix<B> b, int n, int r0, int c0, bool add, const float* bias) {
    Vec sum_of[R][C];
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            sum_of[r][c] = add ? out(r0 + r, c0 + c) : all(bias ? bias[c0 + c] : 0.0f);
    for (int k = 0; k < n; k++) {
        Vec left[R];
        for (int r = 0; r < R; r++) left[r] = a(r0 + r, k);
        for (int c = 0; c < C; c++) {
            const auto right = b(k, c0 + c);
            for (int r = 0; r < R; r++) sum_of[r][c] = fused(left[r], right, sum_of[r][c]);
        }
    }
    for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++) out(r0 + r, c0 + c) = sum_of[r][c];
}

template <int R, class B>
inline void strip(Matrix<Vec> out, Matrix<Vec> a, Matrix<B> b, int columns, int n, int r0, bool add,
                  const float* bias) {
    constexpr int C = R == 1 ? 8 : 4;  // enough sums side by side to hide what one takes
    int c = 0;
    for (; c + C <= columns; c += C) tile<R, C>(out, a, b, n, r0, c, add, bias);
    for (; c < columns; c++) tile<R, 1>(out, a, b, n, r0, c, add, bias);
    breathe(int64_t(R) * columns * n);
}

// out (rows, columns) = a (rows, n) b (n, columns), or added to out, or to a bias (columns). `b` holds weights
// or activations.
template <class B>
void product(Matrix<Vec> out, Matrix<Vec> a, Matrix<B> b, int rows, int columns, int n, bool add = false,
             const float* bias = nullptr) {
    int r = 0;
    for (; r + 4 <= rows; r += 4) strip<4>(out, a, b, columns, n, r, add, bias);
    for (; r < rows; r++) strip<1>(out, a, b, columns, n, r, add, bias);
}

template <int R, int C>
inline void weight_tile(float* gradient, int width, Matrix<Vec> wanted, Matrix<Vec> in, int n, int o, int i) {
    Vec sum_of[LANES]{};
    for (int t = 0; t < n; t++) {
        Vec right[C];
        for (int c = 0; c < C; c++) right[c] = in(t, i + c);
        for (int r = 0; r < R; r++) {
            const Vec left = wanted(t, o + r);
            for (int c = 0; c < C; c++) sum_of[r * 4 + c] = fused(left, right[c], sum_of[r * 4 + c]);
        }
    }
    const Vec totals = sums(sum_of);
    for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++) gradient[(o + r) * width + i + c] += totals[r * 4 + c];
}

// gradient (outs, ins) += wanted (n, outs)^T in (n, ins), summed over the sixteen sequences.
inline void weight_gradient(float* gradient, Matrix<Vec> wanted, Matrix<Vec> in, int n, int outs, int ins) {
    int o = 0;
    for (; o + 4 <= outs; o += 4) {
        int i = 0;
        for (; i + 4 <= ins; i += 4) weight_tile<4, 4>(gradient, ins, wanted, in, n, o, i);
        for (; i < ins; i++) weight_tile<4, 1>(gradient, ins, wanted, in, n, o, i);
        breathe(int64_t(4) * ins * n);
    }
    for (; o < outs; o++) {
        int i = 0;
        for (; i + 4 <= ins; i += 4) weight_tile<1, 4>(gradient, ins, wanted, in, n, o, i);
        for (; i < ins; i++) weight_tile<1, 1>(gradient, ins, wanted, in, n, o, i);
    }
}

// gradient (width) += the sum over `n` rows and sixteen sequences of a product, or of `a` alone.
inline void row_gradient(float* gradient, const Vec* a, const Vec* b, int n, int width) {
    for (int first = 0; first < width; first += LANES) {
        const int count = width - first < LANES ? width - first : LANES;
        Vec sum_of[LANES]{};
        for (int t = 0; t < n; t++)
            for (int i = 0; i < count; i++) {
                const int64_t at = int64_t(t) * width + first + i;
                sum_of[i] = b ? fused(a[at], b[at], sum_of[i]) : sum_of[i] + a[at];
            }
        const Vec totals = sums(sum_of);
        for (int i = 0; i < count; i++) gradient[first + i] += totals[i];
    }
}

}  // namespace sandbox
