// Vectors of kWidth floats by the compiler's vector extensions, and the functions on them.
// Included once per instruction set, inside that set's own namespace. No standard library here: an inline
// function compiled for a newer processor could otherwise be the one that the linker keeps for all.

constexpr int kWidth = DNFNET_WIDTH;
typedef float Vec __attribute__((vector_size(kWidth * 4), may_alias));
typedef int32_t IntVec __attribute__((vector_size(kWidth * 4), may_alias));
constexpr int kVecs = kRows / kWidth;  // vectors in a run of kRows

#define DNFNET_INLINE static inline __attribute__((always_inline))
#define DNFNET_UNROLL _Pragma("GCC unroll 16")

DNFNET_INLINE Vec load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
DNFNET_INLINE void store(float* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }

// The same at any address.
typedef float LooseVec __attribute__((vector_size(kWidth * 4), may_alias, aligned(4)));
DNFNET_INLINE Vec load_loose(const float* p) { return *reinterpret_cast<const LooseVec*>(p); }
DNFNET_INLINE void store_loose(float* p, Vec v) { *reinterpret_cast<LooseVec*>(p) = v; }

DNFNET_INLINE Vec splat(float s) { return s - Vec{}; }

// min and max in which a second operand that is NaN wins, and the square root: one instruction each on x86-64,
// where compilers do not find it by themselves.
#if DNFNET_WIDTH == 16
DNFNET_INLINE Vec minimum(Vec limit, Vec v) { return _mm512_min_ps(limit, v); }
DNFNET_INLINE Vec maximum(Vec limit, Vec v) { return _mm512_max_ps(limit, v); }
DNFNET_INLINE Vec root(Vec v) { return _mm512_sqrt_ps(v); }
#elif DNFNET_WIDTH == 8
DNFNET_INLINE Vec minimum(Vec limit, Vec v) { return _mm256_min_ps(limit, v); }
DNFNET_INLINE Vec maximum(Vec limit, Vec v) { return _mm256_max_ps(limit, v); }
DNFNET_INLINE Vec root(Vec v) { return _mm256_sqrt_ps(v); }
#elif defined(__x86_64__)
DNFNET_INLINE Vec minimum(Vec limit, Vec v) { return _mm_min_ps(limit, v); }
DNFNET_INLINE Vec maximum(Vec limit, Vec v) { return _mm_max_ps(limit, v); }
DNFNET_INLINE Vec root(Vec v) { return _mm_sqrt_ps(v); }
#else
DNFNET_INLINE Vec minimum(Vec limit, Vec v) { return limit < v ? limit : v; }
DNFNET_INLINE Vec maximum(Vec limit, Vec v) { return limit > v ? limit : v; }
DNFNET_INLINE Vec root(Vec v) {
  for (int i = 0; i < kWidth; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
}
#endif

// Rational minimax approximation of degree 7 over 8, saturated past the limit. NaN stays NaN.
DNFNET_INLINE Vec tanh(Vec v) {
  const Vec x = maximum(splat(-kTanhLimit), minimum(splat(kTanhLimit), v));
  const Vec u = x * x;
  const Vec p = ((kP[3] * u + kP[2]) * u + kP[1]) * u + kP[0];
  const Vec q = (((kQ[4] * u + kQ[3]) * u + kQ[2]) * u + kQ[1]) * u + kQ[0];
  return x * p / q;
}
