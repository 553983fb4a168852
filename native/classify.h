// The classifier of the encoder: logits of the row that was read, cross-entropy, and what is wanted of the row.
#pragma once
#include "gradients.h"
#include "layout.h"

namespace sandbox {

constexpr int MOST_CLASSES = 64;

// Where LEARNING, `wanted` of `pooled` is written and gradients are added to `of_row`; each sequence's loss
// counts as `weight` says. `room` holds turned_room(d).
template <bool LEARNING>
Answer classify(const EncoderModel& m, const float* theta, Vec* pooled, Ints target, Vec weight, float* of_row,
                Vec* wanted, Vec* room) {
    Vec logits[MOST_CLASSES], of_target{}, top = all(-__builtin_inff()), odds{};
    for (int c = 0; c < m.n_classes; c++) {
        Vec x = all(theta[m.classify_bias + c]);
        for (int k = 0; k < m.d; k++) x = fused(pooled[k], theta[m.classify + c * m.d + k], x);
        logits[c] = x;
        of_target = target == c ? x : of_target;
        top = larger(top, x);
    }
    for (int c = 0; c < m.n_classes; c++) odds += exponential(logits[c] - top);
    const Vec loss = logarithm(odds) + (top - of_target);
    if (LEARNING) {
        const Vec each = weight / odds;
        for (int k = 0; k < m.d; k++) wanted[k] = Vec{};
        Vec wanted_logits[MOST_CLASSES];
        for (int c = 0; c < m.n_classes; c++) {
            const Vec e = exponential(logits[c] - top);
            wanted_logits[c] = fused(e, each, target == c ? -weight : Vec{});
            for (int k = 0; k < m.d; k++)
                wanted[k] = fused(wanted_logits[c], theta[m.classify + c * m.d + k], wanted[k]);
        }
        weight_gradients({{of_row + m.classify, wanted_logits}}, pooled, 1, m.n_classes, m.d, room);
        row_gradient(of_row + m.classify_bias, wanted_logits, nullptr, 1, m.n_classes);
    }
    Ints right = (of_target == top) & (loss - loss == Vec{});  // a class read off NaN is chance
    for (int c = 0; c < m.n_classes; c++)  // the first of equal scores is the answer
        right &= ~((logits[c] == top) & (all(int32_t(c)) < target));
    return {loss, right};
}

}  // namespace sandbox
