// Adam and AdamW with clipping, for one run's row: sandbox/engine/optimizer.py in another language.
#pragma once
#include "layout.h"
#include "turns.h"
#include "vector.h"

namespace sandbox {

constexpr float CLIP_EPSILON = 1e-6f;  // as in optimizer.py
constexpr int TOGETHER = 1 << 16;      // numbers between two looks at the clock

// One update of the first `n` numbers of a row; `step` indexes Adam's arrays. What stands behind them stays.
// The gradient has zeros to the end of its last vector.
inline void update(const Adam& adam, int64_t step, float* theta, float* mean, float* square,
                   const float* gradient, int n) {
    float scale = 1.0f;
    if (adam.clip_norm > 0.0f) {
        Vec squares{};
        for (int i = 0; i < n; i += LANES) squares = fused(load(gradient + i), load(gradient + i), squares);
        scale = adam.clip_norm / (__builtin_sqrtf(sum(squares)) + CLIP_EPSILON);
        if (scale > 1.0f) scale = 1.0f;
    }
    const float shrink = adam.shrink[step], size = adam.step_size[step], epsilon = adam.epsilon[step];
    const auto sixteen = [&](float* of_theta, float* of_mean, float* of_square, const float* of_gradient) {
        Vec x = load(of_theta), m = load(of_mean), v = load(of_square);
        const Vec g = fused(x, adam.penalty, load(of_gradient) * scale);
        x *= shrink;
        m = fused(g - m, adam.new_mean, m);
        v = fused(g * g, adam.new_square, v * adam.keep_square);
        x = fused(m / (root(v) + epsilon), -size, x);
        store(of_theta, x);
        store(of_mean, m);
        store(of_square, v);
    };
    const int rest = n % LANES, whole = n - rest;
    for (int i = 0; i < whole; i += LANES) {
        sixteen(theta + i, mean + i, square + i, gradient + i);
        if ((i + LANES) % TOGETHER == 0) breathe(TOGETHER);
    }
    float last[3][LANES]{};
    float* const rows[3] = {theta + whole, mean + whole, square + whole};
    for (int r = 0; r < 3 && rest; r++) std::memcpy(last[r], rows[r], sizeof(float) * size_t(rest));
    if (rest) sixteen(last[0], last[1], last[2], gradient + whole);
    for (int r = 0; r < 3 && rest; r++) std::memcpy(rows[r], last[r], sizeof(float) * size_t(rest));
}

}  // namespace sandbox
