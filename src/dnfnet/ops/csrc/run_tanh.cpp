#include <algorithm>

#include "before_tanh.h"
#include "run.h"
#include "threads.h"

namespace dnfnet {
namespace {

constexpr int64_t kRun = 1 << 14;  // numbers that a thread takes at a time

template <class Body>
void for_runs(int threads, int64_t n, const Body& body) {
  parallel_for((n + kRun - 1) / kRun, threads, [&](int64_t run) {
    const int64_t first = run * kRun;
    body(first, std::min(kRun, n - first));
  });
}

}  // namespace

void run_tanh_forward(const Kernels& k, int threads, int64_t n, const float* x, float* y) {
  for_runs(threads, n, [&](int64_t first, int64_t size) { k.tanh_forward(size, x + first, y + first); });
}

void run_tanh_backward(int threads, int64_t n, const float* y, const float* grad, float* out) {
  for_runs(threads, n, [&](int64_t first, int64_t size) { before_tanh(size, y + first, grad + first, out + first); });
}

}  // namespace dnfnet
