// The block, forward and backward, for one instruction set. Rows are the lanes of the vectors.

// kLits literals of kCols vectors of rows: tanh(weights * features + bias), written with kRows between literals.
template <int kCols>
DNFNET_INLINE void literals(const Formula& f, int64_t block, const float* x, const float* poison, float* z) {
  const float* weight = f.weight + block * f.n_features * kLits;
  Vec sum[kLits][kCols];
  DNFNET_UNROLL
  for (int l = 0; l < kLits; ++l)
    DNFNET_UNROLL
    for (int c = 0; c < kCols; ++c) sum[l][c] = splat(f.bias[block * kLits + l]);
  for (int32_t k = 0; k < f.n_features; ++k, weight += kLits) {
    const float* feature = x + f.offsets[k];
    Vec column[kCols];
    DNFNET_UNROLL
    for (int c = 0; c < kCols; ++c) column[c] = load(feature + c * kWidth);
    DNFNET_UNROLL
    for (int l = 0; l < kLits; ++l)
      DNFNET_UNROLL
      for (int c = 0; c < kCols; ++c) sum[l][c] = weight[l] * column[c] + sum[l][c];
  }
  if (poison)
    for (int c = 0; c < kCols; ++c)
      for (int l = 0; l < kLits; ++l) sum[l][c] += load(poison + c * kWidth);
  DNFNET_UNROLL
  for (int l = 0; l < kLits; ++l)
    DNFNET_UNROLL
    for (int c = 0; c < kCols; ++c) store(z + l * kRows + c * kWidth, tanh(sum[l][c]));
}

// All literals of a group, for n_vecs vectors of one row block.
static void group_literals(const Formula& f, const Group& g, const float* x, int n_vecs, const float* poison,
                           float* z) {
  for (int32_t b = 0; b < g.n_blocks; ++b, z += kLits * kRows) {
    int v = 0;
    for (; v + kColumns <= n_vecs; v += kColumns)
      literals<kColumns>(f, g.first_block + b, x + v * kWidth, poison ? poison + v * kWidth : nullptr,
                         z + v * kWidth);
    for (; v < n_vecs; ++v)
      literals<1>(f, g.first_block + b, x + v * kWidth, poison ? poison + v * kWidth : nullptr, z + v * kWidth);
  }
}

// Zero times each feature that the formula leaves out: not zero where that feature is not finite, and then the
// output must not be finite either, as it is not when zero weights are multiplied.
static const float* poison_of(const Formula& f, const Rows& rows, int64_t block, float* poison) {
  if (rows.finite[block]) return nullptr;
  const float* x = rows.x + block * rows.d_in * kRows;
  for (int64_t r = 0; r < kRows; ++r) poison[r] = 0;
  for (int64_t feature = 0, k = 0; feature < rows.d_in; ++feature) {
    if (k < f.n_features && f.offsets[k] == feature * kRows) {
      ++k;
      continue;
    }
    for (int64_t r = 0; r < kRows; ++r) poison[r] += 0 * x[feature * kRows + r];
  }
  return poison;
}

DNFNET_INLINE int vecs_in(const Rows& rows, int64_t block) {
  const int64_t left = rows.n_rows - block * kRows;
  return left >= kRows ? kVecs : static_cast<int>((left + kWidth - 1) / kWidth);
}

// The conjunction of n literals in one vector of rows.
DNFNET_INLINE Vec conjunction(const float* z, int32_t n) {
  Vec sum = load(z);
  for (int32_t l = 1; l < n; ++l) sum += load(z + l * kRows);
  return tanh(sum + (1.5f - static_cast<float>(n)));
}

static void add_conjunctions(const Formula& f, const Group& g, const float* z, int n_vecs, float* out) {
  for (int32_t j = 0; j < g.n_conj; ++j) {
    const int32_t n = f.lengths[g.first_conj + j];
    for (int v = 0; v < n_vecs; ++v) {
      float* total = out + v * kWidth;
      store(total, load(total) + conjunction(z + v * kWidth, n));
    }
    z += n * kRows;
  }
}

// From the sum of its conjunctions to the formula, in one row block.
DNFNET_INLINE void finish_formula(const Formula& f, int n_vecs, float* out) {
  const float shift = static_cast<float>(f.n_conj) - 1.5f;
  for (int v = 0; v < n_vecs; ++v) {
    const Vec sum = load(out + v * kWidth) + shift;
    store(out + v * kWidth, f.sums ? sum : tanh(sum));
  }
}

// Where the kept literals of one group and row block begin.
DNFNET_INLINE int64_t kept_at(const Group& g, const Rows& rows, int64_t block) {
  return (g.first_block * rows.blocks() + block * g.n_blocks) * kLits * kRows;
}

static void forward(const Formula& f, const Rows& rows, float* out, float* scratch, float* kept) {
  alignas(64) float poison[kRows];
  for (int64_t b = 0; b < rows.blocks(); ++b, out += kRows) {
    const float* x = rows.x + b * rows.d_in * kRows;
    const float* bad = poison_of(f, rows, b, poison);
    const int n_vecs = vecs_in(rows, b);
    for (int v = 0; v < n_vecs; ++v) store(out + v * kWidth, Vec{});
    for (int32_t i = 0; i < f.n_groups; ++i) {
      const Group& g = f.groups[i];
      float* z = kept ? kept + kept_at(g, rows, b) : scratch;
      group_literals(f, g, x, n_vecs, bad, z);
      add_conjunctions(f, g, z, n_vecs, out);
    }
    finish_formula(f, n_vecs, out);
  }
}
