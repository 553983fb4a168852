// What Python calls for the visual model: a stretch of updates of some runs, and the evaluation of all rows.
#include <ctime>

#include "adam.h"
#include "visual_model.h"

namespace sandbox {
namespace {

constexpr int64_t STEPS_TOGETHER = 8;  // of one run, so that its row stays in the nearest cache

int64_t now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// One piece of aligned memory, cut up as the model needs it.
struct Memory {
    char* memory;
    VisualSpace space;

    explicit Memory(const VisualModel& m) {
        const int64_t tables = int64_t(m.vocab) * vectors(m.n_tokens), row = vectors(m.size);
        const int64_t n = tables * (2 + 3 * m.d + LANES * (1 + m.d)) + 2 * m.d_ff + row * (LANES + 1);
        memory = static_cast<char*>(std::aligned_alloc(sizeof(Vec), n * sizeof(Vec)));
        if (!memory) return;
        std::memset(memory, 0, n * sizeof(Vec));
        Vec* next = reinterpret_cast<Vec*>(memory);
        const auto take = [&next](int64_t count) { return next += count, next - count; };
        space.sum_x = take(tables * m.d), space.z = take(tables * m.d), space.values = take(tables * m.d);
        space.radius = take(tables), space.scores = take(tables);
        space.hidden = take(m.d_ff), space.slope = take(m.d_ff);
        space.wanted = take(row * LANES);
        space.wanted_score = take(tables * LANES), space.wanted_value = take(tables * LANES * m.d);
        space.gradient = reinterpret_cast<float*>(take(row));
    }
    ~Memory() { std::free(memory); }
};

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

Vec weights(int64_t left, float each) {
    Vec x;
    for (int i = 0; i < LANES; i++) x[i] = i < left ? each : 0.0f;
    return x;
}

template <int D>
float gradient(Visual<D>& model, const VisualModel& m, const Data& data, const float* theta, int64_t run,
               const int32_t* order, int64_t batch) {
    Ints tokens[MOST_TOKENS];
    Vec loss{};
    model.tables(theta);
    model.clear();
    for (int64_t first = 0; first < batch; first += LANES) {
        const auto row_of = [order](int64_t i) { return int64_t(order[i]); };
        const Ints target = gather(data, run, m.n_tokens, first, batch, row_of, tokens);
        const Vec weight = weights(batch - first, 1.0f / float(batch));
        const Vec found = model.template block<true>(theta, tokens, target, weight).loss;
        loss += weight > 0.0f ? found : Vec{};
    }
    model.finish(theta);
    return sum(loss) / float(batch);
}

// Pieces are (stretch of a few steps, run); `position` counts them. Returns where it stopped: the time was up.
template <int D>
int64_t advance(const VisualModel& m, const Rows& rows, const Adam& adam, const Data& data,
                const Stretch& stretch, int64_t position, int64_t nanoseconds) {
    Memory memory(m);
    if (!memory.memory) return -1;
    Visual<D> model(m, memory.space);
    const int64_t until = now() + nanoseconds;
    const int64_t all_pieces = (stretch.n_steps + STEPS_TOGETHER - 1) / STEPS_TOGETHER * rows.n_runs;
    while (position < all_pieces) {
        const int64_t run = position % rows.n_runs, first = position / rows.n_runs * STEPS_TOGETHER;
        const int64_t end = first + STEPS_TOGETHER < stretch.n_steps ? first + STEPS_TOGETHER : stretch.n_steps;
        float* theta = rows.theta + run * rows.stride;
        for (int64_t step = first; step < end; step++) {
            const int32_t* order = stretch.order + run * stretch.order_apart + step * stretch.batch;
            stretch.losses[step * stretch.losses_apart + run] =
                gradient(model, m, data, theta, run, order, stretch.batch);
            if (stretch.gradient && step == stretch.n_steps - 1) {
                const size_t bytes = sizeof(float) * size_t(m.size);
                std::memcpy(stretch.gradient + run * rows.stride, memory.space.gradient, bytes);
                std::memcpy(stretch.before + run * rows.stride, theta, bytes);
            }
            update(adam, step, theta, rows.mean + run * rows.stride, rows.square + run * rows.stride,
                   memory.space.gradient, m.size);
        }
        position++;
        if (now() >= until) break;
    }
    return position < all_pieces ? position : -2;
}

template <int D>
int64_t evaluate(const VisualModel& m, const float* theta, const Data& data, int64_t run, int64_t n_rows,
                 float* losses, uint8_t* right) {
    Memory memory(m);
    if (!memory.memory) return -1;
    Visual<D> model(m, memory.space);
    Ints tokens[MOST_TOKENS];
    model.tables(theta);
    for (int64_t first = 0; first < n_rows; first += LANES) {
        const auto row_of = [](int64_t i) { return i; };
        const Ints target = gather(data, run, m.n_tokens, first, n_rows, row_of, tokens);
        const auto answer = model.template block<false>(theta, tokens, target, Vec{});
        for (int i = 0; i < LANES && first + i < n_rows; i++) {
            losses[first + i] = answer.loss[i];
            right[first + i] = answer.right[i] != 0;
        }
    }
    return -2;
}

}  // namespace
}  // namespace sandbox

using namespace sandbox;

// The widths that people look at are compiled on their own: their loops then vanish.
#define FOR_WIDTH(d, call)            \
    switch (d) {                      \
        case 2: return call<2> ARGUMENTS; \
        case 3: return call<3> ARGUMENTS; \
        case 8: return call<8> ARGUMENTS; \
        default: return call<0> ARGUMENTS; \
    }

extern "C" {

// -2: done; -1: no memory; else where to go on.
int64_t sandbox_visual_advance(const VisualModel* model, const Rows* rows, const Adam* adam, const Data* data,
                               const Stretch* stretch, int64_t position, int64_t nanoseconds) {
#define ARGUMENTS (*model, *rows, *adam, *data, *stretch, position, nanoseconds)
    FOR_WIDTH(model->d, advance)
#undef ARGUMENTS
}

// Losses and hits of one run's rows: -2, or -1 where memory is short.
int64_t sandbox_visual_evaluate(const VisualModel* model, const float* theta, const Data* data, int64_t run,
                                int64_t n_rows, float* losses, uint8_t* right) {
#define ARGUMENTS (*model, theta, *data, run, n_rows, losses, right)
    FOR_WIDTH(model->d, evaluate)
#undef ARGUMENTS
}

// The gradient (row) and loss of one batch: what the tests compare with torch.
float sandbox_visual_gradient(const VisualModel* model, const float* theta, const Data* data, int64_t run,
                              const int32_t* order, int64_t batch, float* gradient_of_row) {
    Memory memory(*model);
    if (!memory.memory) return -1.0f;
    Visual<0> visual(*model, memory.space);
    const float loss = gradient(visual, *model, *data, theta, run, order, batch);
    std::memcpy(gradient_of_row, memory.space.gradient, sizeof(float) * size_t(model->size));
    return loss;
}
}
