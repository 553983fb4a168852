// The visual model's memory, and what Python calls for it.
#include "group.h"
#include "visual_model.h"

namespace sandbox {
namespace {

constexpr int64_t STEPS_TOGETHER = 8;

// One piece of aligned memory, cut up as the model needs it.
struct VisualMemory {
    char* memory;
    VisualSpace space;

    explicit VisualMemory(const VisualModel& m) {
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
    VisualMemory(const VisualMemory&) = delete;
    ~VisualMemory() { std::free(memory); }
};

template <int D>
struct OwnedVisual : VisualMemory, Visual<D> {
    explicit OwnedVisual(const VisualModel& m) : VisualMemory(m), Visual<D>(m, space) {}
    bool ready() const { return memory != nullptr; }
};

// The widths that people look at are compiled on their own: their loops then vanish.
template <class Act>
Turns* with_visual(const VisualModel& m, Act act) {
    switch (m.d) {
        case 2: return begin<OwnedVisual<2>>(m, act);
        case 3: return begin<OwnedVisual<3>>(m, act);
        case 8: return begin<OwnedVisual<8>>(m, act);
        default: return begin<OwnedVisual<0>>(m, act);
    }
}

}  // namespace

EXPORTED(visual, VisualModel, with_visual, STEPS_TOGETHER)

}  // namespace sandbox
