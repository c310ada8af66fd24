// The kernels for x86-64 with avx512.
#if defined(__x86_64__)
#include <immintrin.h>

#include "block.h"
#include "constants.h"
#include "transpose.h"

#define DNFNET_WIDTH 16  // lanes of a vector

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,fma")
#endif

namespace dnfnet {
namespace avx512 {

constexpr int kColumns = 4, kTileFeatures = 4;  // 32 registers

#include "vec.inl"
#include "block.inl"
#include "block_backward.inl"
#include "lookup.inl"
#include "localization.inl"
#include "tanh.inl"

}  // namespace avx512

const Kernels kAvx512 = {"avx512", avx512::forward, avx512::backward,
                         avx512::tabulate, avx512::untabulate,
                         avx512::look_up, avx512::look_back,
                         avx512::local_forward, avx512::local_backward,
                         avx512::tanh_forward};

}  // namespace dnfnet

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
