// The localization of a row: softmax over the formulas of scale * exp(-distance), from squared distances.
// Rows need not start at a multiple of the vector width, so loads and stores here are unaligned.

typedef float LooseVec __attribute__((vector_size(kWidth * 4), may_alias, aligned(4)));

DNFNET_INLINE Vec load_loose(const float* p) { return *reinterpret_cast<const LooseVec*>(p); }
DNFNET_INLINE void store_loose(float* p, Vec v) { *reinterpret_cast<LooseVec*>(p) = v; }

DNFNET_INLINE float sum_of(Vec v) {
  float sum = 0;
  for (int i = 0; i < kWidth; ++i) sum += v[i];
  return sum;
}

// exp(v) for v of at most 1, where no overflow threatens: 2^n times a polynomial in the rest.
DNFNET_INLINE Vec exp_small(Vec v) {
  const Vec x = maximum(splat(kExpLimit), v);
  const Vec shifted = x * kLog2E + kRoundShift;  // its low bits are the nearest integer
  const Vec n = shifted - kRoundShift;
  const Vec r = x - n * kLn2High - n * kLn2Low;
  const Vec p = ((((kE[5] * r + kE[4]) * r + kE[3]) * r + kE[2]) * r + kE[1]) * r + kE[0];
  const IntVec power = (reinterpret_cast<const IntVec&>(shifted) << 23) + (127 << 23);
  return (p * r * r + r + 1.0f) * reinterpret_cast<const Vec&>(power);
}

// Distance of each formula, bounded below as in the torch version, where the root has no gradient at 0.
DNFNET_INLINE Vec distance(Vec squared) { return root(maximum(splat(kTiny), squared)); }

static void local_forward(int64_t n, const float* squared, float scale, float* out) {
  // Values in (0, scale], scale at most 1: the softmax needs no shift by the largest.
  Vec total{};
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const Vec e = exp_small(scale * exp_small(-distance(load_loose(squared + i))));
    store_loose(out + i, e);
    total += e;
  }
  float sum = sum_of(total);
  for (; i < n; ++i) {
    out[i] = exp_small(scale * exp_small(-distance(splat(squared[i]))))[0];
    sum += out[i];
  }
  const float factor = 1.0f / sum;
  for (i = 0; i < n; ++i) out[i] *= factor;
}

// One vector of the backward pass: the gradient for the squared distances; adds up the one for scale.
DNFNET_INLINE Vec local_step(Vec squared, float scale, Vec centred, Vec& grad_scale) {
  const Vec d = distance(squared);
  const Vec near = exp_small(-d);
  grad_scale += centred * near;
  const Vec grad = -0.5f * scale * centred * near / d;
  // Below the bound the distance is constant. A NaN compares false and stays.
  return squared < splat(kTiny) ? Vec{} : grad;
}

static float local_backward(int64_t n, const float* squared, float scale, const float* out, const float* grad,
                            float* grad_squared) {
  Vec dot{}, grad_scale{};
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) dot += load_loose(out + i) * load_loose(grad + i);
  float mean = sum_of(dot);
  for (; i < n; ++i) mean += out[i] * grad[i];
  for (i = 0; i + kWidth <= n; i += kWidth) {
    const Vec centred = load_loose(out + i) * (load_loose(grad + i) - mean);
    store_loose(grad_squared + i, local_step(load_loose(squared + i), scale, centred, grad_scale));
  }
  float rest = 0;
  for (; i < n; ++i) {
    Vec sum{};
    grad_squared[i] = local_step(splat(squared[i]), scale, splat(out[i] * (grad[i] - mean)), sum)[0];
    rest += sum[0];
  }
  return sum_of(grad_scale) + rest;
}
