// Splits of a row that are quick to find, and differences that no split goes below; the reasons stand in
// sandbox/mathematics/theta_certificates.py and theta_closed_forms.py, which say the same in NumPy.
#pragma once

#include <cstring>
#include <numeric>

#include "theta_row.h"

namespace theta {

// Best split into the largest keys and the rest.
inline int64_t sorted_prefix(const Row& row) {
    int64_t least = row.total, prefix = 0;
    for (int64_t k = 0; k < row.n; k++) {
        prefix += row.units[k];
        least = std::min(least, size_of(2 * prefix - row.total));
    }
    return least;
}

// Greedy split (LPT): each key, from the largest, goes to the lighter side. (Graham 1969)
inline int64_t longest_first(const Row& row) {
    int64_t difference = 0;
    for (int64_t k = 0; k < row.n; k++) difference = size_of(difference - row.units[k]);
    return difference;
}

// One side filled from the largest key down, skipping what would take it past one half.
inline int64_t fill_below_half(const Row& row) {
    int64_t room = row.total / 2;
    for (int64_t k = 0; k < row.n; k++) room -= row.units[k] <= room ? row.units[k] : 0;
    return row.total - 2 * (row.total / 2 - room);
}

// The two largest of `n` sorted items become their difference until `n_left` remain, still sorted; returns
// the first of them, within `items`. (Karmarkar & Karp 1982)
inline int64_t* difference_largest(int64_t* items, int64_t n, int64_t n_left) {
    for (; n > n_left; n--, items++) {
        const int64_t difference = items[0] - items[1];
        int64_t *rest = items + 2, *place = std::upper_bound(rest, items + n, difference, std::greater<int64_t>());
        std::memmove(items + 1, rest, sizeof(int64_t) * size_t(place - rest));
        place[-1] = difference;
    }
    return items;
}

// n_left - 1 keys of evenly spread rank, then the greedy difference of all others; the row holds more keys.
inline void place_all_but_some(const Row& row, int64_t n_left, int64_t* left) {
    int64_t next = 0, difference = 0;
    for (int64_t k = 0; k < row.n; k++) {
        if (next < n_left - 1 && k == next * (row.n - 1) / (n_left - 2))
            left[next++] = row.units[k];
        else
            difference = size_of(difference - row.units[k]);
    }
    left[next] = difference;
}

// `attained` by some split, gone below by none.
struct Bracket {
    int64_t attained, bound;
};

// From counting keys, the `n_heads` largest ones placed on their sides first: any c of the others weigh between
// their c least and their c largest. `heaviest` has room for a number more than keys. (derived)
inline Bracket counting_bracket(const Row& row, int64_t n_heads, int64_t* heaviest) {
    n_heads = std::min(n_heads, row.n);
    const int64_t n_tail = row.n - n_heads;
    heaviest[0] = 0;
    for (int64_t c = 0; c < n_tail; c++) heaviest[c + 1] = heaviest[c] + row.units[n_heads + c];
    int64_t attained = INT64_MAX, bound = INT64_MAX;
    for (int64_t placed = 0; placed < int64_t(1) << (n_heads - 1); placed++) {  // the largest key stays
        int64_t offset = 2 * row.units[0] - row.total;
        for (int64_t i = 1; i < n_heads; i++) offset += placed >> (i - 1) & 1 ? 2 * row.units[i] : 0;
        for (int64_t c = 0; c <= n_tail; c++) {
            const int64_t low = offset + 2 * (heaviest[n_tail] - heaviest[n_tail - c]);
            const int64_t high = offset + 2 * heaviest[c];
            attained = std::min(attained, std::min(size_of(low), size_of(high)));
            bound = std::min(bound, std::max(std::max(low, -high), int64_t(0)));
        }
    }
    return {attained, bound};
}

// g if all keys are multiples of g and the total an odd one, else 0.
inline int64_t granularity_bound(const Row& row) {
    int64_t grain = 0;
    for (int64_t k = 0; k < row.n && grain != 1; k++) grain = std::gcd(grain, row.units[k]);
    return row.total / grain % 2 == 1 ? grain : 0;
}

}  // namespace theta
