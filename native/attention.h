// Softmax attention of one layer, all heads, forward and backward: score, weigh, mix, condition the output.
#pragma once
#include "layout.h"
#include "products.h"

namespace sandbox {

// Activations of one layer's attention, each (token, channel) unless said otherwise.
struct AttentionTrace {
    Vec *query, *key, *value;
    Vec* weights;      // (head, query, key)
    Vec* mixed;        // A, before it is conditioned
    Vec* length;       // (head, token): one over the length of A's row where rows are scaled
    Vec* conditioned;  // what W_O reads
};

class Attention {
  public:
    Attention(const EncoderModel& model) : m(model), n(model.n_tokens), d_head(model.d / model.heads) {}

    // `visible` is 1 where a key may be seen, 0 at padding; null: everywhere.
    void forward(const AttentionTrace& a, const Vec* visible) const {
        for (int h = 0; h < m.heads; h++) {
            Vec* weights = a.weights + h * n * n;
            product(rows_of(weights, n), head(a.query, h), turned(head(a.key, h)), n, n, d_head);
            for (int q = 0; q < n; q++) softmax(weights + q * n, q, visible);
            product(head(a.mixed, h), rows_of(weights, n), head(a.value, h), n, d_head, n);
            for (int t = 0; t < n; t++) condition(a, h, t);
        }
    }

    // `wanted` of the conditioned output is used up; what is wanted of query, key and value is written.
    // `scratch` holds (query, key).
    void backward(const AttentionTrace& a, Vec* wanted, Vec* of_query, Vec* of_key, Vec* of_value,
                  Vec* scratch) const {
        for (int h = 0; h < m.heads; h++) {
            Vec* weights = a.weights + h * n * n;
            for (int t = 0; t < n; t++) condition_backward(a, wanted, h, t);
            product(head(of_value, h), turned(rows_of(weights, n)), head(wanted, h), n, d_head, n);
            product(rows_of(scratch, n), head(wanted, h), turned(head(a.value, h)), n, n, d_head);
            for (int q = 0; q < n; q++) {
                Vec along{};
                for (int k = 0; k < n; k++) along = fused(weights[q * n + k], scratch[q * n + k], along);
                for (int k = 0; k < n; k++)
                    scratch[q * n + k] = (scratch[q * n + k] - along) * weights[q * n + k] * m.scale;
            }
            product(head(of_query, h), rows_of(scratch, n), head(a.key, h), n, d_head, n);
            product(head(of_key, h), turned(rows_of(scratch, n)), head(a.query, h), n, d_head, n);
        }
    }

  private:
    const EncoderModel& m;
    const int n, d_head;

    Matrix<Vec> head(Vec* x, int h) const { return {x + h * d_head, m.d, 1}; }

    // A query that sees no key has no weights, as in sandbox/attention/restricted.py.
    void softmax(Vec* row, int q, const Vec* visible) const {
        const int end = m.causal ? q + 1 : n;
        Vec greatest = all(-__builtin_inff()), total{};
        for (int k = 0; k < end; k++) {
            row[k] *= m.scale;
            const Vec seen = visible ? (visible[k] > 0.0f ? row[k] : greatest) : row[k];
            greatest = larger(seen, greatest);
        }
        greatest = greatest == -__builtin_inff() ? Vec{} : greatest;
        for (int k = 0; k < end; k++) {
            const Vec e = exponential(row[k] - greatest);
            row[k] = visible ? (visible[k] > 0.0f ? e : Vec{}) : e;
            total += row[k];
        }
        const Vec share = total == 0.0f ? Vec{} : 1.0f / total;
        for (int k = 0; k < end; k++) row[k] *= share;
        for (int k = end; k < n; k++) row[k] = Vec{};
    }

    // Rows of unit length, C A with C_ii = 1 / max(|A_i|, eps) (sandbox/conditioning/output/preconditioned.py).
    void condition(const AttentionTrace& a, int h, int t) const {
        const int64_t at = int64_t(t) * m.d + h * d_head;
        if (m.output == DIRECT) {
            for (int c = 0; c < d_head; c++) a.conditioned[at + c] = a.mixed[at + c];
            return;
        }
        Vec squares{};
        for (int c = 0; c < d_head; c++) squares = fused(a.mixed[at + c], a.mixed[at + c], squares);
        const Vec length = root(squares);
        const Vec inverse = 1.0f / (length < m.output_epsilon ? all(m.output_epsilon) : length);
        a.length[h * n + t] = inverse;
        for (int c = 0; c < d_head; c++) a.conditioned[at + c] = a.mixed[at + c] * inverse;
    }

    void condition_backward(const AttentionTrace& a, Vec* wanted, int h, int t) const {
        if (m.output == DIRECT) return;
        const int64_t at = int64_t(t) * m.d + h * d_head;
        const Vec inverse = a.length[h * n + t];
        Vec along{};
        if (m.output == UNIT_ROWS_DIFFERENTIATED) {
            for (int c = 0; c < d_head; c++) along = fused(wanted[at + c], a.conditioned[at + c], along);
            along = inverse < 1.0f / m.output_epsilon ? along : Vec{};  // a clamped length is a constant
        }
        for (int c = 0; c < d_head; c++)
            wanted[at + c] = fused(-a.conditioned[at + c], along, wanted[at + c]) * inverse;
    }
};

}  // namespace sandbox
