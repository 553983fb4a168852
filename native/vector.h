// Sixteen numbers at once, one per sequence: their arithmetic is the same on every width of register.
#pragma once
#include <cstring>

#include "parts.h"

namespace sandbox {

inline Vec all(float x) { return x - Vec{}; }  // as in part()
inline Ints all(int32_t x) { return Ints{} + x; }

inline Vec load(const float* from) {
    Vec x;
    std::memcpy(&x, from, sizeof x);
    return x;
}

inline void store(float* to, Vec x) { std::memcpy(to, &x, sizeof x); }

// ln x for finite x > 0.
inline Vec logarithm(Vec x) {
    const Ints bits = (Ints)x;
    Ints power = (bits >> 23) - 127;
    Vec part = (Vec)((bits & 0x007fffff) | 0x3f800000);  // in [1, 2)
    const Ints high = part > 1.41421356f;  // -1 where true
    part = high ? part * 0.5f : part;
    power -= high;
    const Vec s = (part - 1.0f) / (part + 1.0f), ss = s * s;
    Vec sum = all(2.0f / 9);  // 2 artanh(s); the next term is below 8e-10
    sum = fused(sum, ss, all(2.0f / 7));
    sum = fused(sum, ss, all(2.0f / 5));
    sum = fused(sum, ss, all(2.0f / 3));
    sum = fused(sum, ss, all(2.0f));
    const Vec answer = fused(__builtin_convertvector(power, Vec), 0.693147181f, sum * s);
    return x == x ? answer : x;
}

// Of sixteen sequences: the loss in nats, and whether the right class scores highest.
struct Answer {
    Vec loss;
    Ints right;
};

template <int... I>
inline Vec picked(Vec a, Vec b) {
    return __builtin_shufflevector(a, b, I...);
}

inline Vec folded8(Vec a, Vec b) {
    return picked<0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23>(a, b) +
           picked<8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31>(a, b);
}
inline Vec folded4(Vec a, Vec b) {
    return picked<0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27>(a, b) +
           picked<4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31>(a, b);
}
inline Vec folded2(Vec a, Vec b) {
    return picked<0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29>(a, b) +
           picked<2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31>(a, b);
}
inline Vec folded1(Vec a, Vec b) {
    return picked<0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30>(a, b) +
           picked<1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31>(a, b);
}

// Lane i of the answer is the sum of the lanes of x[i], always added in the same order.
inline Vec sums(const Vec x[LANES]) {
    Vec eight[8], four[4];
    for (int i = 0; i < 8; i++) eight[i] = folded8(x[2 * i], x[2 * i + 1]);
    for (int i = 0; i < 4; i++) four[i] = folded4(eight[2 * i], eight[2 * i + 1]);
    return folded1(folded2(four[0], four[1]), folded2(four[2], four[3]));
}

inline float sum(Vec x) {
    const Vec half = folded8(x, x), quarter = folded4(half, half), pair = folded2(quarter, quarter);
    return pair[0] + pair[1];
}

// The first `count` of sixteen numbers, 0 for the others; at least one.
inline Vec load(const float* from, int count) {
    if (count >= LANES) return load(from);
    Vec x{};
    std::memcpy(&x, from, sizeof(float) * size_t(count));
    return x;
}
// Adds as many of its numbers, or none.
inline void add_to(float* to, Part x, int count) {
    if (count >= PART) {
        Part sum;
        std::memcpy(&sum, to, sizeof sum);
        sum += x;
        std::memcpy(to, &sum, sizeof sum);
    } else
        for (int i = 0; i < count; i++) to[i] += x[i];
}
#if !defined(__AVX512F__)
inline void add_to(float* to, const Vec& x, int count) {
    for (int i = 0; i < PARTS; i++) add_to(to + i * PART, part(x, i), count - i * PART);
}
#endif

typedef float Four __attribute__((vector_size(16)));

// Sixteen vectors as the sixteen of their first, second, ... lanes: a square that is transposed.
inline void turn(const Vec* from, Vec* to) {
    const float* rows = reinterpret_cast<const float*>(from);
    float* columns = reinterpret_cast<float*>(to);
    for (int i = 0; i < LANES; i += 4)
        for (int j = 0; j < LANES; j += 4) {
            Four x[4];
            for (int r = 0; r < 4; r++) std::memcpy(&x[r], rows + (i + r) * LANES + j, sizeof(Four));
            const Four low = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
            const Four high = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
            const Four other_low = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
            const Four other_high = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
            x[0] = __builtin_shufflevector(low, other_low, 0, 1, 4, 5);
            x[1] = __builtin_shufflevector(low, other_low, 2, 3, 6, 7);
            x[2] = __builtin_shufflevector(high, other_high, 0, 1, 4, 5);
            x[3] = __builtin_shufflevector(high, other_high, 2, 3, 6, 7);
            for (int r = 0; r < 4; r++) std::memcpy(columns + (j + r) * LANES + i, &x[r], sizeof(Four));
        }
}

// The sum of `n` terms, in four sums side by side; term(k, sum) answers the sum with the k-th.
template <class Term>
inline Vec summed(int n, Term term) {
    Vec part[4]{};
    int k = 0;
    for (; k + 4 <= n; k += 4)
        for (int i = 0; i < 4; i++) part[i] = term(k + i, part[i]);
    for (; k < n; k++) part[0] = term(k, part[0]);
    return (part[0] + part[1]) + (part[2] + part[3]);
}

// A row's length in whole vectors.
inline int vectors(int n) { return (n + LANES - 1) / LANES; }

}  // namespace sandbox
