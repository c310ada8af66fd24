#include <algorithm>

#include "run.h"
#include "threads.h"

namespace dnfnet {
namespace {

constexpr int64_t kRun = 64;  // rows that a thread takes at a time

int64_t runs_of(int64_t rows) { return (rows + kRun - 1) / kRun; }

}  // namespace

void run_local_forward(const Kernels& k, int threads, const Localized& batch, float* out) {
  parallel_for(runs_of(batch.rows), threads, [&](int64_t run) {
    for (int64_t r = run * kRun; r < std::min(batch.rows, (run + 1) * kRun); ++r) {
      const int64_t at = r * batch.n;
      k.local_forward(batch.n, batch.formulas + at, batch.squared + at, batch.scale, out + at);
    }
  });
}

float run_local_backward(const Kernels& k, int threads, const Localized& batch, const float* grad,
                         float* grad_formulas, float* grad_squared) {
  // One sum per run of rows, added up in order: the same for any number of threads.
  std::vector<double> sums(static_cast<std::size_t>(runs_of(batch.rows)), 0.0);
  parallel_for(runs_of(batch.rows), threads, [&](int64_t run) {
    for (int64_t r = run * kRun; r < std::min(batch.rows, (run + 1) * kRun); ++r) {
      const int64_t at = r * batch.n;
      sums[static_cast<std::size_t>(run)] += static_cast<double>(
          k.local_backward(batch.n, batch.formulas + at, batch.squared + at, batch.scale, grad + at,
                           grad_formulas + at, grad_squared + at));
    }
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return static_cast<float>(total);
}

}  // namespace dnfnet
