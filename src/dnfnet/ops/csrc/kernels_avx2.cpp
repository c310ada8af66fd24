// The kernels for x86-64 with avx2.
#if defined(__x86_64__)
#include <immintrin.h>

#include "block.h"
#include "constants.h"
#include "transpose.h"

#define DNFNET_WIDTH 8  // lanes of a vector

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

namespace dnfnet {
namespace avx2 {

constexpr int kColumns = 2, kTileFeatures = 2;  // 16 registers

#include "vec.inl"
#include "block.inl"
#include "block_backward.inl"
#include "lookup.inl"
#include "localization.inl"
#include "tanh.inl"

}  // namespace avx2

const Kernels kAvx2 = {"avx2", avx2::forward, avx2::backward,
                       avx2::tabulate, avx2::untabulate,
                       avx2::look_up, avx2::look_back,
                       avx2::local_forward, avx2::local_backward,
                       avx2::tanh_forward};

}  // namespace dnfnet

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
