// Coefficients of the approximations, shared by every instruction set.
#pragma once

namespace dnfnet {

// tanh(x) = x P(x^2) / Q(x^2) up to the limit, past which float32 tanh is 1 within 2e-7.
constexpr float kTanhLimit = 8.0f;
constexpr float kP[] = {1.0f, 0.13413244485855103f, 0.003534023417159915f, 2.1250989448162727e-05f,
                        1.426915563484954e-08f};
constexpr float kQ[] = {1.0f, 0.46746566891670227f, 0.026022737845778465f, 0.00033488593180663884f,
                        8.145092920130992e-07f};

}  // namespace dnfnet
