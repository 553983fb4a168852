// A row of attention as whole numbers from the largest down, and theta between the bounds that a difference of
// two sides gives. sandbox/mathematics/fixed_point.py says the same in NumPy, to the bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

namespace theta {

constexpr int TOTAL_BITS = 60;
constexpr double ROUNDING = 10 * 0x1p-53;
constexpr int64_t MOST_RANKED = 128;  // longer rows are sorted faster than every pair is compared

struct Row {
    int64_t* units;  // without zeros
    int64_t n, total, slack;
};

inline int64_t size_of(int64_t value) { return value < 0 ? -value : value; }

// A key's place is the count of those before it: no branch depends on a weight, so lanes do it side by side.
inline void sort_down(const double* values, int64_t n, double* sorted) {
    if (n > MOST_RANKED) {
        std::reverse_copy(values, values + n, sorted);
        if (!std::is_sorted(sorted, sorted + n, std::greater<double>()))
            std::sort(sorted, sorted + n, std::greater<double>());
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const double own = values[i];
        int64_t place = 0;
        for (int64_t j = 0; j < i; j++) place += values[j] >= own;
        for (int64_t j = i + 1; j < n; j++) place += values[j] > own;
        sorted[place] = own;
    }
}

// Times 2^exponent, in two factors since one may lie beyond what a float64 holds.
inline void scale(double* values, int64_t n, int exponent) {
    const double one = std::ldexp(1.0, exponent / 2), other = std::ldexp(1.0, exponent - exponent / 2);
    for (int64_t k = 0; k < n; k++) values[k] = values[k] * one * other;
}

// Row of `n` weights that are finite and not negative; `sorted` and `units` have room for as many. One
// without weight has no keys.
inline Row row_of(const double* weights, int64_t n, double* sorted, int64_t* units) {
    Row row{units, 0, 0, 0};
    sort_down(weights, n, sorted);
    int64_t n_positive = 0;
    for (int64_t k = 0; k < n; k++) n_positive += sorted[k] > 0;
    if (n_positive == 0) return row;
    int exponent;
    std::frexp(sorted[0], &exponent);
    scale(sorted, n_positive, -exponent);
    double sum = 0;
    for (int64_t k = 0; k < n_positive; k++) sum += sorted[k];
    std::frexp(sum, &exponent);
    scale(sorted, n_positive, TOTAL_BITS - exponent);
    int64_t n_rounded = 0;
    for (int64_t k = 0; k < n_positive; k++) {
        const double rounded = std::nearbyint(sorted[k]);
        units[k] = int64_t(rounded);
        n_rounded += (rounded != sorted[k]) | (rounded == 0);
        row.n += units[k] > 0;
        row.total += units[k];
    }
    row.slack = (n_rounded + 1) / 2;
    return row;
}

// 4 x (1 - x) of a side's share x.
inline double of_side(int64_t side, int64_t total) {
    return 4.0 * (double(side) / double(total)) * (double(total - side) / double(total));
}

// Theta is at least this when some subset leaves `difference` between the sides.
inline double at_least(int64_t difference, const Row& row) {
    const int64_t side = std::max<int64_t>((row.total - difference) / 2 - row.slack, 0);
    const int64_t total = row.total + row.slack;
    return 2 * side >= total ? 1.0 : of_side(side, total) * (1 - ROUNDING);
}

// Theta is at most this when every subset leaves at least `difference`.
inline double at_most(int64_t difference, const Row& row) {
    const int64_t side = (row.total - difference) / 2 + row.slack, total = row.total - row.slack;
    return 2 * side >= total ? 1.0 : std::min(of_side(side, total) * (1 + ROUNDING), 1.0);
}

}  // namespace theta
