// The kernels for the processor that the compiler takes for granted: SSE2 on x86-64, NEON on 64-bit ARM.
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "block.h"
#include "constants.h"
#include "transpose.h"

#define DNFNET_WIDTH 4  // lanes of a vector

namespace dnfnet {
namespace baseline {

#if defined(__x86_64__)
constexpr int kColumns = 2, kTileFeatures = 2;  // 16 registers
#else
constexpr int kColumns = 4, kTileFeatures = 4;  // 32 registers
#endif

#include "vec.inl"
#include "block.inl"
#include "block_backward.inl"
#include "lookup.inl"
#include "localization.inl"
#include "tanh.inl"

}  // namespace baseline

const Kernels kBaseline = {"baseline", baseline::forward, baseline::backward,
                           baseline::tabulate, baseline::untabulate,
                           baseline::look_up, baseline::look_back,
                           baseline::local_forward, baseline::local_backward,
                           baseline::tanh_forward};

}  // namespace dnfnet
