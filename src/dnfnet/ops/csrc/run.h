// The block over a whole batch, on several threads.
#pragma once
#include <memory>
#include <vector>

#include "run_lookup.h"

namespace dnfnet {

// All formulas packed once, for many batches; with inputs in runs, as tables.
struct Packed {
  int64_t d_in;
  std::vector<PackedFormula> formulas;
  std::unique_ptr<PackedLookups> lookups;
};

std::unique_ptr<Packed> pack_all(const Kernels& k, const Parameters& p);

// y: (rows, formulas). False if x is not finite where it must be: tables know finite numbers only.
bool run_packed(const Kernels& k, int threads, const Packed& packed, int64_t rows, const float* x, float* y);
// kept: kept_literals() times the rows, rounded up to whole row blocks, for run_backward to read; or null
void run_forward(const Kernels& k, int threads, const Parameters& p, int64_t rows, const float* x, float* kept,
                 float* y);
// All literals of a block, padded as the kernels compute them.
int64_t kept_literals(const Parameters& p);

// y is what forward gave, or null if that was sums, grad the gradient for it, both (rows, formulas); kept is what it
// kept, or null.
void run_backward(const Kernels& k, int threads, const Parameters& p, int64_t rows, const float* x, const float* kept,
                  const float* y, const float* grad, const DenseGradients& out);

// A batch of formulas and squared distances, both (rows, n), localized row by row.
struct Localized {
  int64_t rows, n;
  const float* formulas;
  const float* squared;
  float scale;
};

void run_local_forward(const Kernels& k, int threads, const Localized& batch, float* out);
// Returns the gradient for scale.
float run_local_backward(const Kernels& k, int threads, const Localized& batch, const float* grad,
                         float* grad_formulas, float* grad_squared);

// n numbers each.
void run_tanh_forward(const Kernels& k, int threads, int64_t n, const float* x, float* y);
void run_tanh_backward(int threads, int64_t n, const float* y, const float* grad, float* out);

}  // namespace dnfnet
