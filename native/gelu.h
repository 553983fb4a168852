// x Phi(x), and its slope beside it.
#pragma once
#include "vector.h"

namespace sandbox {

struct Gelu {
    Vec value, slope;
};

// x Phi(x) - x/2 is even. Each column is a polynomial of it about a multiple of GELU_STEP, lowest power
// first: least squares in value and slope, fitted here; both are then within 2e-7, as torch's own. Beyond the last
// but one it is |x|/2.
constexpr float GELU_STEP = 0.40625f;
alignas(64) constexpr float GELU_PARTS[7][LANES] = {
    {0.0f, 6.407397e-02f, 2.3704493e-01f, 4.735215e-01f, 7.278679e-01f, 9.727355e-01f, 1.2007257f, 1.4155354f,
     1.6231247f, 1.8276571f, 2.0311513f, 2.2343574f, 2.4374974f, 2.6406248f, 2.84375f, 3.046875f},
    {0.0f, 3.0695376e-01f, 5.2476174e-01f, 6.1988854e-01f, 6.2104344e-01f, 5.818595e-01f, 5.424588e-01f,
     5.17666e-01f, 5.060174e-01f, 5.016963e-01f, 5.0039834e-01f, 5.0007826e-01f, 5.000129e-01f, 5.000018e-01f,
     5.000002e-01f, 0.5f},
    {3.9894223e-01f, 3.370304e-01f, 1.9212468e-01f, 4.884847e-02f, -3.4125537e-02f, -5.3888265e-02f,
     -4.0306155e-02f, -2.1292476e-02f, -8.68686e-03f, -2.8360265e-03f, -7.543749e-04f, -1.6521552e-04f,
     -2.9992501e-05f, -4.5337565e-06f, -5.725432e-07f, 0.0f},
    {0.0f, -9.537734e-02f, -1.296997e-01f, -9.696459e-02f, -3.922724e-02f, 2.1597864e-03f, 1.6131014e-02f,
     1.3552595e-02f, 7.2131585e-03f, 2.8484259e-03f, 8.806329e-04f, 2.1866198e-04f, 4.4237775e-05f,
     7.358403e-06f, 1.0125076e-06f, 0.0f},
    {-6.648689e-02f, -4.39569e-02f, 2.2120548e-03f, 3.3148695e-02f, 3.334395e-02f, 1.6599784e-02f,
     1.9518269e-03f, -3.7282894e-03f, -3.51967e-03f, -1.8530787e-03f, -6.9720164e-04f, -2.0149387e-04f,
     -4.62039e-05f, -8.55754e-06f, -1.2944164e-06f, 0.0f},
    {0.0f, 1.9902915e-02f, 2.14854e-02f, 7.477609e-03f, -5.7340264e-03f, -8.803367e-03f, -5.010971e-03f,
     -9.5531216e-04f, 7.147047e-04f, 7.5092673e-04f, 3.8528608e-04f, 1.3690669e-04f, 3.6817226e-05f,
     7.784312e-06f, 1.3209011e-06f, 0.0f},
    {9.860144e-03f, 5.0663427e-03f, -3.5121269e-03f, -6.7097307e-03f, -3.4736495e-03f, 6.498756e-04f,
     1.9675773e-03f, 1.1955308e-03f, 2.490375e-04f, -1.3020723e-04f, -1.3821878e-04f, -6.635617e-05f,
     -2.1660322e-05f, -5.2986657e-06f, -1.012228e-06f, 0.0f},
};

inline void gelu(Part x, Part& of_value, Part& of_slope) {
    const PartInts sign = (PartInts)x & INT32_MIN;
    const Part size = (Part)((PartInts)x ^ sign);
    // Numbers above 0 are in the order of their bits, and NaN is beyond all.
    const PartInts place = (PartInts)fused(size, 1.0f / GELU_STEP, part(ROUNDS));
    const PartInts last = (PartInts)part(ROUNDS + LANES - 1), at = place < last ? place : last;
    const Part rest = fused((Part)at - ROUNDS, -GELU_STEP, size);
    Part slope = looked_up(GELU_PARTS[6], at);
    Part value = fused(slope, rest, looked_up(GELU_PARTS[5], at));
    for (int power = 4; power >= 0; power--) {
        slope = fused(slope, rest, value);
        value = fused(value, rest, looked_up(GELU_PARTS[power], at));
    }
    of_value = fused(x, 0.5f, value), of_slope = (Part)((PartInts)slope ^ sign) + 0.5f;
}
inline Gelu gelu(Vec x) {
    Gelu g;
    for (int i = 0; i < PARTS; i++) gelu(part(x, i), part(g.value, i), part(g.slope, i));
    return g;
}

}  // namespace sandbox
