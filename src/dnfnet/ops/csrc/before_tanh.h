// The gradient before a tanh from that after it. One function for the block and for the operation of its own, which
// shall give the same bits.
#pragma once
#include <cstdint>

namespace dnfnet {

// y: the tanh; out may be grad.
inline void before_tanh(int64_t n, const float* y, const float* grad, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = grad[i] * (1.0f - y[i] * y[i]);
}

}  // namespace dnfnet
