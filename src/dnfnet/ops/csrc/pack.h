// From the layout and the dense weights to what the kernels read.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "block.h"

namespace dnfnet {

// Vectors are loaded whole, so buffers start at a cache line.
template <class T>
struct Aligned {
  using value_type = T;
  Aligned() = default;
  template <class U>
  Aligned(const Aligned<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64))); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
  bool operator==(const Aligned&) const { return true; }
  bool operator!=(const Aligned&) const { return false; }
};
using Buffer = std::vector<float, Aligned<float>>;

// Which inputs come in runs, as the caller has it: see Segment.
struct Runs {
  int64_t n;
  const int32_t* runs;  // (n, 3), ascending and disjoint: the first input, how many, and the Segment::Kind
  const float* low;     // (d_in): the ends of each input of a run
  const float* high;
};

// The dense parameters of a block, as the caller has them.
struct Parameters {
  int64_t d_in;
  int64_t n_formulas;
  const int32_t* conjunctions;  // per formula
  const int32_t* lengths;       // per conjunction
  const float* weight;          // (literals, d_in)
  const float* bias;            // (literals)
  const float* gate;            // (formulas, d_in), or null
  const uint8_t* keep;          // (formulas, d_in), or null: features outside are left out
  const Runs* runs;             // or null: every input is a number of its own
  int64_t sums;                 // whether the formulas' own tanh is left to another operation
};

// Gradients of the dense parameters, zero for features that a formula leaves out.
struct DenseGradients {
  float* x;       // (rows, d_in), or null
  float* weight;  // (literals, d_in)
  float* bias;    // (literals)
  float* gate;    // (formulas, d_in), or null
};

// Where each formula's conjunctions and literals begin, and its literals when each group is padded to whole blocks.
struct Starts {
  std::vector<int64_t> conjunction, literal, padded;
  explicit Starts(const Parameters& p);
};

// One formula with the memory that it lives in; assign() reuses it.
class PackedFormula {
 public:
  // With only_open, features whose gate is zero are left out too: right for outputs, not for their gradients.
  void assign(const Parameters& p, const Starts& starts, int64_t formula, bool only_open);
  // The same without weights.
  void assign_features(const Parameters& p, const Starts& starts, int64_t formula, bool only_open);
  // The wiring alone, without features and weights.
  void assign_wiring(const Parameters& p, const Starts& starts, int64_t formula);
  Formula view() const;
  int64_t group_literals() const;  // padded literals of the largest group
  int64_t literals() const;        // of all groups, padded
  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<int32_t>& offsets() const { return offsets_; }

 private:
  void choose_features(const Parameters& p, int64_t formula, bool only_open);
  void copy_weights(const Parameters& p, int64_t formula, int64_t first_literal);

  std::vector<Group> groups_;
  std::vector<int32_t> lengths_, offsets_;
  Buffer weight_, bias_;
  bool sums_ = false;
};

}  // namespace dnfnet
