// Vectors of kWidth floats by the compiler's vector extensions, and the functions on them.
// Included once per instruction set, inside that set's own namespace. No standard library here: an inline
// function compiled for a newer processor could otherwise be the one that the linker keeps for all.

typedef float Vec __attribute__((vector_size(kWidth * 4), may_alias));
typedef int32_t IntVec __attribute__((vector_size(kWidth * 4), may_alias));
constexpr int kVecs = kRows / kWidth;  // vectors in a run of kRows

#define DNFNET_INLINE static inline __attribute__((always_inline))
#define DNFNET_UNROLL _Pragma("GCC unroll 16")

DNFNET_INLINE Vec load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
DNFNET_INLINE void store(float* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }
DNFNET_INLINE Vec splat(float s) { return s - Vec{}; }
// The order of the operands lets NaN through, as one instruction.
DNFNET_INLINE Vec at_most(Vec v, float limit) { return splat(limit) < v ? splat(limit) : v; }
DNFNET_INLINE Vec at_least(Vec v, float limit) { return splat(limit) > v ? splat(limit) : v; }

// Rational minimax approximation, degree 9 over 8, relative error 1e-8 before rounding; saturated past the limit.
DNFNET_INLINE Vec tanh(Vec v) {
  const Vec x = at_least(at_most(v, kTanhLimit), -kTanhLimit);
  const Vec u = x * x;
  const Vec p = (((kP[4] * u + kP[3]) * u + kP[2]) * u + kP[1]) * u + kP[0];
  const Vec q = (((kQ[4] * u + kQ[3]) * u + kQ[2]) * u + kQ[1]) * u + kQ[0];
  return x * p / q;
}
