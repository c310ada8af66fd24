#include "threads.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace dnfnet {
namespace {

struct Loop {
  const int64_t n;
  const std::function<void(int64_t)>& body;
  std::atomic<int64_t> next{0};
  std::mutex guard;
  std::exception_ptr error;

  void work() {
    try {
      for (int64_t item = next++; item < n; item = next++) body(item);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(guard);
      error = std::current_exception();
      next = n;
    }
  }
};

}  // namespace

void parallel_for(int64_t n, int threads, const std::function<void(int64_t)>& body) {
  Loop loop{n, body, {}, {}, {}};
  std::vector<std::thread> helpers;
  try {
    for (int64_t i = 1; i < threads && i < n; ++i) helpers.emplace_back(&Loop::work, &loop);
  } catch (...) {
    // The system gives no more threads, or no memory for them: those that there are do the work.
  }
  loop.work();
  for (auto& helper : helpers) helper.join();
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace dnfnet
