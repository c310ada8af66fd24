// One row localized: formulas times a softmax over them of scale * exp(-distance), from squared distances.
// Rows need not start at a multiple of the vector width.

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

// What one vector of formulas has before the softmax is normalised.
struct Near {
  Vec near, weight;  // exp(-distance), and exp(scale * near), which in (1, e] needs no shift by the largest
};

DNFNET_INLINE Near near_of(Vec squared, float scale) {
  const Vec near = exp_small(-distance(squared));
  return Near{near, exp_small(scale * near)};
}

// out = formulas * softmax(scale * near)
static void local_forward(int64_t n, const float* formulas, const float* squared, float scale, float* out) {
  Vec total{};
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const Vec weight = near_of(load_loose(squared + i), scale).weight;
    store_loose(out + i, weight * load_loose(formulas + i));
    total += weight;
  }
  float sum = sum_of(total);
  for (; i < n; ++i) {
    const float weight = near_of(splat(squared[i]), scale).weight[0];
    out[i] = weight * formulas[i];
    sum += weight;
  }
  const float factor = 1.0f / sum;
  for (i = 0; i < n; ++i) out[i] *= factor;
}

// The gradient for one vector of squared distances, from that of the values in the softmax.
DNFNET_INLINE Vec squared_gradient(Vec squared, Vec near, Vec grad) {
  const Vec result = -0.5f * grad * near / distance(squared);
  // Below the bound the distance is constant. A NaN compares false and stays.
  return squared < splat(kTiny) ? Vec{} : result;
}

// Weights and nearnesses are computed again and wait in the output arrays for the sums that they go into.
static float local_backward(int64_t n, const float* formulas, const float* squared, float scale, const float* grad,
                            float* grad_formulas, float* grad_squared) {
  Vec totals{}, dots{}, scales{};
  float total = 0, dot = 0, grad_scale = 0;
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const Near values = near_of(load_loose(squared + i), scale);
    store_loose(grad_formulas + i, values.weight);
    store_loose(grad_squared + i, values.near);
    totals += values.weight;
    dots += values.weight * load_loose(grad + i) * load_loose(formulas + i);
  }
  for (; i < n; ++i) {
    const Near values = near_of(splat(squared[i]), scale);
    grad_formulas[i] = values.weight[0];
    grad_squared[i] = values.near[0];
    total += values.weight[0];
    dot += values.weight[0] * grad[i] * formulas[i];
  }
  const float factor = 1.0f / (sum_of(totals) + total), mean = (sum_of(dots) + dot) * factor;
  for (i = 0; i + kWidth <= n; i += kWidth) {
    const Vec up = load_loose(grad + i), weight = load_loose(grad_formulas + i) * factor;
    const Vec near = load_loose(grad_squared + i), value = weight * (up * load_loose(formulas + i) - mean);
    store_loose(grad_formulas + i, up * weight);
    store_loose(grad_squared + i, squared_gradient(load_loose(squared + i), near, scale * value));
    scales += value * near;
  }
  for (; i < n; ++i) {
    const float weight = grad_formulas[i] * factor, near = grad_squared[i];
    const float value = weight * (grad[i] * formulas[i] - mean);
    grad_formulas[i] = grad[i] * weight;
    grad_squared[i] = squared_gradient(splat(squared[i]), splat(near), splat(scale * value))[0];
    grad_scale += value * near;
  }
  return sum_of(scales) + grad_scale;
}
