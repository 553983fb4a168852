// Queries and keys of equal length: each head's vectors are divided by their length or root mean square and
// multiplied by a gain (sandbox/conditioning/query_key), forward and backward.
#pragma once
#include "gradients.h"
#include "layout.h"

namespace sandbox {

// What the backward pass needs: vectors before the gain (token, channel), one over their size (token, head).
struct UnitTrace {
    Vec *unit, *inverse;
};

// The normalization of queries or of keys; `at` is where their gain begins in the row, -1: it is `fixed`.
class QueryKeyNorm {
  public:
    QueryKeyNorm(const EncoderModel& model, float fixed)
        : m(model), d(model.d / model.heads), share(model.query_key == UNIT_RMS ? 1.0f / float(d) : 1.0f),
          fixed(fixed) {}

    // Of `n` rows of all heads, in place.
    void forward(Vec* x, const float* theta, int at, const UnitTrace& trace, int n) const {
        for (int r = 0; r < n * m.heads; r++) {
            Vec *row = x + r * d, *unit = trace.unit + r * d, squares{};
            for (int c = 0; c < d; c++) squares = fused(row[c], row[c], squares);
            trace.inverse[r] = inverse_of(squares);
            for (int c = 0; c < d; c++) {
                unit[c] = row[c] * trace.inverse[r];
                row[c] = unit[c] * gain(theta, at, c);
            }
        }
    }

    // What is wanted of the rows before, from what is wanted of them after, in place; the gain's gradient is
    // added to `of_row`.
    void backward(Vec* wanted, const float* theta, int at, float* of_row, const UnitTrace& trace, int n) const {
        if (at >= 0 && m.query_key == UNIT_RMS) row_gradient(of_row + at, wanted, trace.unit, n * m.heads, d);
        if (at >= 0 && m.query_key == UNIT_LENGTH) row_gradient(of_row + at, wanted, trace.unit, n * m.d, 1);
        for (int r = 0; r < n * m.heads; r++) {
            Vec *row = wanted + r * d, along{};
            const Vec* unit = trace.unit + r * d;
            for (int c = 0; c < d; c++) {
                row[c] *= gain(theta, at, c);
                along = fused(row[c], unit[c], along);
            }
            along = clamped(trace.inverse[r]) ? Vec{} : along * share;
            for (int c = 0; c < d; c++) row[c] = fused(-unit[c], along, row[c]) * trace.inverse[r];
        }
    }

  private:
    const EncoderModel& m;
    const int d;
    const float share, fixed;

    float gain(const float* theta, int at, int c) const {
        return at < 0 ? fixed : theta[m.query_key == UNIT_RMS ? at + c : at];
    }
    Vec inverse_of(Vec squares) const {
        if (m.query_key == UNIT_RMS) return 1.0f / root(squares * share + m.query_key_epsilon);
        const Vec length = root(squares);
        return 1.0f / (length < m.query_key_epsilon ? all(m.query_key_epsilon) : length);
    }
    // A length that is too short to divide by is a constant.
    Ints clamped(Vec inverse) const {
        return (m.query_key == UNIT_LENGTH ? Ints{} - 1 : Ints{}) & (inverse >= 1.0f / m.query_key_epsilon);
    }
};

}  // namespace sandbox
