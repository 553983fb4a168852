// Calls that come back in time. Work runs on a stack of its own: when its time is up it is left where it
// stands, and the next call goes on there. So nothing that is computed knows how often it was interrupted.
#pragma once
#include <ucontext.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace sandbox {

struct Turns {
    ucontext_t caller, own;
    char* stack = nullptr;
    void (*work)(Turns*) = nullptr;
    void (*end)(Turns*) = nullptr;
    int64_t until = 0, unlooked = 0, look_after = 0;
    bool done = false;
};

// Says that `work` multiplications of vectors are done or about to be; goes back to the caller if it is time.
void breathe(int64_t work);

// Gives it a stack, to begin with the first call; false where memory is short.
bool prepared(Turns* turns);

// A model and what is to be done with it. Memory is the job's, so that it can end wherever it was left.
template <class Model, class Act>
struct Job : Turns {
    Model model;
    Act act;
    template <class Structure>
    Job(const Structure& structure, Act wanted) : model(structure), act(wanted) {}
};

// Null where memory is short. `structure` and what `act` points to stay with the caller until the job ends.
template <class Model, class Structure, class Act>
Turns* begin(const Structure& structure, Act act) {
    using Own = Job<Model, Act>;
    void* memory = std::malloc(sizeof(Own));
    if (!memory) return nullptr;
    Own* job = new (memory) Own(structure, act);
    job->work = [](Turns* turns) {
        Own* own = static_cast<Own*>(turns);
        own->act(own->model);
    };
    job->end = [](Turns* turns) {
        Own* own = static_cast<Own*>(turns);
        std::free(own->stack);
        own->~Own();
        std::free(own);
    };
    if (job->model.ready() && prepared(job)) return job;
    job->end(job);
    return nullptr;
}

}  // namespace sandbox
