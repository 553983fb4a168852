// The visual model of one run: loss and gradient of a batch, one SIMD lane per sequence.
//
// A token at a position always has the same embedding z, score and value, so these are computed once per
// step for all (token, position) pairs, the "tables"; a sequence only picks its entries. The backward pass
// sums what sequences want of each entry, and goes through the tables once (docs/engine.md).
#pragma once
#include <cstdlib>

#include "gelu.h"
#include "group.h"

namespace sandbox {

constexpr float RMS_EPSILON = 1e-5f;  // added to the root mean square, as in sandbox/models/visual_model.py
constexpr int MOST_WIDE = 64, MOST_EMBEDDINGS = 64;

// Memory of one thread: tables by [number][token * padded + position], sums with one vector per number.
struct VisualSpace {
    Vec *sum_x, *radius, *scores, *z, *values;  // tables, `padded` positions for each token
    Vec *hidden, *slope;                        // of the block's feed-forward part
    Vec *wanted;                                // sums for each parameter, in the order of a row
    Vec *wanted_score, *wanted_value;           // sums for each entry of the tables
    float* gradient;
};

// The visual model with D dimensions; D = 0 reads them at run time.
template <int D>
class Visual {
  public:
    Visual(const VisualModel& model, const VisualSpace& space)
        : m(model), s(space), blocks(vectors(model.n_tokens)), padded(blocks * LANES) {}

    // The tables for these weights.
    void prepare(const float* theta) {
        const float scale = 1.0f / __builtin_sqrtf(float(d()));
        for (int v = 0; v < m.vocab; v++)
            for (int b = 0; b < blocks; b++) {
                const int e = v * blocks + b;
                Vec squares{}, score{}, z[MOST_WIDE];
                for (int k = 0; k < d(); k++) {
                    z[k] = theta[m.tokens + v * d() + k] + positions(theta, b, k);
                    s.sum_x[k * entries() + e] = z[k];
                    squares = fused(z[k], z[k], squares);
                }
                s.radius[e] = root(squares * (1.0f / float(d())));
                const Vec inverse = 1.0f / (s.radius[e] + RMS_EPSILON);
                for (int k = 0; k < d(); k++) {
                    z[k] *= inverse;
                    s.z[k * entries() + e] = z[k];
                    score = fused(z[k], theta[m.query + k], score);
                }
                s.scores[e] = score * scale;
                for (int k = 0; k < d(); k++) {
                    Vec value{};
                    for (int j = 0; j < d(); j++) value = fused(z[j], theta[m.value + k * d() + j], value);
                    s.values[k * entries() + e] = value;
                }
            }
    }

    float* gradient() const { return s.gradient; }
    int n_tokens() const { return m.n_tokens; }
    int size() const { return m.size; }
    int64_t work() const { return m.size; }  // of a block, about
    void renew(float*, int64_t, const float*) {}

    // Loss of each of sixteen sequences, and whether the right class scores highest.
    // `weight` of a sequence is what its loss counts; where it is given, gradients are added to the sums.
    template <bool LEARNING>
    Answer block(const float* theta, const Ints* tokens, Ints target, Vec weight) {
        const int n = m.n_tokens;
        Vec attention[MOST_TOKENS], xi[MOST_WIDE], y[MOST_WIDE], h[MOST_WIDE];
        Vec greatest = all(-__builtin_inff()), total{};
        for (int t = 0; t < n; t++) {
            attention[t] = entry(s.scores, tokens[t], t);
            greatest = larger(greatest, attention[t]);
        }
        for (int t = 0; t < n; t++) total += attention[t] = exponential(attention[t] - greatest);
        const Vec share = 1.0f / total;
        for (int k = 0; k < d(); k++) xi[k] = Vec{};
        for (int t = 0; t < n; t++) {
            attention[t] *= share;
            for (int k = 0; k < d(); k++)
                xi[k] = fused(attention[t], entry(s.values + k * entries(), tokens[t], t), xi[k]);
        }

        Vec squares{};
        for (int k = 0; k < d(); k++) squares = fused(xi[k], xi[k], squares);
        const Vec radius = root(squares * (1.0f / float(d())));
        const Vec inverse = 1.0f / (radius + RMS_EPSILON);
        for (int k = 0; k < d(); k++) {
            y[k] = xi[k] * inverse;
            h[k] = xi[k] + theta[m.down_bias + k];
        }
        for (int j = 0; j < m.d_ff; j++) {
            Vec u = all(theta[m.up_bias + j]);
            for (int k = 0; k < d(); k++) u = fused(y[k], theta[m.up + j * d() + k], u);
            const Gelu g = gelu(u);
            if (LEARNING) s.hidden[j] = g.value, s.slope[j] = g.slope;
            for (int k = 0; k < d(); k++) h[k] = fused(g.value, theta[m.down + k * m.d_ff + j], h[k]);
        }

        Vec logits[MOST_EMBEDDINGS], of_target{};
        Vec top = all(-__builtin_inff());
        for (int c = 0; c < m.n_embeddings; c++) {
            Vec x{};
            for (int k = 0; k < d(); k++) x = fused(h[k], theta[m.tokens + c * d() + k], x);
            logits[c] = x;
            of_target = target == c ? x : of_target;
            top = larger(top, x);
        }
        Vec odds{};
        for (int c = 0; c < m.n_embeddings; c++) odds += exponential(logits[c] - top);
        const Vec loss = logarithm(odds) + (top - of_target);
        if (LEARNING) {
            const Vec each = weight / odds;
            Vec wanted_h[MOST_WIDE];
            for (int k = 0; k < d(); k++) wanted_h[k] = Vec{};
            for (int c = 0; c < m.n_embeddings; c++) {
                const Vec exp = exponential(logits[c] - top);
                const Vec wanted = fused(exp, each, target == c ? -weight : Vec{});
                for (int k = 0; k < d(); k++) {
                    wanted_h[k] = fused(wanted, theta[m.tokens + c * d() + k], wanted_h[k]);
                    add(m.tokens + c * d() + k, wanted, h[k]);
                }
            }
            backward(theta, tokens, attention, xi, y, inverse, radius, wanted_h);
        }
        Ints right = (of_target == top) & (loss - loss == Vec{});  // a class read off NaN is chance
        for (int c = 0; c < m.n_embeddings; c++)  // the first of equal scores is the answer
            right &= ~((logits[c] == top) & (all(int32_t(c)) < target));
        return {loss, right};
    }

    void clear() {
        for (int i = 0; i < vectors(m.size) * LANES; i++) s.wanted[i] = Vec{};
        for (int i = 0; i < m.vocab * padded; i++) s.wanted_score[i] = Vec{};
        for (int i = 0; i < m.vocab * padded * d(); i++) s.wanted_value[i] = Vec{};
    }

    // The gradient of the row, from the sums.
    void finish(const float* theta) {
        for (int i = 0; i < vectors(m.size); i++) store(s.gradient + i * LANES, sums(s.wanted + i * LANES));
        const float scale = 1.0f / __builtin_sqrtf(float(d()));
        Vec of_query[MOST_WIDE]{}, of_value[D ? D * D : MOST_WIDE * MOST_WIDE];
        for (int i = 0; i < d() * d(); i++) of_value[i] = Vec{};
        for (int b = 0; b < blocks; b++) {
            Vec of_positions[MOST_WIDE];
            for (int k = 0; k < d(); k++) of_positions[k] = Vec{};
            for (int v = 0; v < m.vocab; v++) {
                const int e = v * blocks + b;
                const Vec score = sums(s.wanted_score + e * LANES) * scale;
                Vec of_z[MOST_WIDE], along{};
                for (int k = 0; k < d(); k++) of_z[k] = score * theta[m.query + k];
                for (int k = 0; k < d(); k++) {
                    const Vec value = sums(s.wanted_value + (k * entries() + e) * LANES);
                    of_query[k] = fused(score, s.z[k * entries() + e], of_query[k]);
                    for (int j = 0; j < d(); j++) {
                        of_value[k * d() + j] = fused(value, s.z[j * entries() + e], of_value[k * d() + j]);
                        of_z[j] = fused(value, theta[m.value + k * d() + j], of_z[j]);
                    }
                }
                // Where padding or nothing stands, the entry has no part in anything: 0, not 0/0.
                const Vec inverse = 1.0f / (s.radius[e] + RMS_EPSILON);
                for (int k = 0; k < d(); k++) along = fused(of_z[k], s.sum_x[k * entries() + e], along);
                along *= inverse * inverse / (s.radius[e] * float(d()));
                along = seen(b) ? along : Vec{};
                for (int k = 0; k < d(); k++) {
                    const Vec of_sum = fused(-s.sum_x[k * entries() + e], along, of_z[k] * inverse);
                    of_positions[k] += of_sum;
                    s.gradient[m.tokens + v * d() + k] += sum(of_sum);
                }
            }
            for (int k = 0; k < d(); k++)
                for (int i = 0; i < LANES && b * LANES + i < m.n_tokens; i++)
                    s.gradient[m.positions + (b * LANES + i) * d() + k] = of_positions[k][i];
        }
        for (int k = 0; k < d(); k++) s.gradient[m.query + k] = sum(of_query[k]);
        for (int i = 0; i < d() * d(); i++) s.gradient[m.value + i] = sum(of_value[i]);
    }

  private:
    const VisualModel& m;
    const VisualSpace& s;
    const int blocks, padded;

    int d() const { return D ? D : m.d; }
    int entries() const { return m.vocab * blocks; }

    Ints seen(int b) const {
        Ints place;
        for (int i = 0; i < LANES; i++) place[i] = b * LANES + i;
        return place < m.n_tokens;
    }

    Vec positions(const float* theta, int b, int k) const {
        Vec x{};
        for (int i = 0; i < LANES && b * LANES + i < m.n_tokens; i++)
            x[i] = theta[m.positions + (b * LANES + i) * d() + k];
        return x;
    }

    // What the table holds for each sequence's token at position t.
    Vec entry(const Vec* table, Ints token, int t) const {
        const float* of_token = reinterpret_cast<const float*>(table) + t;
        Vec found;
        for (int i = 0; i < PARTS; i++) {
            Part x = part(of_token[0]);
            for (int v = 1; v < m.vocab; v++) x = part(token, i) == v ? part(of_token[v * padded]) : x;
            part(found, i) = x;
        }
        return found;
    }

    void backward(const float* theta, const Ints* tokens, const Vec* attention, const Vec* xi, const Vec* y,
                  Vec inverse, Vec radius, const Vec* wanted_h) {
        Vec of_y[MOST_WIDE], of_xi[MOST_WIDE], along{}, common{};
        for (int k = 0; k < d(); k++) {
            of_y[k] = Vec{};
            s.wanted[m.down_bias + k] += wanted_h[k];
        }
        for (int j = 0; j < m.d_ff; j++) {
            Vec u{};
            for (int k = 0; k < d(); k++) {
                u = fused(wanted_h[k], theta[m.down + k * m.d_ff + j], u);
                add(m.down + k * m.d_ff + j, wanted_h[k], s.hidden[j]);
            }
            u *= s.slope[j];
            s.wanted[m.up_bias + j] += u;
            for (int k = 0; k < d(); k++) {
                add(m.up + j * d() + k, u, y[k]);
                of_y[k] = fused(u, theta[m.up + j * d() + k], of_y[k]);
            }
        }
        for (int k = 0; k < d(); k++) along = fused(of_y[k], xi[k], along);
        along *= inverse * inverse / (radius * float(d()));
        for (int k = 0; k < d(); k++) {
            of_xi[k] = fused(-xi[k], along, fused(of_y[k], inverse, wanted_h[k]));
            common = fused(of_xi[k], xi[k], common);
        }
        // a_t (of_xi . (value_t - xi)) is wanted of the score, a_t of_xi of the value.
        for (int t = 0; t < m.n_tokens; t++) {
            Vec score = -common;
            for (int k = 0; k < d(); k++) score = fused(of_xi[k], entry(s.values + k * entries(), tokens[t], t), score);
            add(s.wanted_score, tokens[t], t, attention[t] * score);
            for (int k = 0; k < d(); k++)
                add(s.wanted_value + k * entries() * LANES, tokens[t], t, attention[t] * of_xi[k]);
        }
    }

    // Add a product to what is wanted of a parameter.
    void add(int parameter, Vec a, Vec b) { s.wanted[parameter] = fused(a, b, s.wanted[parameter]); }

    // Add what each sequence wants of its token's entry at position t.
    void add(Vec* sums_of, Ints token, int t, Vec wanted) {
        for (int v = 0; v < m.vocab; v++)
            for (int i = 0; i < PARTS; i++)
                part(sums_of[v * padded + t], i) += part(token, i) == v ? part(wanted, i) : Part{};
    }
};

}  // namespace sandbox
