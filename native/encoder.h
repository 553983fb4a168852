// The encoder of one run: loss and gradient of a batch, one SIMD lane per sequence.
#pragma once
#include <cstdlib>

#include "attention.h"
#include "group.h"
#include "norms.h"

namespace sandbox {

constexpr int MOST_CLASSES = 64;

// Activations of one layer that the backward pass reads.
struct LayerTrace {
    AttentionTrace attention;
    Vec *into_attention, *into_feed_forward;  // what the sublayers read
    NormTrace norm_1, norm_2;
    Vec *hidden, *slope;
};

class Encoder {
  public:
    explicit Encoder(const EncoderModel& model)
        : m(model), n(model.n_tokens), wide(int64_t(model.n_tokens) * model.d), attention(model),
          norm{model.norm == LAYER_NORM, model.norm_epsilon, model.d} {
        Vec* none = nullptr;
        const int64_t count = lay_out(none);
        memory = static_cast<char*>(std::aligned_alloc(sizeof(Vec), size_t(count) * sizeof(Vec)));
        if (!memory) return;
        std::memset(memory, 0, size_t(count) * sizeof(Vec));
        lay_out(reinterpret_cast<Vec*>(memory));
    }
    Encoder(const Encoder&) = delete;
    ~Encoder() { std::free(memory); }

    bool ready() const { return memory != nullptr; }
    float* gradient() const { return of_row; }
    int n_tokens() const { return n; }
    int size() const { return m.size; }

    // The projections as corrected.
    void prepare(const float* theta) {
        for (int l = 0; l < m.layers; l++)
            for (int which = 0; which < 3; which++) {
                const float *weight = theta + offset(l, which), *correction = m.corrections[which];
                float* to = corrected(l, which);
                for (int i = 0; i < m.d * m.d; i++) to[i] = weight[i] + (correction ? correction[i] : 0.0f);
            }
    }

    void clear() { std::memset(of_row, 0, sizeof(float) * size_t(vectors(m.size) * LANES)); }
    void finish(const float*) {}

    template <bool LEARNING>
    Answer block(const float* theta, const Ints* tokens, Ints target, Vec weight) {
        const Vec* seen = look(tokens);
        for (int t = 0; t < n; t++)
            for (int k = 0; k < m.d; k++)
                for (int i = 0; i < LANES; i++)
                    stream[t * m.d + k][i] =
                        theta[m.tokens + tokens[t][i] * m.d + k] + theta[m.positions + t * m.d + k];
        for (int l = 0; l < m.layers; l++) forward(theta, m.of_layer[l], l, seen);
        const bool last_norm = m.placement == PRE_NORM;
        if (last_norm) normalize(norm, stream, gain(theta, m.final_norm), gain(theta, m.final_bias), final, stream, n);
        read_out();

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
            for (int k = 0; k < m.d; k++) wanted_pooled[k] = Vec{};
            Vec wanted_logits[MOST_CLASSES];
            for (int c = 0; c < m.n_classes; c++) {
                const Vec e = exponential(logits[c] - top);
                wanted_logits[c] = fused(e, each, target == c ? -weight : Vec{});
                for (int k = 0; k < m.d; k++)
                    wanted_pooled[k] = fused(wanted_logits[c], theta[m.classify + c * m.d + k], wanted_pooled[k]);
            }
            weight_gradient(of_row + m.classify, rows_of(wanted_logits, m.n_classes), rows_of(pooled, m.d), 1,
                            m.n_classes, m.d);
            row_gradient(of_row + m.classify_bias, wanted_logits, nullptr, 1, m.n_classes);
            for (int t = 0; t < n; t++)
                for (int k = 0; k < m.d; k++) wanted[t * m.d + k] = wanted_pooled[k] * share[t];
            if (last_norm)
                normalize_backward(norm, wanted, gain(theta, m.final_norm), of(m.final_norm), of(m.final_bias),
                                   final, n);
            for (int l = m.layers - 1; l >= 0; l--) backward(theta, m.of_layer[l], l);
            embedding_gradient(tokens);
        }
        Ints right = (of_target == top) & (loss - loss == Vec{});  // a class read off NaN is chance
        for (int c = 0; c < m.n_classes; c++)  // the first of equal scores is the answer
            right &= ~((logits[c] == top) & (all(int32_t(c)) < target));
        return {loss, right};
    }

  private:
    const EncoderModel& m;
    const int n;
    const int64_t wide;
    const Attention attention;
    const NormSettings norm;
    char* memory = nullptr;
    LayerTrace* traces = nullptr;
    Vec *stream, *branch, *wanted, *wanted_branch, *of_query, *of_key, *of_value, *scratch, *wanted_hidden;
    Vec *pooled, *wanted_pooled, *visible, *share;
    NormTrace final;
    float *of_row, *corrections;

    // Places everything from `from` on and returns how many vectors that takes; null only counts.
    int64_t lay_out(Vec* from) {
        int64_t used = 0;
        const auto take = [&](int64_t count) {
            Vec* here = from ? from + used : nullptr;
            used += count;
            return here;
        };
        const int64_t square = int64_t(n) * n, hidden = int64_t(n) * m.d_ff;
        traces = reinterpret_cast<LayerTrace*>(take((int64_t(sizeof(LayerTrace)) * m.layers + 63) / 64));
        for (int l = 0; l < m.layers; l++) {
            LayerTrace trace;
            AttentionTrace& a = trace.attention;
            a.query = take(wide), a.key = take(wide), a.value = take(wide), a.mixed = take(wide);
            a.conditioned = take(wide), a.weights = take(square * m.heads), a.length = take(int64_t(n) * m.heads);
            trace.into_attention = take(wide), trace.into_feed_forward = take(wide);
            trace.norm_1 = {take(wide), take(n)}, trace.norm_2 = {take(wide), take(n)};
            trace.hidden = take(hidden), trace.slope = take(hidden);
            if (from) traces[l] = trace;
        }
        stream = take(wide), branch = take(wide), wanted = take(wide), wanted_branch = take(wide);
        of_query = take(wide), of_key = take(wide), of_value = take(wide);
        scratch = take(square), wanted_hidden = take(hidden);
        pooled = take(m.d), wanted_pooled = take(m.d), visible = take(n), share = take(n);
        final = {take(wide), take(n)};
        of_row = reinterpret_cast<float*>(take(vectors(m.size)));
        corrections = reinterpret_cast<float*>(take(int64_t(vectors(m.d * m.d)) * 3 * m.layers));
        return used;
    }

    int offset(int l, int which) const {
        const EncoderLayer& p = m.of_layer[l];
        return which == 0 ? p.query : which == 1 ? p.key : p.value;
    }
    float* corrected(int l, int which) const {
        return corrections + int64_t(vectors(m.d * m.d)) * LANES * (3 * l + which);
    }
    static const float* gain(const float* theta, int at) { return at < 0 ? nullptr : theta + at; }
    float* of(int at) const { return at < 0 ? nullptr : of_row + at; }
    Matrix<Vec> rows(Vec* x) const { return rows_of(x, m.d); }
    // A weight (out, in) as what is multiplied from the right: (in, out).
    static Matrix<const float> weight(const float* at, int ins) { return {at, 1, ins}; }

    // Which tokens are seen, and what each counts in the read-out.
    const Vec* look(const Ints* tokens) {
        Vec length{};
        for (int t = 0; t < n; t++) {
            visible[t] = m.pad_token < 0 ? all(1.0f) : tokens[t] != m.pad_token ? all(1.0f) : Vec{};
            length += visible[t];
        }
        for (int t = 0; t < n; t++)
            if (m.read_out == FIRST_TOKEN) share[t] = all(t == 0 ? 1.0f : 0.0f);
            else if (m.read_out == LAST_TOKEN) share[t] = length == float(t + 1) ? all(1.0f) : Vec{};
            else share[t] = visible[t] / length;
        return m.pad_token < 0 ? nullptr : visible;
    }

    void read_out() {
        for (int k = 0; k < m.d; k++) pooled[k] = Vec{};
        for (int t = 0; t < n; t++)
            for (int k = 0; k < m.d; k++) pooled[k] = fused(stream[t * m.d + k], share[t], pooled[k]);
    }

    void forward(const float* theta, const EncoderLayer& p, int l, const Vec* seen) {
        LayerTrace& trace = traces[l];
        const AttentionTrace& a = trace.attention;
        enter(theta, p.norm_1, p.norm_1_bias, trace.norm_1, trace.into_attention);
        Vec* const projected[3] = {a.query, a.key, a.value};
        for (int which = 0; which < 3; which++)
            product(rows(projected[which]), rows(trace.into_attention),
                    weight(corrected(l, which), m.d), n, m.d, m.d);
        attention.forward(a, seen);
        product(rows(branch), rows(a.conditioned), weight(theta + p.out, m.d), n, m.d, m.d);
        leave(theta, p.norm_1, p.norm_1_bias, trace.norm_1);

        enter(theta, p.norm_2, p.norm_2_bias, trace.norm_2, trace.into_feed_forward);
        for (int t = 0; t < n; t++)
            for (int j = 0; j < m.d_ff; j++) trace.hidden[t * m.d_ff + j] = all(theta[p.up_bias + j]);
        product(rows_of(trace.hidden, m.d_ff), rows(trace.into_feed_forward), weight(theta + p.up, m.d), n,
                m.d_ff, m.d, true);
        for (int64_t i = 0; i < int64_t(n) * m.d_ff; i++) {
            const Gelu g = gelu(trace.hidden[i]);
            trace.hidden[i] = g.value, trace.slope[i] = g.slope;
        }
        for (int t = 0; t < n; t++)
            for (int k = 0; k < m.d; k++) branch[t * m.d + k] = all(theta[p.down_bias + k]);
        product(rows(branch), rows_of(trace.hidden, m.d_ff), weight(theta + p.down, m.d_ff), n, m.d, m.d_ff, true);
        leave(theta, p.norm_2, p.norm_2_bias, trace.norm_2);
    }

    // What a sublayer reads, and what becomes of the stream after it.
    void enter(const float* theta, int at, int bias, const NormTrace& trace, Vec* into) {
        if (m.placement == PRE_NORM) normalize(norm, stream, gain(theta, at), gain(theta, bias), trace, into, n);
        else std::memcpy(into, stream, sizeof(Vec) * size_t(wide));
    }
    void leave(const float* theta, int at, int bias, const NormTrace& trace) {
        for (int64_t i = 0; i < wide; i++) stream[i] = fused(stream[i], m.identity, branch[i]);
        if (m.placement == POST_NORM)
            normalize(norm, stream, gain(theta, at), gain(theta, bias), trace, stream, n);
    }

    // `wanted` is of the stream after the layer, and then before it.
    void backward(const float* theta, const EncoderLayer& p, int l) {
        LayerTrace& trace = traces[l];
        const AttentionTrace& a = trace.attention;
        leave_backward(theta, p.norm_2, p.norm_2_bias, trace.norm_2);
        weight_gradient(of_row + p.down, rows(wanted), rows_of(trace.hidden, m.d_ff), n, m.d, m.d_ff);
        row_gradient(of_row + p.down_bias, wanted, nullptr, n, m.d);
        product(rows_of(wanted_hidden, m.d_ff), rows(wanted), rows_of(theta + p.down, m.d_ff), n, m.d_ff, m.d);
        for (int64_t i = 0; i < int64_t(n) * m.d_ff; i++) wanted_hidden[i] *= trace.slope[i];
        weight_gradient(of_row + p.up, rows_of(wanted_hidden, m.d_ff), rows(trace.into_feed_forward), n, m.d_ff,
                        m.d);
        row_gradient(of_row + p.up_bias, wanted_hidden, nullptr, n, m.d_ff);
        product(rows(wanted_branch), rows_of(wanted_hidden, m.d_ff), rows_of(theta + p.up, m.d), n, m.d, m.d_ff);
        enter_backward(theta, p.norm_2, p.norm_2_bias, trace.norm_2);

        leave_backward(theta, p.norm_1, p.norm_1_bias, trace.norm_1);
        weight_gradient(of_row + p.out, rows(wanted), rows(a.conditioned), n, m.d, m.d);
        product(rows(wanted_branch), rows(wanted), rows_of(theta + p.out, m.d), n, m.d, m.d);
        attention.backward(a, wanted_branch, of_query, of_key, of_value, scratch);
        Vec* const of_projected[3] = {of_query, of_key, of_value};
        for (int which = 0; which < 3; which++) {
            const float* with = corrected(l, which);
            weight_gradient(of_row + offset(l, which), rows(of_projected[which]), rows(trace.into_attention), n,
                            m.d, m.d);
            product(rows(wanted_branch), rows(of_projected[which]), rows_of(with, m.d), n, m.d, m.d, which > 0);
        }
        enter_backward(theta, p.norm_1, p.norm_1_bias, trace.norm_1);
    }

    void leave_backward(const float* theta, int at, int bias, const NormTrace& trace) {
        if (m.placement == POST_NORM)
            normalize_backward(norm, wanted, gain(theta, at), of(at), of(bias), trace, n);
    }
    void enter_backward(const float* theta, int at, int bias, const NormTrace& trace) {
        if (m.placement == PRE_NORM)
            normalize_backward(norm, wanted_branch, gain(theta, at), of(at), of(bias), trace, n);
        for (int64_t i = 0; i < wide; i++) wanted[i] = fused(wanted[i], m.identity, wanted_branch[i]);
    }

    void embedding_gradient(const Ints* tokens) {
        for (int t = 0; t < n; t++) {
            row_gradient(of_row + m.positions + t * m.d, wanted + t * m.d, nullptr, 1, m.d);
            const float* lanes = reinterpret_cast<const float*>(wanted + t * m.d);
            for (int i = 0; i < LANES; i++) {
                float* row = of_row + m.tokens + tokens[t][i] * m.d;
                for (int k = 0; k < m.d; k++) row[k] += lanes[k * LANES + i];
            }
        }
    }
};

}  // namespace sandbox
