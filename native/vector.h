// Sixteen numbers at once, one per sequence: their arithmetic is the same on every width of register.
#pragma once
#include <cstdint>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace sandbox {

constexpr int LANES = 16;

typedef float Vec __attribute__((vector_size(4 * LANES)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES)));

inline Vec all(float x) { return Vec{} + x; }
inline Ints all(int32_t x) { return Ints{} + x; }

inline Vec load(const float* from) {
    Vec x;
    std::memcpy(&x, from, sizeof x);
    return x;
}

inline void store(float* to, Vec x) { std::memcpy(to, &x, sizeof x); }

// a * b + c with one rounding. The compiler may not fuse on its own (-ffp-contract=off): it would choose
// differently for different registers, and a run's numbers would depend on the processor.
inline Vec fused(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
    return (Vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
    __m256 x[2], y[2], z[2];
    std::memcpy(x, &a, sizeof a), std::memcpy(y, &b, sizeof b), std::memcpy(z, &c, sizeof c);
    for (int i = 0; i < 2; i++) z[i] = _mm256_fmadd_ps(x[i], y[i], z[i]);
    std::memcpy(&c, z, sizeof c);
    return c;
#elif defined(__aarch64__)
    float32x4_t x[4], y[4], z[4];
    std::memcpy(x, &a, sizeof a), std::memcpy(y, &b, sizeof b), std::memcpy(z, &c, sizeof c);
    for (int i = 0; i < 4; i++) z[i] = vfmaq_f32(z[i], x[i], y[i]);
    std::memcpy(&c, z, sizeof c);
    return c;
#else
    for (int i = 0; i < LANES; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
#endif
}
inline Vec fused(Vec a, float b, Vec c) { return fused(a, all(b), c); }

inline Vec larger(Vec a, Vec b) { return a > b ? a : b; }

inline Vec root(Vec x) {
    for (int i = 0; i < LANES; i++) x[i] = __builtin_sqrtf(x[i]);
    return x;
}

// e^x for x <= 0 and a little beyond, to 1 unit in the last place; 0 below what float32 holds, NaN for NaN.
inline Vec exponential(Vec x) {
    const float least = -87.33654f, greatest = 88.0f;
    Vec bounded = x < least ? all(least) : x;
    bounded = bounded > greatest ? all(greatest) : bounded;
    const Vec magic = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to a whole number
    const Vec whole = fused(bounded, 1.44269504088896f, magic) - magic;
    const Vec rest = fused(whole, 2.12194440e-4f, fused(whole, -0.693359375f, bounded));  // ln 2 in two parts
    Vec sum = all(1.0f / 5040);  // Taylor; the next term is below 6e-9
    sum = fused(sum, rest, all(1.0f / 720));
    sum = fused(sum, rest, all(1.0f / 120));
    sum = fused(sum, rest, all(1.0f / 24));
    sum = fused(sum, rest, all(1.0f / 6));
    sum = fused(sum, rest, all(0.5f));
    sum = fused(sum, rest, all(1.0f));
    sum = fused(sum, rest, all(1.0f));
    // NaN must not reach the conversion to integers, whose answer would then differ between processors.
    const Ints power = __builtin_convertvector(whole == whole ? whole : Vec{}, Ints);
    const Vec scaled = sum * (Vec)((power + 127) << 23);
    return x < least ? Vec{} : scaled;
}

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

struct Gelu {
    Vec value, slope;
};

// x Phi(x) and its derivative. Phi(-|x|) = e^(-x^2/2) Q(t), t = 1 / (1 + |x|/4): the polynomial Q was fitted
// here to the scaled complementary error function, to a relative 6e-9.
inline Gelu gelu(Vec x) {
    const Vec size = x < 0.0f ? -x : x;
    const Vec t = 1.0f / fused(size, 0.25f, all(1.0f));
    Vec q = all(0.014974907040596008f);
    q = fused(q, t, all(-0.05372203513979912f));
    q = fused(q, t, all(0.029358666390180588f));
    q = fused(q, t, all(0.059665221720933914f));
    q = fused(q, t, all(-0.014722605235874653f));
    q = fused(q, t, all(0.10230711102485657f));
    q = fused(q, t, all(0.0662102922797203f));
    q = fused(q, t, all(0.09685298800468445f));
    q = fused(q, t, all(0.09931769967079163f));
    q = fused(q, t, all(0.09975775331258774f));
    const Vec bell = exponential(-0.5f * size * size);
    const Vec below = bell * (q * t);
    const Vec phi = x < 0.0f ? below : 1.0f - below;
    return {x * phi, fused(x, bell * 0.3989422804014327f, phi)};
}

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

// A row's length in whole vectors.
inline int vectors(int n) { return (n + LANES - 1) / LANES; }

}  // namespace sandbox
