// How a job is entered, left and taken up again; what Python calls for every job.
#include "turns.h"

#include <ctime>

namespace sandbox {
namespace {

constexpr size_t STACK = size_t(1) << 20;
constexpr int64_t LOOK_AFTER = 1 << 15;  // multiplications of vectors, some ten microseconds

thread_local Turns* running = nullptr;

int64_t now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void enter() {
    Turns* turns = running;
    turns->work(turns);
    turns->done = true;  // and back to whoever called last
}

}  // namespace

bool prepared(Turns* turns) {
    turns->stack = static_cast<char*>(std::malloc(STACK));
    if (!turns->stack || getcontext(&turns->own)) return false;
    turns->own.uc_stack.ss_sp = turns->stack;
    turns->own.uc_stack.ss_size = STACK;
    turns->own.uc_link = &turns->caller;
    makecontext(&turns->own, enter, 0);
    return true;
}

void breathe(int64_t work) {
    Turns* turns = running;
    turns->unlooked += work;
    if (turns->unlooked < turns->look_after) return;
    turns->unlooked = 0;
    if (now() >= turns->until) swapcontext(&turns->own, &turns->caller);
}

}  // namespace sandbox

// Works on for about that long, or with 0 to the next place where it may be left; always in the thread that
// began. 1 once all is done.
extern "C" int32_t sandbox_go_on(sandbox::Turns* turns, int64_t nanoseconds) {
    turns->until = sandbox::now() + nanoseconds;
    turns->look_after = nanoseconds > 0 ? sandbox::LOOK_AFTER : 0;
    sandbox::running = turns;
    swapcontext(&turns->caller, &turns->own);
    sandbox::running = nullptr;
    return turns->done;
}

// Frees a job, done or not.
extern "C" void sandbox_end(sandbox::Turns* turns) { turns->end(turns); }
