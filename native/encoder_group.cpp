// What Python calls for the encoder.
#include "encoder.h"

namespace sandbox {
namespace {

template <class Act>
int64_t with_encoder(const EncoderModel& m, Act act) {
    Encoder model(m);
    return act(model, 1);
}

}  // namespace

EXPORTED(encoder, EncoderModel, with_encoder)

}  // namespace sandbox
