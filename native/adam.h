// Adam and AdamW with clipping, for one run's row: sandbox/engine/optimizer.py in another language.
#pragma once
#include "layout.h"
#include "vector.h"

namespace sandbox {

constexpr float CLIP_EPSILON = 1e-6f;  // as in optimizer.py

// One update of a row of `n` numbers, of which whole vectors may be touched; `step` indexes Adam's arrays.
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
    for (int i = 0; i < n; i += LANES) {
        Vec x = load(theta + i), m = load(mean + i), v = load(square + i);
        const Vec g = fused(x, adam.penalty, load(gradient + i) * scale);
        x *= shrink;
        m = fused(g - m, adam.new_mean, m);
        v = fused(g * g, adam.new_square, v * adam.keep_square);
        x = fused(m / (root(v) + epsilon), -size, x);
        store(theta + i, x);
        store(mean + i, m);
        store(square + i, v);
    }
}

}  // namespace sandbox
