// A batch transposed into row blocks, and back.
#pragma once
#include "pack.h"

namespace dnfnet {

class Batch {
 public:
  Batch(int threads, int64_t rows, int64_t d_in, const float* x);
  Rows view() const { return Rows{x_.data(), finite_.data(), rows_, d_in_}; }

 private:
  void transpose_block(int64_t block, const float* x);

  int64_t rows_, d_in_;
  Buffer x_;
  std::vector<uint8_t> finite_;
};

// Add up n_parts transposed arrays, one after another, and write the (rows, d_in) array they stand for.
void sum_transposed(int threads, const Rows& shape, const std::vector<Buffer>& parts, float* out);

}  // namespace dnfnet
