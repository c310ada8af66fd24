// The machine's peak: multiply-adds a second on n threads, from a loop that does nothing else.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float Vec __attribute__((vector_size(kLanes * 4)));
constexpr int kChains = 12;  // enough to hide the latency, few enough for 16 registers
constexpr long kRounds = 20000000;

static void work(float* sink) {
  Vec sums[kChains];
  // Different values that the compiler cannot know, or it would compute one chain for all.
#pragma GCC unroll 12
  for (int c = 0; c < kChains; ++c) sums[c] = Vec{} + (*sink + static_cast<float>(c));
  const Vec a = Vec{} + 0.5f, b = Vec{} + 0.25f;
  for (long i = 0; i < kRounds; ++i)
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = sums[c] * a + b;
#pragma GCC unroll 12
  for (int c = 0; c < kChains; ++c) *sink += sums[c][0];
}

int main(int, char** argv) {
  const int n = std::atoi(argv[1]);
  std::vector<float> sinks(n * 64);
  std::vector<std::thread> threads;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < n; ++i) threads.emplace_back(work, &sinks[i * 64]);
  for (auto& thread : threads) thread.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%g\n", static_cast<double>(n) * kRounds * kChains * kLanes / seconds.count());
  return sinks[0] == 42;
}
