// The machine's peak: multiply-adds a second on n threads, from a loop that does nothing else.
#include <cstdio>
#include <cstdlib>
#include <ctime>
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
  const std::clock_t start = std::clock();
  for (int i = 0; i < n; ++i) threads.emplace_back(work, &sinks[i * 64]);
  for (auto& thread : threads) thread.join();
  // Processor time, of all threads together: what others do on the machine then does not count.
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / n;
  std::printf("%g\n", static_cast<double>(n) * kRounds * kChains * kLanes / seconds);
  return sinks[0] == 42;
}
