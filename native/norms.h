// LayerNorm and RMSNorm of rows of `d` channels, forward and backward (torch.nn.LayerNorm, torch.nn.RMSNorm).
#pragma once
#include "gradients.h"
#include "vector.h"

namespace sandbox {

struct NormSettings {
    bool centred;
    float epsilon;
    int d;
};

// What the backward pass needs: the rows before gain and bias, and one over their spread.
struct NormTrace {
    Vec *unit, *inverse;
};

// out = gain * unit + bias; without a gain (null) out is `unit` itself.
inline void normalize(const NormSettings& s, const Vec* x, const float* gain, const float* bias,
                      const NormTrace& trace, Vec* out, int n) {
    const float share = 1.0f / float(s.d);
    for (int t = 0; t < n; t++) {
        const Vec* row = x + t * s.d;
        Vec* unit = trace.unit + t * s.d;
        Vec mean{};
        if (s.centred) mean = share * summed(s.d, [&](int k, Vec sum) { return sum + row[k]; });
        const Vec squares = summed(s.d, [&](int k, Vec sum) { return fused(row[k] - mean, row[k] - mean, sum); });
        const Vec inverse = 1.0f / root(squares * share + s.epsilon);
        trace.inverse[t] = inverse;
        for (int k = 0; k < s.d; k++) {
            unit[k] = (row[k] - mean) * inverse;
            out[t * s.d + k] = gain ? fused(unit[k], gain[k], all(bias ? bias[k] : 0.0f)) : unit[k];
        }
    }
}

// What is wanted of the input, from what is wanted of the output, in place; gradients of gain and bias are
// added where there are any.
inline void normalize_backward(const NormSettings& s, Vec* wanted, const float* gain, float* of_gain,
                               float* of_bias, const NormTrace& trace, int n) {
    const float share = 1.0f / float(s.d);
    if (of_gain) row_gradient(of_gain, wanted, trace.unit, n, s.d);
    if (of_bias) row_gradient(of_bias, wanted, nullptr, n, s.d);
    for (int t = 0; t < n; t++) {
        Vec* row = wanted + t * s.d;
        const Vec* unit = trace.unit + t * s.d;
        Vec mean{};
        if (gain)
            for (int k = 0; k < s.d; k++) row[k] *= gain[k];
        if (s.centred) mean = share * summed(s.d, [&](int k, Vec sum) { return sum + row[k]; });
        const Vec along = share * summed(s.d, [&](int k, Vec sum) { return fused(row[k], unit[k], sum); });
        for (int k = 0; k < s.d; k++) row[k] = fused(-unit[k], along, row[k] - mean) * trace.inverse[t];
    }
}

}  // namespace sandbox
