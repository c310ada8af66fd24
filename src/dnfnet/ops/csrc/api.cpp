// The plain C interface that Python calls. Every pointer was checked there.
#include <cstring>
#include <new>

#include "run.h"

#define DNFNET_API extern "C" __attribute__((visibility("default")))

namespace {

using namespace dnfnet;

const Kernels* const kAll[] = {
#if defined(__x86_64__)
    &kAvx512, &kAvx2,
#endif
    &kBaseline};

bool runs_here(const Kernels* k) {
#if defined(__x86_64__)
  if (k == &kAvx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (k == &kAvx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return k == &kBaseline;
}

// No exception may cross into C: the only one to expect is that memory ran out.
template <class Body>
int guarded(const Body& body) {
  try {
    body();
    return 0;
  } catch (...) {
    return 1;
  }
}

}  // namespace

// Counts up with every change of what Python passes, so that a library of an older build is told from this one.
DNFNET_API int dnfnet_interface() { return 4; }

// The kernels of that name ("" for the best that this processor runs); null when there are none.
DNFNET_API const void* dnfnet_kernels(const char* name) {
  for (const Kernels* k : kAll)
    if (runs_here(k) && (!*name || !std::strcmp(name, k->name))) return k;
  return nullptr;
}

DNFNET_API const char* dnfnet_name(const void* kernels) { return static_cast<const Kernels*>(kernels)->name; }

DNFNET_API int dnfnet_forward(const void* kernels, int threads, const Parameters* p, int64_t rows, const float* x,
                              float* kept, float* y) {
  return guarded([&] { run_forward(*static_cast<const Kernels*>(kernels), threads, *p, rows, x, kept, y); });
}

// How many literals `kept` has for each row; -1 when memory ran out. Needs the layout alone.
DNFNET_API int64_t dnfnet_kept_literals(const Parameters* p) {
  int64_t n = -1;
  guarded([&] { n = kept_literals(*p); });
  return n;
}

DNFNET_API int dnfnet_backward(const void* kernels, int threads, const Parameters* p, int64_t rows, const float* x,
                               const float* kept, const float* y, const float* grad, const DenseGradients* out) {
  return guarded(
      [&] { run_backward(*static_cast<const Kernels*>(kernels), threads, *p, rows, x, kept, y, grad, *out); });
}

DNFNET_API void* dnfnet_pack(const void* kernels, const Parameters* p) {
  Packed* packed = nullptr;
  guarded([&] { packed = pack_all(*static_cast<const Kernels*>(kernels), *p).release(); });
  return packed;
}

// computed: whether y was; false for rows that are not finite, which a table of a run does not know
DNFNET_API int dnfnet_packed(const void* kernels, int threads, const void* packed, int64_t rows, const float* x,
                             float* y, int* computed) {
  return guarded([&] {
    const Kernels& k = *static_cast<const Kernels*>(kernels);
    *computed = run_packed(k, threads, *static_cast<const Packed*>(packed), rows, x, y);
  });
}

DNFNET_API int dnfnet_local_forward(const void* kernels, int threads, const Localized* batch, float* out) {
  return guarded([&] { run_local_forward(*static_cast<const Kernels*>(kernels), threads, *batch, out); });
}

// grad_scale: one value
DNFNET_API int dnfnet_local_backward(const void* kernels, int threads, const Localized* batch, const float* grad,
                                     float* grad_formulas, float* grad_squared, float* grad_scale) {
  return guarded([&] {
    const Kernels& k = *static_cast<const Kernels*>(kernels);
    *grad_scale = run_local_backward(k, threads, *batch, grad, grad_formulas, grad_squared);
  });
}

DNFNET_API int dnfnet_tanh_forward(const void* kernels, int threads, int64_t n, const float* x, float* y) {
  return guarded([&] { run_tanh_forward(*static_cast<const Kernels*>(kernels), threads, n, x, y); });
}

DNFNET_API int dnfnet_tanh_backward(int threads, int64_t n, const float* y, const float* grad, float* out) {
  return guarded([&] { run_tanh_backward(threads, n, y, grad, out); });
}

DNFNET_API void dnfnet_free(void* packed) { delete static_cast<Packed*>(packed); }
