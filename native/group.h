// What every model's runs have in common: batches of sixteen sequences, stretches of updates, evaluation.
//
// A model offers prepare(theta), clear(), block<LEARNING>(theta, tokens, target, weight), finish(theta),
// renew(theta, step, scale), gradient(), n_tokens(), size() and work(); it owns its memory, and ready() says
// whether it got any.
#pragma once
#include "adam.h"

namespace sandbox {

constexpr int MOST_TOKENS = 128;

// Sixteen sequences' tokens by position; what is beyond the end repeats the last one and weighs nothing.
template <class RowOf>
Ints gather(const Data& data, int64_t run, int n_tokens, int64_t first, int64_t end, RowOf row_of,
            Ints* tokens) {
    const uint8_t* set = data.tokens + run * data.tokens_apart;
    const int32_t* targets = data.targets + run * data.targets_apart;
    Ints target;
    for (int i = 0; i < LANES; i++) {
        const int64_t row = row_of(first + i < end ? first + i : end - 1);
        target[i] = targets[row];
        int32_t* of_lane = reinterpret_cast<int32_t*>(tokens) + i;
        for (int t = 0; t < n_tokens; t++) of_lane[t * LANES] = set[row * n_tokens + t];
    }
    return target;
}

inline Vec weights(int64_t left, float each) {
    Vec x;
    for (int i = 0; i < LANES; i++) x[i] = i < left ? each : 0.0f;
    return x;
}

// Mean loss of a batch; its gradient is then in model.gradient().
template <class M>
float learn(M& model, const Data& data, const float* theta, int64_t run, const int32_t* order, int64_t batch) {
    Ints tokens[MOST_TOKENS];
    Vec loss{};
    model.prepare(theta);
    model.clear();
    for (int64_t first = 0; first < batch; first += LANES) {
        const auto row_of = [order](int64_t i) { return int64_t(order[i]); };
        const Ints target = gather(data, run, model.n_tokens(), first, batch, row_of, tokens);
        const Vec weight = weights(batch - first, 1.0f / float(batch));
        const Vec found = model.template block<true>(theta, tokens, target, weight).loss;
        loss += weight > 0.0f ? found : Vec{};
        breathe(model.work());
    }
    model.finish(theta);
    breathe(model.size());
    return sum(loss) / float(batch);
}

// Some steps of one run follow each other, so that its row stays in the nearest cache.
template <class M>
void advance(M& model, int64_t steps_together, const Rows& rows, const Adam& adam, const Data& data,
             const Stretch& stretch) {
    for (int64_t first = 0; first < stretch.n_steps; first += steps_together)
        for (int64_t run = 0; run < rows.n_runs; run++) {
            const int64_t left = stretch.n_steps - first, end = first + (left < steps_together ? left : steps_together);
            float* theta = rows.theta + run * rows.stride;
            for (int64_t step = first; step < end; step++) {
                const int32_t* order = stretch.order + run * stretch.order_apart + step * stretch.batch;
                stretch.losses[step * stretch.losses_apart + run] =
                    learn(model, data, theta, run, order, stretch.batch);
                if (stretch.gradient && step == stretch.n_steps - 1) {
                    const size_t bytes = sizeof(float) * size_t(model.size());
                    std::memcpy(stretch.gradient + run * rows.stride, model.gradient(), bytes);
                    std::memcpy(stretch.before + run * rows.stride, theta, bytes);
                    breathe(model.size());
                }
                update(adam, step, theta, rows.mean + run * rows.stride, rows.square + run * rows.stride,
                       model.gradient(), model.size());
                model.renew(theta, stretch.first_step + step + 1, stretch.scales ? stretch.scales + step : nullptr);
            }
        }
}

// Losses and hits of the first `n_rows` rows of one run's set.
template <class M>
void evaluate(M& model, const float* theta, const Data& data, int64_t run, int64_t n_rows, float* losses,
              uint8_t* right) {
    Ints tokens[MOST_TOKENS];
    model.prepare(theta);
    for (int64_t first = 0; first < n_rows; first += LANES) {
        const auto row_of = [](int64_t i) { return i; };
        const Ints target = gather(data, run, model.n_tokens(), first, n_rows, row_of, tokens);
        const auto answer = model.template block<false>(theta, tokens, target, Vec{});
        for (int i = 0; i < LANES && first + i < n_rows; i++) {
            losses[first + i] = answer.loss[i];
            right[first + i] = answer.right[i] != 0;
        }
        breathe(model.work());
    }
}

// What Python calls for a model: `make` begins a job with the model of a structure. All that the arguments
// point to stays where it is until the job ends (turns.cpp).
#define EXPORTED(name, Structure, make, steps_together)                                                       \
    extern "C" Turns* sandbox_##name##_advance(const Structure* structure, const Rows* rows,                  \
                                               const Adam* adam, const Data* data, const Stretch* stretch) {  \
        return make(*structure, [=](auto& model) {                                                            \
            advance(model, steps_together, *rows, *adam, *data, *stretch);                                    \
        });                                                                                                   \
    }                                                                                                         \
    extern "C" Turns* sandbox_##name##_evaluate(const Structure* structure, const float* theta,               \
                                                const Data* data, int64_t run, int64_t n_rows, float* losses, \
                                                uint8_t* right) {                                             \
        return make(*structure, [=](auto& model) { evaluate(model, theta, *data, run, n_rows, losses, right); }); \
    }                                                                                                         \
    extern "C" Turns* sandbox_##name##_gradient(const Structure* structure, const float* theta,               \
                                                const Data* data, int64_t run, const int32_t* order,          \
                                                int64_t batch, float* loss, float* gradient_of_row) {         \
        return make(*structure, [=](auto& model) {                                                            \
            *loss = learn(model, *data, theta, run, order, batch);                                            \
            std::memcpy(gradient_of_row, model.gradient(), sizeof(float) * size_t(model.size()));             \
        });                                                                                                   \
    }

}  // namespace sandbox
