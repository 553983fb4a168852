// The smallest difference between two sides of a row of whole numbers: a complete search that meets in the
// middle (Horowitz & Sahni 1974). sandbox/mathematics/theta_exact.py says the same in NumPy.
#pragma once

#include <cstdint>
#include <utility>

namespace theta {

// Whole numbers that a search of up to `n_keys` keys needs as its memory.
inline int64_t search_memory(int64_t n_keys) {
    const int64_t half = (n_keys + 1) / 2, rest = n_keys - half;
    return n_keys < 1 ? 0 : 2 * ((int64_t(1) << (half - 1)) + (int64_t(1) << rest));
}

// All subset sums of `n` keys in ascending order, into `sums`; `other` is as long. Each key merges the sums
// without it and those with it, both already in order, so nothing is ever sorted.
inline int64_t* subset_sums(const int64_t* keys, int n, int64_t start, int64_t* sums, int64_t* other) {
    int64_t filled = 1;
    sums[0] = start;
    for (int k = 0; k < n; k++) {
        const int64_t key = keys[k];
        const int64_t *without = sums, *with = sums, *end = sums + filled;
        int64_t* to = other;
        // The sums without the key run out first: the greatest of all has it.
        while (without < end) {
            const int64_t a = *without, b = *with + key;
            const bool first = a <= b;  // no branch: which is smaller is a coin's toss
            *to++ = first ? a : b;
            without += first;
            with += !first;
        }
        while (with < end) *to++ = *with++ + key;
        filled *= 2;
        std::swap(sums, other);
    }
    return sums;
}

// min over S of |sum(S) - sum(rest)|; the first key is held on one side. The sum stays below 2^61, and
// `memory` holds search_memory(n_keys) numbers.
inline int64_t smallest_difference(const int64_t* keys, int n_keys, int64_t* memory) {
    if (n_keys < 1) return 0;
    const int half = (n_keys + 1) / 2, rest = n_keys - half;
    const int64_t n_first = int64_t(1) << (half - 1), n_second = int64_t(1) << rest;
    int64_t total = 0;
    for (int k = 0; k < n_keys; k++) total += keys[k];
    const int64_t* first = subset_sums(keys + 1, half - 1, keys[0], memory, memory + n_first);
    int64_t* room = memory + 2 * n_first;
    const int64_t* second = subset_sums(keys + half, rest, 0, room, room + n_second);
    int64_t least = INT64_MAX, i = 0, j = n_second - 1;
    while (i < n_first && j >= 0) {  // the side's sum rises with i and falls with j
        const int64_t over = 2 * (first[i] + second[j]) - total;
        const int64_t size = over < 0 ? -over : over;
        least = size < least ? size : least;
        const bool heavy = over > 0;
        j -= heavy;
        i += !heavy;
    }
    return least;
}

}  // namespace theta
