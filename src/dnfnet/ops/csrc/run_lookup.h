// The block over a whole batch by looking up, where inputs come in runs.
#pragma once
#include "runs.h"

namespace dnfnet {

// One formula: its wiring, and its weights as a table.
class FormulaTable {
 public:
  void assign_wiring(const Parameters& p, const Starts& starts, int64_t formula);
  Formula formula() const { return wiring_.view(); }
  Lookup view(const Nodes& nodes) const { return Lookup{table_.data(), bias_.data(), nodes.n_nodes, width_}; }
  int64_t width() const { return width_; }
  // What looking up needs.
  int64_t scratch() const { return kEntryBlocks * kRows * (width_ + wiring_.group_literals()); }

 private:
  friend class Tabulator;
  PackedFormula wiring_;
  int64_t width_ = 0;
  Buffer table_, bias_;
};

// All formulas as tables, once for many batches.
class PackedLookups {
 public:
  PackedLookups(const Kernels& k, const Parameters& p);
  int64_t n_formulas() const { return static_cast<int64_t>(formulas_.size()); }
  // False if x is not finite.
  bool run(const Kernels& k, int threads, int64_t rows, const float* x, float* y) const;

 private:
  Segments segments_;
  std::vector<FormulaTable> formulas_;
};

// run_forward and run_backward by looking up; false, and nothing done, if x is not finite.
bool look_up_all(const Kernels& k, int threads, const Parameters& p, int64_t rows, const float* x, float* kept,
                 float* y);
bool look_back_all(const Kernels& k, int threads, const Parameters& p, int64_t rows, const float* x,
                   const float* kept, const float* y, const float* grad, const DenseGradients& out);

}  // namespace dnfnet
