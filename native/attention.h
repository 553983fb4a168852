// Softmax attention of one layer, all heads, forward and backward: score, weigh, mix, condition the output.
//
// Long sequences are worked off in blocks of queries, whose scores stay in the nearest caches on their way.
#pragma once
#include "layout.h"
#include "products.h"

namespace sandbox {

constexpr int SHORT = 64;             // keys up to which all queries are taken at once
constexpr int QUERIES_TOGETHER = 16;  // beyond, and where later queries see more keys than earlier ones

// Activations of one layer's attention, each (token, channel) unless said otherwise.
struct AttentionTrace {
    Vec *query, *key, *value;
    Vec* weights;      // (head, query, key)
    Vec* mixed;        // A, before it is conditioned
    Vec* length;       // (head, token): one over the length of A's row where rows are scaled
    Vec* conditioned;  // what W_O reads; A itself where nothing conditions it
};

// Which queries there are, and what they see.
struct Sight {
    int queries;         // all tokens, or the one that is read
    bool causal;         // query q sees the keys to q
    const Vec* visible;  // 1 where a key may be seen, 0 where not; null: everywhere
    float scale;         // of the scores, positive
};

class Attention {
  public:
    Attention(const EncoderModel& model) : m(model), n(model.n_tokens), d_head(model.d / model.heads) {}

    // Queries that are taken together where there are `queries`.
    int together(bool causal, int queries) const {
        return (n <= SHORT && !causal) || queries < QUERIES_TOGETHER ? queries : QUERIES_TOGETHER;
    }

    void forward(const AttentionTrace& a, const Sight& sight) const {
        in_blocks(sight, [&](int h, int first, int count, int end) {
            Vec* weights = a.weights + (int64_t(h) * n + first) * n;
            product(rows_of(weights, n), head(a.query, h, first), turned(head(a.key, h)), count, end, d_head);
            for (int q = 0; q < count; q++)
                softmax(weights + q * n, sight.causal ? first + q + 1 : end, end, sight);
            product(head(a.mixed, h, first), rows_of(weights, n), head(a.value, h), count, d_head, end);
            for (int q = first; q < first + count; q++) condition(a, h, q);
        });
    }

    // `wanted` of the conditioned output is used up; what is wanted of query, key and value is written.
    // `scratch` holds (queries together, key).
    void backward(const AttentionTrace& a, const Sight& sight, Vec* wanted, Vec* of_query, Vec* of_key,
                  Vec* of_value, Vec* scratch) const {
        for (int64_t i = 0; sight.causal && i < int64_t(n) * m.d; i++) of_key[i] = of_value[i] = Vec{};
        in_blocks(sight, [&](int h, int first, int count, int end) {
            Vec* weights = a.weights + (int64_t(h) * n + first) * n;
            for (int q = first; q < first + count; q++) condition_backward(a, wanted, h, q);
            const bool add = first > 0 || sight.causal;  // else the first queries write what all keys get
            const Matrix<Vec> of_mixed = head(wanted, h, first), of_scores = rows_of(scratch, n);
            product(head(of_value, h), turned(rows_of(weights, n)), of_mixed, end, d_head, count, add);
            product(of_scores, of_mixed, turned(head(a.value, h)), count, end, d_head);
            for (int q = 0; q < count; q++) {
                Vec* scores = scratch + q * n;
                const Vec* weight = weights + q * n;
                const Vec along = summed(end, [&](int k, Vec sum) { return fused(weight[k], scores[k], sum); });
                for (int k = 0; k < end; k++) scores[k] = (scores[k] - along) * weight[k] * sight.scale;
            }
            product(head(of_query, h, first), of_scores, head(a.key, h), count, d_head, end);
            product(head(of_key, h), turned(of_scores), head(a.query, h, first), end, d_head, count, add);
        });
    }

  private:
    const EncoderModel& m;
    const int n, d_head;

    Matrix<Vec> head(Vec* x, int h, int first = 0) const { return {x + first * m.d + h * d_head, m.d, 1}; }

    // Calls with a head, the first of some queries, their count, and where the keys end that they see.
    template <class Act>
    void in_blocks(const Sight& sight, Act act) const {
        const int most = together(sight.causal, sight.queries);
        for (int h = 0; h < m.heads; h++)
            for (int first = 0; first < sight.queries; first += most) {
                const int count = sight.queries - first < most ? sight.queries - first : most;
                act(h, first, count, sight.causal ? first + count : n);
                breathe(int64_t(20) * count * n);
            }
    }

    // Of the first `end` keys; the weights from there to `until` are 0. A query that sees no key has no
    // weights, as in sandbox/attention/restricted.py.
    void softmax(Vec* row, int end, int until, const Sight& sight) const {
        const Vec* visible = sight.visible;
        Vec greatest = all(-__builtin_inff()), total{};
        for (int k = 0; k < end; k++) {
            const Vec seen = visible ? (visible[k] > 0.0f ? row[k] : greatest) : row[k];
            greatest = larger(seen, greatest);
        }
        greatest = greatest == -__builtin_inff() ? Vec{} : greatest;
        for (int k = 0; k < end; k++) {
            const Vec e = exponential((row[k] - greatest) * sight.scale);
            row[k] = visible ? (visible[k] > 0.0f ? e : Vec{}) : e;
            total += row[k];
        }
        const Vec share = total == 0.0f ? Vec{} : 1.0f / total;
        for (int k = 0; k < end; k++) row[k] *= share;
        for (int k = end; k < until; k++) row[k] = Vec{};
    }

    // Rows of unit length, C A with C_ii = 1 / max(|A_i|, eps) (sandbox/conditioning/output/preconditioned.py).
    void condition(const AttentionTrace& a, int h, int t) const {
        if (m.output == DIRECT) return;
        const int64_t at = int64_t(t) * m.d + h * d_head;
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
