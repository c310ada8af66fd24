// Formulas in strips: those that one thread takes at a time. Their outputs for a row are half a cache line.
#pragma once
#include <algorithm>

#include "before_tanh.h"
#include "pack.h"
#include "threads.h"
#include "transpose.h"

namespace dnfnet {

constexpr int64_t kStrip = 8;

inline std::size_t size(int64_t n) { return static_cast<std::size_t>(n); }

inline int64_t strips_of(int64_t n_formulas) { return (n_formulas + kStrip - 1) / kStrip; }

// Where a formula's kept literals begin; null if none are kept.
template <class Float>
Float* kept_of(Float* kept, const Starts& starts, const Rows& rows, int64_t formula) {
  return kept ? kept + starts.padded[size(formula)] * rows.blocks() * kRows : nullptr;
}

// The outputs y (rows, formulas) of all formulas, each strip on one thread. make() gives what computes on a thread:
// called with a formula and where its outputs for the padded rows go.
template <class Make>
void forward_strips(int threads, const Rows& rows, int64_t n_formulas, const Make& make, float* y) {
  const int64_t padded = rows.blocks() * kRows;
  parallel_for(strips_of(n_formulas), threads, [&](int64_t strip) {
    const int64_t first = strip * kStrip, n = std::min(kStrip, n_formulas - first);
    Buffer out(size(n * padded));
    auto compute = make();
    for (int64_t i = 0; i < n; ++i) compute(first + i, out.data() + i * padded);
    transpose(n, rows.n_rows, out.data(), padded, y + first, n_formulas);
  });
}

// For each formula of a strip: back(formula, grad) with the gradient before its tanh, zero in the rows that fill up.
// Without y, that is what grad is.
template <class Back>
void backward_strip(const Rows& rows, int64_t n_formulas, int64_t strip, const float* y, const float* grad,
                    const Back& back) {
  const int64_t first = strip * kStrip, n = std::min(kStrip, n_formulas - first), padded = rows.blocks() * kRows;
  Buffer up(size(n * padded), 0.0f);
  transpose(rows.n_rows, n, grad + first, n_formulas, up.data(), padded);
  if (y) {
    Buffer out(size(n * padded), 0.0f);
    transpose(rows.n_rows, n, y + first, n_formulas, out.data(), padded);
    before_tanh(n * padded, out.data(), up.data(), up.data());
  }
  for (int64_t i = 0; i < n; ++i) back(first + i, up.data() + i * padded);
}

}  // namespace dnfnet
