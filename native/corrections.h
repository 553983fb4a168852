// What W_Q, W_K and W_V become before they meet the tokens, and what of it follows them from step to step
// (sandbox/conditioning/projection).
#pragma once
#include "layout.h"
#include "polar.h"
#include "vector.h"

namespace sandbox {

class Corrections {
  public:
    explicit Corrections(const EncoderModel& model) : m(model), size(model.d * model.d) {}

    static int offset(const EncoderLayer& p, int which) {
        return which == 0 ? p.query : which == 1 ? p.key : p.value;
    }

    // Doubles that `renew` works in.
    int64_t room() const { return m.lifted_blocks ? Polar::room(m.d / m.lifted_blocks, m.d) : m.d; }

    // The weight as corrected: a fixed sum, C that is carried, or gamma W / sigma with sigma = u^T W v.
    void apply(const float* theta, int l, int which, float* to) const {
        const Correction& has = m.of_layer[l].corrections[which];
        const float *weight = theta + offset(m.of_layer[l], which), *added = m.corrections[which];
        if (has.added >= 0) added = theta + has.added;
        if (has.gamma >= 0) {
            const float factor = theta[has.gamma] / float(sigma(theta, weight, has));
            for (int i = 0; i < size; i++) to[i] = weight[i] * factor;
        } else {
            for (int i = 0; i < size; i++) to[i] = weight[i] + (added ? added[i] : 0.0f);
        }
    }

    // `of_row` has the gradient G of the corrected weight where that of W belongs, and is not differentiated
    // through what is carried. With p = <G, W> / sigma, gamma's is p and W's (gamma / sigma) (G - p u v^T).
    void finish(const float* theta, int l, int which, float* of_row) const {
        const Correction& has = m.of_layer[l].corrections[which];
        if (has.gamma < 0) return;
        const int at = offset(m.of_layer[l], which);
        const float *weight = theta + at, *u = theta + has.left, *v = theta + has.right;
        const double stretch = sigma(theta, weight, has), along = dot(weight, of_row + at, size) / stretch;
        const double factor = double(theta[has.gamma]) / stretch;
        of_row[has.gamma] = float(along);
        for (int i = 0; i < m.d; i++)
            for (int j = 0; j < m.d; j++) {
                float& wanted = of_row[at + i * m.d + j];
                wanted = float(factor * (double(wanted) - along * double(u[i]) * double(v[j])));
            }
    }

    // What is carried on after `step` updates: C anew where it is due, one power iteration of u and v.
    void renew(float* theta, int l, int which, int64_t step, double* room) const {
        const Correction& has = m.of_layer[l].corrections[which];
        const float* weight = theta + offset(m.of_layer[l], which);
        if (has.added >= 0 && step % m.lifted_every == 0) {
            const int rows = m.d / m.lifted_blocks;
            for (int b = 0; b < m.lifted_blocks; b++)
                Polar::lift(weight + b * rows * m.d, rows, m.d, room, theta + has.added + b * rows * m.d);
        }
        if (has.gamma < 0) return;
        float *u = theta + has.left, *v = theta + has.right;
        for (int j = 0; j < m.d; j++) room[j] = 0.0;
        for (int i = 0; i < m.d; i++)
            for (int j = 0; j < m.d; j++) room[j] += double(weight[i * m.d + j]) * double(u[i]);
        settle(room, v);
        for (int i = 0; i < m.d; i++) room[i] = dot(weight + i * m.d, v, m.d);
        settle(room, u);
    }

  private:
    static constexpr double SHORTEST = 1e-12;  // torch.nn.functional.normalize divides no vector by less

    const EncoderModel& m;
    const int size;

    double sigma(const float* theta, const float* weight, const Correction& has) const {
        double sum = 0.0;
        for (int i = 0; i < m.d; i++)
            sum += double(theta[has.left + i]) * dot(weight + i * m.d, theta + has.right, m.d);
        return sum;
    }

    // A vector of length one.
    void settle(const double* from, float* to) const {
        const double length = std::sqrt(dot(from, from, m.d));
        for (int i = 0; i < m.d; i++) to[i] = float(from[i] / (length > SHORTEST ? length : SHORTEST));
    }
};

}  // namespace sandbox
