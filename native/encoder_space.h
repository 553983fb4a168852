// The encoder's memory: activations of sixteen sequences, the gradient, and the projections as corrected.
#pragma once
#include "attention.h"
#include "corrections.h"
#include "feed_forward.h"
#include "norms.h"
#include "query_key.h"

namespace sandbox {

// Activations of one layer that the backward pass reads.
struct LayerTrace {
    AttentionTrace attention;
    UnitTrace unit_query, unit_key;
    Vec *into_attention, *into_query;  // what keys and values are made of, and queries where it is one row
    Vec* into_feed_forward;
    NormTrace norm_1, norm_2;
    Vec *hidden, *slope;
};

// Weights of one layer as both passes read them; the first three are W_Q, W_K, W_V as corrected.
struct LayerWeights {
    Panels attention[4], attention_back[4];
    FeedForwardWeights feed_forward;
};

struct EncoderSpace {
    LayerTrace* traces = nullptr;
    LayerWeights* weights = nullptr;
    Vec *stream, *branch, *wanted, *wanted_branch, *of_query, *of_key, *of_value, *scratch, *wanted_hidden;
    Vec *pooled, *wanted_pooled, *visible, *reader_sees, *share, *turned;
    NormTrace final;
    float *gradient, *corrected;
    double* doubles;

    explicit EncoderSpace(const EncoderModel& model) : m(model), n(model.n_tokens) {
        const int64_t bytes = lay_out(nullptr) * int64_t(sizeof(Vec));
        memory = static_cast<char*>(std::aligned_alloc(sizeof(Vec), size_t(bytes)));
        if (memory) lay_out(reinterpret_cast<Vec*>(memory));
    }
    EncoderSpace(const EncoderSpace&) = delete;
    ~EncoderSpace() { std::free(memory); }

    bool ready() const { return memory != nullptr; }

  private:
    const EncoderModel& m;
    const int n;
    char* memory;

    // Places everything from `from` on and returns how many vectors that takes; null only counts.
    int64_t lay_out(Vec* from) {
        int64_t used = 0;
        const auto take = [&](int64_t count) {
            Vec* here = from ? from + used : nullptr;
            used += count;
            return here;
        };
        const int64_t wide = int64_t(n) * m.d, square = int64_t(n) * n, hidden = int64_t(n) * m.d_ff;
        const int64_t by_head = int64_t(n) * m.heads, units = m.query_key == AS_PROJECTED ? 0 : wide;
        traces = reinterpret_cast<LayerTrace*>(take((int64_t(sizeof(LayerTrace)) * m.layers + 63) / 64));
        for (int l = 0; l < m.layers; l++) {
            LayerTrace trace;
            AttentionTrace& a = trace.attention;
            a.query = take(wide), a.key = take(wide), a.value = take(wide), a.mixed = take(wide);
            a.conditioned = m.output == DIRECT ? a.mixed : take(wide);
            a.weights = take(square * m.heads), a.length = take(by_head);
            trace.unit_query = {take(units), take(by_head)}, trace.unit_key = {take(units), take(by_head)};
            trace.into_attention = take(wide), trace.into_query = take(m.d), trace.into_feed_forward = take(wide);
            trace.norm_1 = {take(wide), take(n)}, trace.norm_2 = {take(wide), take(n)};
            trace.hidden = take(hidden), trace.slope = take(hidden);
            if (from) traces[l] = trace;
        }
        const auto panels = [&](int ins, int outs) {
            return Panels{reinterpret_cast<float*>(take(vectors(int(panel_numbers(ins, outs))))), ins};
        };
        weights = reinterpret_cast<LayerWeights*>(take((int64_t(sizeof(LayerWeights)) * m.layers + 63) / 64));
        for (int l = 0; l < m.layers; l++) {
            LayerWeights w;
            for (int i = 0; i < 4; i++) w.attention[i] = panels(m.d, m.d), w.attention_back[i] = panels(m.d, m.d);
            w.feed_forward.up = panels(m.d, m.d_ff), w.feed_forward.up_back = panels(m.d_ff, m.d);
            w.feed_forward.down = panels(m.d_ff, m.d), w.feed_forward.down_back = panels(m.d, m.d_ff);
            if (from) weights[l] = w;
        }
        stream = take(wide), branch = take(wide), wanted = take(wide), wanted_branch = take(wide);
        of_query = take(wide), of_key = take(wide), of_value = take(wide);
        scratch = take(square), wanted_hidden = take(int64_t(ROWS_TURNED) * m.d_ff);
        turned = take(turned_room(m.d > m.d_ff ? m.d : m.d_ff));
        pooled = take(m.d), wanted_pooled = take(m.d);
        visible = take(n), reader_sees = take(n), share = take(n);
        final = {take(wide), take(n)};
        gradient = reinterpret_cast<float*>(take(vectors(m.size)));
        corrected = reinterpret_cast<float*>(take(vectors(m.d * m.d)));
        doubles = reinterpret_cast<double*>(take((Corrections(m).room() + 7) / 8));
        return used;
    }
};

}  // namespace sandbox
