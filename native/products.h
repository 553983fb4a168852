// Products of activations, sixteen sequences wide, in tiles that stay in registers.
#pragma once
#include "turns.h"
#include "vector.h"

namespace sandbox {

// Rows of a tile, by four columns. No sum depends on what is beside it, so neither do the numbers.
constexpr int TILE_ROWS = PART == 8 ? 2 : 4;  // AVX2 has sixteen registers, the others have 32

// Where entry (row, column) of a matrix lies.
template <class T>
struct Matrix {
    T* at;
    int64_t row, column;
    T& operator()(int r, int c) const { return at[r * row + c * column]; }
    Matrix from(int r, int c) const { return {&(*this)(r, c), row, column}; }
};

template <class T>
Matrix<T> rows_of(T* at, int64_t width) {
    return {at, width, 1};
}
template <class T>
Matrix<T> turned(Matrix<T> m) {
    return {m.at, m.column, m.row};
}

// A matrix of weights (n, columns) in the order in which tiles read it: four columns, row by row, then the
// next four. The last four are filled up with zeros.
struct Panels {
    float* at;
    int n;
    float& operator()(int k, int c) const { return at[int64_t(c & ~3) * n + 4 * k + (c & 3)]; }
    Panels from(int k, int c) const { return {&(*this)(k, c), n}; }
};
inline int64_t panel_numbers(int n, int columns) { return int64_t((columns + 3) / 4) * 4 * n; }

inline void pack(const Panels& to, Matrix<const float> weight, int columns) {
    for (int first = 0; first < columns; first += 4) {
        const int count = columns - first < 4 ? columns - first : 4;
        float* panel = to.at + int64_t(first) * to.n;
        for (int k = 0; k < to.n; k++)
            for (int c = 0; c < 4; c++) panel[4 * k + c] = c < count ? weight(k, first + c) : 0.0f;
        breathe(to.n);
    }
}

// A weight (out, in) for the forward and for the backward pass.
inline void pack(const Panels& forward, const Panels& back, const float* weight, int outs, int ins) {
    pack(forward, {weight, 1, ins}, outs);
    pack(back, {weight, ins, 1}, ins);
}

template <int R, int C, class B>
__attribute__((always_inline)) inline void tile(Vec* out, int64_t apart, Matrix<Vec> a, B b, int n, bool add,
                                                const float* bias) {
    for (int i = 0; i < PARTS; i++) {
        // Loops over a tile are unrolled so early that its sums never leave the registers.
        Part sum_of[R][C];
#pragma GCC unroll 8
        for (int c = 0; c < C; c++)
#pragma GCC unroll 8
            for (int r = 0; r < R; r++)
                sum_of[r][c] = add ? part(out[r * apart + c], i) : part(bias ? bias[c] : 0.0f);
        for (int k = 0; k < n; k++) {
            Part left[R];
#pragma GCC unroll 8
            for (int r = 0; r < R; r++) left[r] = part(a(r, k), i);
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) {
                const Part right = part(b(k, c), i);
#pragma GCC unroll 8
                for (int r = 0; r < R; r++) sum_of[r][c] = fused(left[r], right, sum_of[r][c]);
            }
        }
#pragma GCC unroll 8
        for (int r = 0; r < R; r++)
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) part(out[r * apart + c], i) = sum_of[r][c];
    }
}

template <int R, class B>
inline void strip(Matrix<Vec> out, Matrix<Vec> a, B b, int columns, int n, bool add, const float* bias) {
    constexpr int C = R == 1 ? 8 : 4;  // enough sums side by side to hide what one takes
    const auto bias_at = [=](int c) { return bias ? bias + c : nullptr; };
    int c = 0;
    for (; c + C <= columns; c += C) tile<R, C>(out.at + c, out.row, a, b.from(0, c), n, add, bias_at(c));
    if (C == 8 && c + 4 <= columns) tile<R, 4>(out.at + c, out.row, a, b.from(0, c), n, add, bias_at(c)), c += 4;
    for (; c < columns; c++) tile<R, 1>(out.at + c, out.row, a, b.from(0, c), n, add, bias_at(c));
    breathe(int64_t(R) * columns * n);
}

// out (rows, columns) = a (rows, n) b (n, columns), or added to out, or to a bias (columns). `b` holds weights
// (Panels) or activations (Matrix<Vec>).
template <class B>
void product(Matrix<Vec> out, Matrix<Vec> a, B b, int rows, int columns, int n, bool add = false,
             const float* bias = nullptr) {
    int r = 0;
    for (; r + TILE_ROWS <= rows; r += TILE_ROWS)
        strip<TILE_ROWS>(out.from(r, 0), a.from(r, 0), b, columns, n, add, bias);
    for (; r < rows; r++) strip<1>(out.from(r, 0), a.from(r, 0), b, columns, n, add, bias);
}

}  // namespace sandbox
