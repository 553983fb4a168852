// What the processor takes at once: a Vec, half of it or a quarter, and what is computed part by part.
//
// A compiler keeps parts in registers, and what is wider in memory, with all that is done to it.
#pragma once
#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace sandbox {

constexpr int LANES = 16;
#if defined(__AVX512F__)
constexpr int PART = 16;
#elif defined(__AVX2__)
constexpr int PART = 8;
#else
constexpr int PART = 4;
#endif
constexpr int PARTS = LANES / PART;

typedef float Vec __attribute__((vector_size(4 * LANES)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES)));
typedef float Part __attribute__((vector_size(4 * PART)));
typedef int32_t PartInts __attribute__((vector_size(4 * PART)));

inline Part& part(Vec& x, int i) { return reinterpret_cast<Part*>(&x)[i]; }
inline Part part(const Vec& x, int i) { return reinterpret_cast<const Part*>(&x)[i]; }
inline PartInts part(const Ints& x, int i) { return reinterpret_cast<const PartInts*>(&x)[i]; }
inline Part part(float x, int = 0) { return x - Part{}; }  // x + 0 would be another for x = -0, and cost an addition

// a * b + c with one rounding. The compiler may not fuse on its own (-ffp-contract=off): it would choose
// differently for different registers, and a run's numbers would depend on the processor.
inline Part fused(Part a, Part b, Part c) {
#if defined(__AVX512F__)
    return (Part)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
    return (Part)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
    return (Part)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    for (int i = 0; i < PART; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
#endif
}
inline Part fused(Part a, float b, Part c) { return fused(a, part(b), c); }

// The larger one; the second where one is NaN.
inline Part larger(Part a, Part b) { return a > b ? a : b; }

inline Part root(Part x) {
    for (int i = 0; i < PART; i++) x[i] = __builtin_sqrtf(x[i]);
    return x;
}

// Entries of a table of sixteen, which begins at a multiple of 64 bytes; only an index's last four bits count.
inline Part looked_up(const float* table, PartInts index) {
#if defined(__AVX512F__)
    return (Part)_mm512_maskz_permutexvar_ps(0xffff, (__m512i)index, _mm512_load_ps(table));
#elif defined(__AVX2__)
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_load_ps(table), (__m256i)index);
    const __m256 high = _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), (__m256i)index);
    return (Part)_mm256_blendv_ps(low, high, (__m256)(index << 28));
#elif defined(__aarch64__)
    const PartInts places = (index & 15) * 0x04040404 + 0x03020100;
    return (Part)vqtbl4q_u8(vld1q_u8_x4(reinterpret_cast<const uint8_t*>(table)), (uint8x16_t)places);
#else
    Part x;
    for (int i = 0; i < PART; i++) x[i] = table[index[i] & 15];
    return x;
#endif
}

constexpr float ROUNDS = 12582912.0f;  // 1.5 * 2^23: a sum with it is a whole number, in its last bits

// e^x for x <= 0, to 1 unit in the last place; 0 below what float32 holds, NaN for NaN.
inline Part exponential(Part x) {
    const float least = -87.0f;
    const Part bounded = larger(part(least), x);
    const Part power = fused(bounded, 1.44269504088896f, part(ROUNDS + 127));
    const Part whole = power - (ROUNDS + 127);
    const Part rest = fused(whole, 2.12194440e-4f, fused(whole, -0.693359375f, bounded));  // ln 2 in two parts
    Part sum = part(0.001386378f);  // fitted here for |rest| <= ln 2 / 2, to a relative 4e-9
    sum = fused(sum, rest, part(0.008367483f));
    sum = fused(sum, rest, part(0.041667238f));
    sum = fused(sum, rest, part(0.16666535f));
    sum = fused(sum, rest, part(0.5f));
    sum = fused(sum, rest, part(1.0f));
    sum = fused(sum, rest, part(1.0f));
    return x < least ? Part{} : sum * (Part)((PartInts)power << 23);
}

#if !defined(__AVX512F__)  // else a Vec is a part
inline Vec fused(Vec a, Vec b, Vec c) {
    for (int i = 0; i < PARTS; i++) part(c, i) = fused(part(a, i), part(b, i), part(c, i));
    return c;
}
inline Vec fused(Vec a, float b, Vec c) {
    for (int i = 0; i < PARTS; i++) part(c, i) = fused(part(a, i), b, part(c, i));
    return c;
}
inline Vec larger(Vec a, Vec b) {
    for (int i = 0; i < PARTS; i++) part(a, i) = larger(part(a, i), part(b, i));
    return a;
}
inline Vec root(Vec x) {
    for (int i = 0; i < PARTS; i++) part(x, i) = root(part(x, i));
    return x;
}
inline Vec exponential(Vec x) {
    for (int i = 0; i < PARTS; i++) part(x, i) = exponential(part(x, i));
    return x;
}
#endif

}  // namespace sandbox
