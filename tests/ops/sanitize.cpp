// Runs every entry point of the kernel on small and odd sizes: `make sanitize` builds this with AddressSanitizer
// and UndefinedBehaviorSanitizer, for which Python itself would be in the way. Every array has its exact size.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "pack.h"
#include "run.h"

using namespace dnfnet;

extern "C" {
const void* dnfnet_kernels(const char* name);
int dnfnet_forward(const void*, int, const Parameters*, int64_t, const float*, float*, float*);
int64_t dnfnet_kept_literals(const Parameters*);
int dnfnet_backward(const void*, int, const Parameters*, int64_t, const float*, const float*, const float*,
                    const float*, const DenseGradients*);
void* dnfnet_pack(const void*, const Parameters*);
int dnfnet_packed(const void*, int, const void*, int64_t, const float*, float*, int*);
void dnfnet_free(void*);
int dnfnet_local_forward(const void*, int, const Localized*, float*);
int dnfnet_tanh_forward(const void*, int, int64_t, const float*, float*);
int dnfnet_tanh_backward(int, int64_t, const float*, const float*, float*);
int dnfnet_local_backward(const void*, int, const Localized*, const float*, float*, float*, float*);
}

namespace {

std::size_t size_of(int64_t n) { return static_cast<std::size_t>(n); }

float draw() { return static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX) * 4 - 2; }

std::vector<float> random_values(int64_t n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& value : values) value = draw();
  return values;
}

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

// A layout with conjunctions and literals of every size up to 9 and 14, and masks of every density.
struct Case {
  int64_t d_in, n_formulas, n_literals = 0;
  std::vector<int32_t> conjunctions, lengths;
  std::vector<float> weight, bias, gate;
  std::vector<uint8_t> keep;
  std::vector<int32_t> segments;  // pieces, then single values, then inputs of their own
  std::vector<float> low, high;
  Runs runs{};

  Case(int64_t d, int64_t n) : d_in(d), n_formulas(n), low(size_of(d), -0.5f), high(size_of(d), 1.5f) {
    const int32_t third = static_cast<int32_t>(d / 3);
    if (third) segments = {0, third, Segment::kPieces, third, third, Segment::kValues};
    runs = Runs{static_cast<int64_t>(segments.size() / 3), segments.data(), low.data(), high.data()};
    for (int64_t i = 0; i < n; ++i) {
      conjunctions.push_back(1 + std::rand() % 9);
      for (int32_t j = 0; j < conjunctions.back(); ++j) lengths.push_back(1 + std::rand() % 14);
    }
    for (const int32_t length : lengths) n_literals += length;
    weight = random_values(n_literals * d);
    bias = random_values(n_literals);
    gate = random_values(n * d);
    for (int64_t i = 0; i < n * d; ++i) keep.push_back(std::rand() % 8 < (i / d) % 9);
  }

  Case(const Case&) = delete;

  Parameters parameters(bool masked, bool in_runs, bool sums) const {
    return {d_in, n_formulas, conjunctions.data(), lengths.data(), weight.data(), bias.data(),
            masked ? gate.data() : nullptr, masked ? keep.data() : nullptr, in_runs ? &runs : nullptr,
            sums};
  }
};

void run_block(const void* kernels, int threads, const Case& c, int64_t rows, bool masked, bool in_runs) {
  const bool sums = rows % 5 == 1;
  const Parameters p = c.parameters(masked, in_runs, sums);
  std::vector<float> x = random_values(rows * c.d_in);
  if (in_runs)
    for (float& value : x) value = value < 0 ? -0.5f : value > 1 ? 1.5f : value;
  if (rows > 2 && rows % 2 && c.d_in) x[static_cast<std::size_t>(rows * c.d_in / 2)] = 0.0f / (draw() * 0.0f);
  std::vector<float> y(static_cast<std::size_t>(rows * c.n_formulas)), again(y);
  const int64_t padded = (rows + kRows - 1) / kRows * kRows;
  Buffer literals(static_cast<std::size_t>(dnfnet_kept_literals(&p) * padded));
  float* kept = threads == 1 ? nullptr : literals.data();
  require(!dnfnet_forward(kernels, threads, &p, rows, x.data(), kept, y.data()), "forward");
  void* packed = dnfnet_pack(kernels, &p);
  int computed = 0;
  require(packed && !dnfnet_packed(kernels, threads, packed, rows, x.data(), again.data(), &computed), "packed");
  dnfnet_free(packed);
  const std::vector<float> grad = random_values(rows * c.n_formulas);
  std::vector<float> gx(x.size()), gw(c.weight.size()), gb(c.bias.size()), gg(c.gate.size());
  const DenseGradients out{rows % 2 && !in_runs ? gx.data() : nullptr, gw.data(), gb.data(), masked ? gg.data() : nullptr};
  require(!dnfnet_backward(kernels, threads, &p, rows, x.data(), kept, sums ? nullptr : y.data(), grad.data(), &out),
          "backward");
}

void run_localization(const void* kernels, int threads, int64_t rows, int64_t n) {
  const std::vector<float> formulas = random_values(rows * n), squared = random_values(rows * n);
  const std::vector<float> grad = random_values(rows * n);
  std::vector<float> out(grad.size()), grad_formulas(grad.size()), grad_squared(grad.size());
  const Localized batch{rows, n, formulas.data(), squared.data(), 0.9f};
  float grad_scale = 0;
  require(!dnfnet_local_forward(kernels, threads, &batch, out.data()), "localization");
  require(!dnfnet_local_backward(kernels, threads, &batch, grad.data(), grad_formulas.data(), grad_squared.data(),
                                 &grad_scale),
          "its gradient");
  require(!dnfnet_tanh_forward(kernels, threads, rows * n, formulas.data(), out.data()), "tanh");
  require(!dnfnet_tanh_backward(threads, rows * n, out.data(), grad.data(), grad_formulas.data()),
          "its gradient");
}

}  // namespace

int main() {
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    const void* kernels = dnfnet_kernels(name);
    if (!kernels) {
      std::printf("%s: not on this processor\n", name);
      continue;
    }
    for (const int64_t d_in : {1, 2, 7, 40})
      for (const int64_t rows : {0, 1, 15, 16, 17, 64, 127, 129, 300})
        for (const int threads : {1, 3}) {
          for (const bool in_runs : {false, true})
            run_block(kernels, threads, Case(d_in, 1 + std::rand() % 20), rows, rows % 3 != 0, in_runs);
          run_localization(kernels, threads, rows, d_in);
        }
    std::printf("%s: clean\n", name);
  }
}
