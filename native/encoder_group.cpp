// What Python calls for the encoder.
#include "encoder.h"

namespace sandbox {
namespace {

template <class Act>
Turns* with_encoder(const EncoderModel& m, Act act) {
    return begin<Encoder>(m, act);
}

}  // namespace

EXPORTED(encoder, EncoderModel, with_encoder, 1)

}  // namespace sandbox
