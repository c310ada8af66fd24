#include "batch.h"

#include <algorithm>
#include <cmath>

#include "threads.h"

namespace dnfnet {
namespace {

// A batch smaller than this is transposed before a second thread would have started.
constexpr int64_t kSmall = 1 << 18;

}  // namespace

Batch::Batch(int threads, int64_t rows, int64_t d_in, const float* x) : rows_(rows), d_in_(d_in) {
  const int64_t blocks = view().blocks();
  x_.resize(static_cast<std::size_t>(blocks * d_in * kRows));
  finite_.resize(static_cast<std::size_t>(blocks));
  parallel_for(blocks, rows * d_in < kSmall ? 1 : threads, [&](int64_t b) { transpose_block(b, x); });
}

void Batch::transpose_block(int64_t block, const float* x) {
  const int64_t first = block * kRows, n = std::min(kRows, rows_ - first);
  float* to = x_.data() + block * d_in_ * kRows;
  float poison = 0;
  for (int64_t r = 0; r < n; ++r)
    for (int64_t f = 0; f < d_in_; ++f) {
      const float value = x[(first + r) * d_in_ + f];
      to[f * kRows + r] = value;
      poison += 0 * value;
    }
  finite_[static_cast<std::size_t>(block)] = !std::isnan(poison);
}

void sum_transposed(int threads, const Rows& shape, const std::vector<Buffer>& parts, float* out) {
  const int64_t size = shape.d_in * kRows;
  parallel_for(shape.blocks(), shape.n_rows * shape.d_in < kSmall ? 1 : threads, [&](int64_t b) {
    Buffer total(static_cast<std::size_t>(size), 0.0f);
    for (const Buffer& part : parts)
      for (int64_t i = 0; i < size; ++i) total[static_cast<std::size_t>(i)] += part[static_cast<std::size_t>(b * size + i)];
    const int64_t first = b * kRows, n = std::min(kRows, shape.n_rows - first);
    for (int64_t r = 0; r < n; ++r)
      for (int64_t f = 0; f < shape.d_in; ++f)
        out[(first + r) * shape.d_in + f] = total[static_cast<std::size_t>(f * kRows + r)];
  });
}

}  // namespace dnfnet
