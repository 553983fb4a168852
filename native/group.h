// What every model's runs have in common: batches of sixteen sequences, stretches of updates, evaluation.
//
// A model offers prepare(theta), clear(), block<LEARNING>(theta, tokens, target, weight), finish(theta),
// gradient(), n_tokens() and size(); it owns its memory, and ready() says whether it got any.
#pragma once
#include <ctime>

#include "adam.h"

namespace sandbox {

constexpr int MOST_TOKENS = 128;

enum Outcome : int64_t { DONE = -2, NO_MEMORY = -1 };  // anything else: where to go on

inline int64_t now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

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
    }
    model.finish(theta);
    return sum(loss) / float(batch);
}

// Pieces are (a few steps, run), so that a run's row stays in the nearest cache; `position` counts them. Stops
// at the end of a piece once the time is up, and says where.
template <class M>
int64_t advance(M& model, int64_t steps_together, const Rows& rows, const Adam& adam, const Data& data,
                const Stretch& stretch, int64_t position, int64_t nanoseconds) {
    if (!model.ready()) return NO_MEMORY;
    const int64_t until = now() + nanoseconds;
    const int64_t pieces = (stretch.n_steps + steps_together - 1) / steps_together * rows.n_runs;
    while (position < pieces) {
        const int64_t run = position % rows.n_runs, first = position / rows.n_runs * steps_together;
        const int64_t end = first + steps_together < stretch.n_steps ? first + steps_together : stretch.n_steps;
        float* theta = rows.theta + run * rows.stride;
        for (int64_t step = first; step < end; step++) {
            const int32_t* order = stretch.order + run * stretch.order_apart + step * stretch.batch;
            stretch.losses[step * stretch.losses_apart + run] =
                learn(model, data, theta, run, order, stretch.batch);
            if (stretch.gradient && step == stretch.n_steps - 1) {
                const size_t bytes = sizeof(float) * size_t(model.size());
                std::memcpy(stretch.gradient + run * rows.stride, model.gradient(), bytes);
                std::memcpy(stretch.before + run * rows.stride, theta, bytes);
            }
            update(adam, step, theta, rows.mean + run * rows.stride, rows.square + run * rows.stride,
                   model.gradient(), model.size());
        }
        position++;
        if (now() >= until) break;
    }
    return position < pieces ? position : int64_t(DONE);
}

// Losses and hits of the rows from `first` to `end` of one run's set, each at its own place.
template <class M>
int64_t evaluate(M& model, const float* theta, const Data& data, int64_t run, int64_t first, int64_t end,
                 float* losses, uint8_t* right) {
    if (!model.ready()) return NO_MEMORY;
    Ints tokens[MOST_TOKENS];
    model.prepare(theta);
    for (; first < end; first += LANES) {
        const auto row_of = [](int64_t i) { return i; };
        const Ints target = gather(data, run, model.n_tokens(), first, end, row_of, tokens);
        const auto answer = model.template block<false>(theta, tokens, target, Vec{});
        for (int i = 0; i < LANES && first + i < end; i++) {
            losses[first + i] = answer.loss[i];
            right[first + i] = answer.right[i] != 0;
        }
    }
    return DONE;
}

// What Python calls for a model: `make` is the type of the model made from its structure.
#define EXPORTED(name, Structure, make)                                                                       \
    extern "C" int64_t sandbox_##name##_advance(                                                              \
        const Structure* structure, const Rows* rows, const Adam* adam, const Data* data,                     \
        const Stretch* stretch, int64_t position, int64_t nanoseconds) {                                      \
        return make(*structure, [&](auto& model, int64_t together) {                                          \
            return advance(model, together, *rows, *adam, *data, *stretch, position, nanoseconds);            \
        });                                                                                                   \
    }                                                                                                         \
    extern "C" int64_t sandbox_##name##_evaluate(const Structure* structure, const float* theta,              \
                                                 const Data* data, int64_t run, int64_t first, int64_t end,   \
                                                 float* losses, uint8_t* right) {                             \
        return make(*structure, [&](auto& model, int64_t) {                                                   \
            return evaluate(model, theta, *data, run, first, end, losses, right);                             \
        });                                                                                                   \
    }                                                                                                         \
    extern "C" int64_t sandbox_##name##_gradient(const Structure* structure, const float* theta,              \
                                                 const Data* data, int64_t run, const int32_t* order,         \
                                                 int64_t batch, float* loss, float* gradient_of_row) {        \
        return make(*structure, [&](auto& model, int64_t) -> int64_t {                                        \
            if (!model.ready()) return NO_MEMORY;                                                             \
            *loss = learn(model, *data, theta, run, order, batch);                                            \
            std::memcpy(gradient_of_row, model.gradient(), sizeof(float) * size_t(model.size()));             \
            return DONE;                                                                                      \
        });                                                                                                   \
    }

}  // namespace sandbox
