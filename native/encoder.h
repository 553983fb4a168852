// The encoder of one run: loss and gradient of a batch, one SIMD lane per sequence.
//
// Where the first or the last token is read, the last layer has one query: no other row of it reaches the
// answer, so nothing else is computed. That row is each sequence's own.
#pragma once
#include "classify.h"
#include "encoder_space.h"
#include "group.h"

namespace sandbox {

class Encoder {
  public:
    explicit Encoder(const EncoderModel& model)
        : m(model), n(model.n_tokens), s(model), attention(model), corrections(model),
          norm{model.norm == LAYER_NORM, model.norm_epsilon, model.d}, query_norm(model, model.query_gain),
          key_norm(model, model.key_gain) {}

    bool ready() const { return s.ready(); }
    float* gradient() const { return s.gradient; }
    int n_tokens() const { return n; }
    int size() const { return m.size; }
    int64_t work() const { return int64_t(n) * m.d; }  // of a block, beside its products

    void prepare(const float* theta) {
        for (int l = 0; l < m.layers; l++) {
            const EncoderLayer& p = m.of_layer[l];
            LayerWeights& w = s.weights[l];
            for (int which = 0; which < 4; which++) {
                if (which < 3) corrections.apply(theta, l, which, s.corrected);
                const float* weight = which < 3 ? s.corrected : theta + p.out;
                pack(w.attention[which], w.attention_back[which], weight, m.d, m.d);
            }
            pack(w.feed_forward.up, w.feed_forward.up_back, theta + p.up, m.d_ff, m.d);
            pack(w.feed_forward.down, w.feed_forward.down_back, theta + p.down, m.d, m.d_ff);
        }
    }

    void clear() { std::memset(s.gradient, 0, sizeof(Vec) * size_t(vectors(m.size))); }

    void finish(const float* theta) {
        for (int l = 0; l < m.layers; l++)
            for (int which = 0; which < 3; which++) corrections.finish(theta, l, which, s.gradient);
    }

    // What the run carries on after `step` updates.
    void renew(float* theta, int64_t step, const float* scale) {
        for (int l = 0; l < m.layers; l++) {
            if (m.of_layer[l].scale >= 0) theta[m.of_layer[l].scale] = *scale;
            for (int which = 0; which < 3; which++) corrections.renew(theta, l, which, step, s.doubles);
        }
    }

    template <bool LEARNING>
    Answer block(const float* theta, const Ints* tokens, Ints target, Vec weight) {
        look(tokens);
        for (int t = 0; t < n; t++) embed(theta, tokens[t], t);
        for (int l = 0; l < m.layers; l++) forward(theta, l);
        const int rows = rows_after(m.layers - 1);
        const bool last_norm = m.placement == PRE_NORM;
        if (last_norm)
            normalize(norm, s.stream, gain(theta, m.final_norm), gain(theta, m.final_bias), s.final, s.stream, rows);
        read_out(rows);
        const Answer answer =
            classify<LEARNING>(m, theta, s.pooled, target, weight, s.gradient, s.wanted_pooled, s.turned);
        if (!LEARNING) return answer;
        for (int t = 0; t < rows; t++)
            for (int k = 0; k < m.d; k++)
                s.wanted[t * m.d + k] = rows == 1 ? s.wanted_pooled[k] : s.wanted_pooled[k] * s.share[t];
        if (last_norm)
            normalize_backward(norm, s.wanted, gain(theta, m.final_norm), of(m.final_norm), of(m.final_bias),
                               s.final, rows);
        for (int l = m.layers - 1; l >= 0; l--) backward(theta, l);
        for (int t = 0; t < n; t++) embedding_gradient(tokens[t], t);
        return answer;
    }

  private:
    const EncoderModel& m;
    const int n;
    EncoderSpace s;
    const Attention attention;
    const Corrections corrections;
    const NormSettings norm;
    const QueryKeyNorm query_norm, key_norm;

    // Rows of the stream from a layer's queries on.
    bool narrow(int l) const { return l == m.layers - 1 && m.read_out != MEAN_TOKEN; }
    int rows_after(int l) const { return narrow(l) ? 1 : n; }

    static const float* gain(const float* theta, int at) { return at < 0 ? nullptr : theta + at; }
    float* of(int at) const { return at < 0 ? nullptr : s.gradient + at; }
    Matrix<Vec> rows(Vec* x) const { return rows_of(x, m.d); }

    // Which tokens are seen, and what each counts in the read-out: 1 and 0 where one token is read.
    void look(const Ints* tokens) {
        Vec length{};
        for (int t = 0; t < n; t++) {
            s.visible[t] = m.pad_token < 0 ? all(1.0f) : tokens[t] != m.pad_token ? all(1.0f) : Vec{};
            length += s.visible[t];
        }
        Ints reached{};  // of what the reader sees: all, or where attention is causal the tokens before it
        for (int t = n - 1; t >= 0; t--) {
            if (m.read_out == FIRST_TOKEN) s.share[t] = all(t == 0 ? 1.0f : 0.0f);
            else if (m.read_out == LAST_TOKEN) s.share[t] = length == float(t + 1) ? all(1.0f) : Vec{};
            else s.share[t] = s.visible[t] / length;
            reached |= s.share[t] > 0.0f;
            s.reader_sees[t] = reached || !m.causal ? s.visible[t] : Vec{};
        }
    }

    Sight sight(const float* theta, int l) const {
        const bool one = narrow(l), all_seen = m.pad_token < 0 && !(one && m.causal);
        const int scale = m.of_layer[l].scale;
        return {rows_after(l), m.causal && !one, all_seen ? nullptr : one ? s.reader_sees : s.visible,
                scale < 0 ? m.scale : theta[scale]};
    }

    void read_out(int rows) {
        for (int k = 0; k < m.d; k++) {
            Vec x{};
            for (int t = 0; t < rows; t++) x = fused(s.stream[t * m.d + k], rows == 1 ? all(1.0f) : s.share[t], x);
            s.pooled[k] = x;
        }
    }

    // The row that is read of all rows, and back: `to` may be the first of `from`.
    void pick(const Vec* from, Vec* to) const {
        for (int k = 0; k < m.d; k++) {
            Vec x{};
            for (int t = 0; t < n; t++) x = s.share[t] > 0.0f ? from[t * m.d + k] : x;
            to[k] = x;
        }
    }
    void put_back(const Vec* from, Vec* to, bool add) const {
        for (int k = 0; k < m.d; k++) {
            const Vec x = from[k];
            for (int t = 0; t < n; t++)
                to[t * m.d + k] = (add ? to[t * m.d + k] : Vec{}) + (s.share[t] > 0.0f ? x : Vec{});
        }
    }

    void forward(const float* theta, int l) {
        const EncoderLayer& p = m.of_layer[l];
        const LayerWeights& w = s.weights[l];
        LayerTrace& trace = s.traces[l];
        const AttentionTrace& a = trace.attention;
        const int after = rows_after(l);
        enter(theta, p.norm_1, p.norm_1_bias, trace.norm_1, trace.into_attention, n);
        if (narrow(l)) pick(trace.into_attention, trace.into_query), pick(s.stream, s.stream);
        Vec* const projected[3] = {a.query, a.key, a.value};
        for (int which = 0; which < 3; which++)
            product(rows(projected[which]), rows(which ? trace.into_attention : into_query(l)),
                    w.attention[which], which ? n : after, m.d, m.d);
        if (m.query_key != AS_PROJECTED) {
            query_norm.forward(a.query, theta, p.query_gain, trace.unit_query, after);
            key_norm.forward(a.key, theta, p.key_gain, trace.unit_key, n);
        }
        attention.forward(a, sight(theta, l));
        product(rows(s.branch), rows(a.conditioned), w.attention[3], after, m.d, m.d);
        leave(theta, p.norm_1, p.norm_1_bias, trace.norm_1, after);

        enter(theta, p.norm_2, p.norm_2_bias, trace.norm_2, trace.into_feed_forward, after);
        feed_forward(m, p, theta, w.feed_forward, trace.into_feed_forward, trace.hidden, trace.slope, s.branch, after);
        leave(theta, p.norm_2, p.norm_2_bias, trace.norm_2, after);
    }

    Vec* into_query(int l) const { return narrow(l) ? s.traces[l].into_query : s.traces[l].into_attention; }

    // What a sublayer reads, and what becomes of the stream after it.
    void enter(const float* theta, int at, int bias, const NormTrace& trace, Vec* into, int count) {
        if (m.placement == PRE_NORM)
            normalize(norm, s.stream, gain(theta, at), gain(theta, bias), trace, into, count);
        else std::memcpy(into, s.stream, sizeof(Vec) * size_t(count) * size_t(m.d));
    }
    void leave(const float* theta, int at, int bias, const NormTrace& trace, int count) {
        for (int64_t i = 0; i < int64_t(count) * m.d; i++) s.stream[i] = fused(s.stream[i], m.identity, s.branch[i]);
        if (m.placement == POST_NORM)
            normalize(norm, s.stream, gain(theta, at), gain(theta, bias), trace, s.stream, count);
    }

    // `wanted` is of the stream after the layer, and then before it.
    void backward(const float* theta, int l) {
        const EncoderLayer& p = m.of_layer[l];
        const LayerWeights& w = s.weights[l];
        LayerTrace& trace = s.traces[l];
        const AttentionTrace& a = trace.attention;
        const int after = rows_after(l);
        leave_backward(theta, p.norm_2, p.norm_2_bias, trace.norm_2, after);
        feed_forward_backward(m, p, w.feed_forward, s.wanted, trace.into_feed_forward, trace.hidden, trace.slope,
                              s.wanted_hidden, s.wanted_branch, s.gradient, s.turned, after);
        enter_backward(theta, p.norm_2, p.norm_2_bias, trace.norm_2, after);

        leave_backward(theta, p.norm_1, p.norm_1_bias, trace.norm_1, after);
        weight_gradients({{s.gradient + p.out, s.wanted}}, a.conditioned, after, m.d, m.d, s.turned);
        product(rows(s.wanted_branch), rows(s.wanted), w.attention_back[3], after, m.d, m.d);
        attention.backward(a, sight(theta, l), s.wanted_branch, s.of_query, s.of_key, s.of_value, s.scratch);
        if (m.query_key != AS_PROJECTED) {
            query_norm.backward(s.of_query, theta, p.query_gain, s.gradient, trace.unit_query, after);
            key_norm.backward(s.of_key, theta, p.key_gain, s.gradient, trace.unit_key, n);
        }
        const Wanted of_query{s.gradient + p.query, s.of_query}, of_key{s.gradient + p.key, s.of_key},
            of_value{s.gradient + p.value, s.of_value};
        if (narrow(l)) {
            weight_gradients({of_query}, trace.into_query, 1, m.d, m.d, s.turned);
            weight_gradients({of_key, of_value}, trace.into_attention, n, m.d, m.d, s.turned);
        } else weight_gradients({of_query, of_key, of_value}, trace.into_attention, n, m.d, m.d, s.turned);
        if (narrow(l)) put_back(s.wanted, s.wanted, false);
        product(rows(s.branch), rows(s.of_query), w.attention_back[0], after, m.d, m.d);
        product(rows(s.wanted_branch), rows(s.of_key), w.attention_back[1], n, m.d, m.d);
        product(rows(s.wanted_branch), rows(s.of_value), w.attention_back[2], n, m.d, m.d, true);
        if (narrow(l)) put_back(s.branch, s.wanted_branch, true);
        else for (int64_t i = 0; i < int64_t(n) * m.d; i++) s.wanted_branch[i] += s.branch[i];
        enter_backward(theta, p.norm_1, p.norm_1_bias, trace.norm_1, n);
    }

    void leave_backward(const float* theta, int at, int bias, const NormTrace& trace, int count) {
        if (m.placement == POST_NORM)
            normalize_backward(norm, s.wanted, gain(theta, at), of(at), of(bias), trace, count);
    }
    void enter_backward(const float* theta, int at, int bias, const NormTrace& trace, int count) {
        if (m.placement == PRE_NORM)
            normalize_backward(norm, s.wanted_branch, gain(theta, at), of(at), of(bias), trace, count);
        for (int64_t i = 0; i < int64_t(count) * m.d; i++)
            s.wanted[i] = fused(s.wanted[i], m.identity, s.wanted_branch[i]);
    }

    // The stream's row t: sixteen channels of a sequence lie together in `theta`, and are turned.
    void embed(const float* theta, Ints token, int t) {
        for (int first = 0; first < m.d; first += LANES) {
            const int count = m.d - first;
            const Vec position = load(theta + m.positions + t * m.d + first, count);
            Vec channels[LANES], lanes[LANES];
            for (int i = 0; i < LANES; i++)
                channels[i] = load(theta + m.tokens + token[i] * m.d + first, count) + position;
            turn(channels, lanes);
            std::memcpy(s.stream + t * m.d + first, lanes, sizeof(Vec) * size_t(count < LANES ? count : LANES));
        }
    }
    void embedding_gradient(Ints token, int t) {
        turn_rows(s.turned, s.wanted + t * m.d, 1, m.d);
        for (int first = 0; first < m.d; first += LANES) {
            const Vec* channels = s.turned + first;
            Vec of_position{};
            for (int i = 0; i < LANES; i++) {
                add_to(s.gradient + m.tokens + token[i] * m.d + first, channels[i], m.d - first);
                of_position += channels[i];
            }
            add_to(s.gradient + m.positions + t * m.d + first, of_position, m.d - first);
        }
    }
};

}  // namespace sandbox
