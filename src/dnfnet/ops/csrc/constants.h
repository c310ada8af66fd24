// Coefficients of the approximations, shared by every instruction set.
#pragma once

namespace dnfnet {

// tanh(x) = x P(x^2) / Q(x^2), a minimax fit of the relative error (1.5e-7, with rounding 4e-7) up to the limit,
// past which tanh is 1 within 3e-7. It never exceeds 1, so that 1 - tanh^2 is never negative.
constexpr float kTanhLimit = 8.0f;
constexpr float kP[] = {0.9999998807907104f, 0.12925660610198975f, 0.0029510215390473604f, 1.142839937529061e-05f};
constexpr float kQ[] = {1.0f, 0.46258875727653503f, 0.023815544322133064f, 0.00023866884293965995f,
                        2.459203471971705e-07f};

}  // namespace dnfnet
