// The backward pass of one formula, span by span: its literals are read where the forward pass kept them, or computed
// again and never leave the cache.

// From a group's literals to the gradients of their sums (delta, which may be z), and add those up for the bias.
DNFNET_INLINE void literal_gradients(const Formula& f, const Group& g, const float* grad, int n_vecs, const float* z,
                                     float* delta, float* grad_bias) {
  for (int32_t j = 0; j < g.n_conj; ++j) {
    const int32_t n = f.lengths[g.first_conj + j];
    Vec up[kVecs];
    DNFNET_UNROLL
    for (int v = 0; v < n_vecs; ++v) {
      const Vec c = conjunction(z + v * kWidth, n);
      up[v] = load(grad + v * kWidth) * (1.0f - c * c);
    }
    for (int32_t l = 0; l < n; ++l, z += kRows, delta += kRows, grad_bias += kMaxLanes) {
      Vec total = load(grad_bias);
      DNFNET_UNROLL
      for (int v = 0; v < n_vecs; ++v) {
        const Vec value = load(z + v * kWidth);
        const Vec slope = up[v] - up[v] * value * value;
        store(delta + v * kWidth, slope);
        total += slope;
      }
      store(grad_bias, total);
    }
  }
}

// The same, compiled once more for whole row blocks: with a constant number of vectors, up stays in registers.
DNFNET_INLINE void block_gradients(const Formula& f, const Group& g, const float* grad, int n_vecs, const float* z,
                                   float* delta, float* grad_bias) {
  if (n_vecs == kVecs)
    literal_gradients(f, g, grad, kVecs, z, delta, grad_bias);
  else
    literal_gradients(f, g, grad, n_vecs, z, delta, grad_bias);
}

// One span's literals: (row blocks of the span, literals of the group, kRows), and where they come from.
struct Span {
  const float* x;
  const float* delta;
  int64_t x_step, delta_step;  // from one row block to the next
  int64_t n_blocks;
  int last_vecs;  // vectors of rows in the last row block
};

// kLits literals x kFeatures features: products summed over the span's rows, lane by lane.
template <int kFeatures>
DNFNET_INLINE void add_products(const Span& span, const float* delta, const int32_t* offsets, float* sums) {
  Vec sum[kFeatures][kLits];
  DNFNET_UNROLL
  for (int k = 0; k < kFeatures; ++k)
    DNFNET_UNROLL
    for (int l = 0; l < kLits; ++l) sum[k][l] = load(sums + (k * kLits + l) * kMaxLanes);
  for (int64_t b = 0; b < span.n_blocks; ++b) {
    const float* x = span.x + b * span.x_step;
    const float* d = delta + b * span.delta_step;
    const int n_vecs = b + 1 < span.n_blocks ? kVecs : span.last_vecs;
    for (int v = 0; v < n_vecs; ++v) {
      Vec column[kFeatures];
      DNFNET_UNROLL
      for (int k = 0; k < kFeatures; ++k) column[k] = load(x + offsets[k] + v * kWidth);
      DNFNET_UNROLL
      for (int l = 0; l < kLits; ++l) {
        const Vec literal = load(d + l * kRows + v * kWidth);
        DNFNET_UNROLL
        for (int k = 0; k < kFeatures; ++k) sum[k][l] = literal * column[k] + sum[k][l];
      }
    }
  }
  DNFNET_UNROLL
  for (int k = 0; k < kFeatures; ++k)
    DNFNET_UNROLL
    for (int l = 0; l < kLits; ++l) store(sums + (k * kLits + l) * kMaxLanes, sum[k][l]);
}

static void add_weight_gradients(const Formula& f, const Group& g, const Span& span, float* sums) {
  for (int32_t b = 0; b < g.n_blocks; ++b) {
    const float* delta = span.delta + b * kLits * kRows;
    int32_t k = 0;
    for (; k + kTileFeatures <= f.n_features; k += kTileFeatures, sums += kTileFeatures * kLits * kMaxLanes)
      add_products<kTileFeatures>(span, delta, f.offsets + k, sums);
    const int32_t rest = f.n_features - k;
    if (kTileFeatures > 3 && rest == 3) add_products<3>(span, delta, f.offsets + k, sums);
    if (kTileFeatures > 2 && rest == 2) add_products<2>(span, delta, f.offsets + k, sums);
    if (rest == 1) add_products<1>(span, delta, f.offsets + k, sums);
    sums += rest * kLits * kMaxLanes;
  }
}

// The gradient for kFeatures features in kCols vectors of rows: the group's literals times their weights.
template <int kFeatures, int kCols>
DNFNET_INLINE void add_inputs(const Formula& f, const Group& g, int32_t first, const float* delta, float* x) {
  Vec sum[kFeatures][kCols];
  DNFNET_UNROLL
  for (int k = 0; k < kFeatures; ++k)
    DNFNET_UNROLL
    for (int c = 0; c < kCols; ++c) sum[k][c] = load(x + f.offsets[first + k] + c * kWidth);
  for (int32_t b = 0; b < g.n_blocks; ++b) {
    const float* weight = f.weight + ((g.first_block + b) * f.n_features + first) * kLits;
    for (int l = 0; l < kLits; ++l, delta += kRows) {
      Vec literal[kCols];
      DNFNET_UNROLL
      for (int c = 0; c < kCols; ++c) literal[c] = load(delta + c * kWidth);
      DNFNET_UNROLL
      for (int k = 0; k < kFeatures; ++k)
        DNFNET_UNROLL
        for (int c = 0; c < kCols; ++c) sum[k][c] = weight[k * kLits + l] * literal[c] + sum[k][c];
    }
  }
  DNFNET_UNROLL
  for (int k = 0; k < kFeatures; ++k)
    DNFNET_UNROLL
    for (int c = 0; c < kCols; ++c) store(x + f.offsets[first + k] + c * kWidth, sum[k][c]);
}

template <int kCols>
DNFNET_INLINE void add_columns(const Formula& f, const Group& g, const float* delta, float* x) {
  int32_t k = 0;
  for (; k + 4 <= f.n_features; k += 4) add_inputs<4, kCols>(f, g, k, delta, x);
  for (; k < f.n_features; ++k) add_inputs<1, kCols>(f, g, k, delta, x);
}

static void add_input_gradients(const Formula& f, const Group& g, const Span& span, float* x) {
  for (int64_t b = 0; b < span.n_blocks; ++b) {
    const int n_vecs = b + 1 < span.n_blocks ? kVecs : span.last_vecs;
    const float* delta = span.delta + b * span.delta_step;
    int v = 0;
    for (; v + kColumns <= n_vecs; v += kColumns)
      add_columns<kColumns>(f, g, delta + v * kWidth, x + b * span.x_step + v * kWidth);
    for (; v < n_vecs; ++v) add_columns<1>(f, g, delta + v * kWidth, x + b * span.x_step + v * kWidth);
  }
}

static void reduce_lanes(const float* vectors, int64_t n, float* out) {
  typedef float Quad __attribute__((vector_size(16), may_alias));
  for (int64_t i = 0; i < n; ++i, vectors += kMaxLanes) {
    const Quad* quads = reinterpret_cast<const Quad*>(vectors);
    Quad sum = quads[0];
    DNFNET_UNROLL
    for (int q = 1; q < kWidth / 4; ++q) sum += quads[q];
    out[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

static void clear(float* p, int64_t n) {
  for (int64_t i = 0; i < n; i += kWidth) store(p + i, Vec{});
}

// Ask for what will be read next, as far as the second-level cache: the first is full of what is read now.
static void fetch(const float* p, int64_t n) {
  for (int64_t i = 0; i < n; i += 16) __builtin_prefetch(p + i, 0, 2);
}

static Span make_span(const Rows& rows, int64_t first, int64_t literals, const float* scratch) {
  const int64_t left = rows.blocks() - first;
  const int64_t n = left < kSpan ? left : kSpan;
  const int64_t x_step = rows.d_in * kRows;
  return Span{rows.x + first * x_step, scratch, x_step, literals * kRows, n, vecs_in(rows, first + n - 1)};
}

static void backward(const Formula& f, const Rows& rows, const float* grad, const float* kept, const Gradients& out,
                     const Sums& sums, float* scratch) {
  alignas(64) float poison[kRows];
  for (int32_t i = 0; i < f.n_groups; ++i) {
    const Group& g = f.groups[i];
    const int64_t literals = g.n_blocks * kLits, products = literals * f.n_features;
    clear(out.weight, products * kMaxLanes);
    clear(out.bias, literals * kMaxLanes);
    for (int64_t first = 0; first < rows.blocks(); first += kSpan) {
      const Span span = make_span(rows, first, literals, scratch);
      for (int64_t b = 0; b < span.n_blocks; ++b) {
        const int n_vecs = b + 1 < span.n_blocks ? kVecs : span.last_vecs;
        const float* up = grad + (first + b) * kRows;
        float* delta = scratch + b * span.delta_step;
        // One call for each place that the literals come from: in place, the compiler must see that z is delta.
        if (kept) {
          const float* z = kept + kept_at(g, rows, first + b);
          fetch(z + kSpan * span.delta_step, span.delta_step);
          block_gradients(f, g, up, n_vecs, z, delta, out.bias);
        } else {
          group_literals(f, g, span.x + b * span.x_step, n_vecs, poison_of(f, rows, first + b, poison), delta);
          block_gradients(f, g, up, n_vecs, delta, delta, out.bias);
        }
        clear(delta + g.n_literals * kRows, (literals - g.n_literals) * kRows);
      }
      add_weight_gradients(f, g, span, out.weight);
      if (out.x) add_input_gradients(f, g, span, out.x + first * span.x_step);
    }
    reduce_lanes(out.weight, products, sums.weight + g.first_block * kLits * f.n_features);
    reduce_lanes(out.bias, literals, sums.bias + g.first_block * kLits);
  }
}
