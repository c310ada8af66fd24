// Coefficients of the approximations, shared by every instruction set.
#pragma once

namespace dnfnet {

// tanh(x) = x P(x^2) / Q(x^2), a minimax fit of the relative error (1.5e-7, with rounding 4e-7) up to the limit,
// past which tanh is 1 within 3e-7. It never exceeds 1, so that 1 - tanh^2 is never negative; and at this very
// limit it is 1 exactly, with and without fused multiply-adds, so that a saturated literal has no gradient.
constexpr float kTanhLimit = 7.882220268249512f;
constexpr float kP[] = {0.9999998807907104f, 0.12925660610198975f, 0.0029510215390473604f, 1.142839937529061e-05f};
constexpr float kQ[] = {1.0f, 0.46258875727653503f, 0.023815544322133064f, 0.00023866884293965995f,
                        2.459203471971705e-07f};

// exp(x) = 2^n (1 + r + r^2 E(r)) with r = x - n ln 2: Cephes' single precision coefficients.
constexpr float kExpLimit = -87.0f;
constexpr float kLog2E = 1.44269504088896341f;
constexpr float kRoundShift = 12582912.0f;  // 1.5 * 2^23
constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
constexpr float kE[] = {5.0000001201e-1f, 1.6666665459e-1f, 4.1665795894e-2f,
                        8.3334519073e-3f, 1.3981999507e-3f, 1.9875691500e-4f};

// The smallest normal float: the bound that the torch version puts under a squared distance.
constexpr float kTiny = 1.17549435e-38f;

}  // namespace dnfnet
