#include <algorithm>

#include "run.h"
#include "threads.h"

namespace dnfnet {
namespace {

constexpr int64_t kRun = 64;  // rows that a thread takes at a time

int64_t runs_of(int64_t rows) { return (rows + kRun - 1) / kRun; }

}  // namespace

void run_local_forward(const Kernels& k, int threads, int64_t rows, int64_t n, const float* squared, float scale,
                       float* out) {
  parallel_for(runs_of(rows), threads, [&](int64_t run) {
    for (int64_t r = run * kRun; r < std::min(rows, (run + 1) * kRun); ++r)
      k.local_forward(n, squared + r * n, scale, out + r * n);
  });
}

float run_local_backward(const Kernels& k, int threads, int64_t rows, int64_t n, const float* squared, float scale,
                         const float* out, const float* grad, float* grad_squared) {
  std::vector<double> sums(static_cast<std::size_t>(runs_of(rows)), 0.0);
  parallel_for(runs_of(rows), threads, [&](int64_t run) {
    for (int64_t r = run * kRun; r < std::min(rows, (run + 1) * kRun); ++r)
      sums[static_cast<std::size_t>(run)] += static_cast<double>(
          k.local_backward(n, squared + r * n, scale, out + r * n, grad + r * n, grad_squared + r * n));
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return static_cast<float>(total);
}

}  // namespace dnfnet
