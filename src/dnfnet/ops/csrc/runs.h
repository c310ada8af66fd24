// Inputs in runs, and a batch of rows as entries: see Segment in block.h.
#pragma once
#include "pack.h"

namespace dnfnet {

class Segments {
 public:
  Segments(int64_t d_in, const Runs& runs);
  Nodes view() const;

 private:
  void add(Segment::Kind kind, int64_t first, int64_t n);

  int64_t d_in_, n_nodes_ = 0, n_entries_ = 0;
  std::vector<Segment> segments_;
  std::vector<float> low_, high_;
};

// Lists of entries with the memory that they live in.
class EntryLists {
 public:
  // Sort entries into n lists, each entry into that of its key, in their order.
  void assign(int64_t n, const std::vector<int32_t>& keys, const std::vector<int32_t>& which,
              const std::vector<float>& factors);
  Lists view() const;

 private:
  std::vector<int32_t> starts_, which_;
  std::vector<float> factors_;
};

// The rows of kEntryBlocks row blocks, with the memory that they live in.
class EntrySpan {
 public:
  // Any finite x will do: one that does not have the form of its runs only takes more entries.
  void assign(const Nodes& nodes, int64_t rows, const float* x, bool by_node);
  Entries view() const;
  bool finite() const { return finite_; }

 private:
  EntryLists by_row_, by_node_;
  int64_t n_rows_ = 0, n_parts_ = 0;
  bool finite_ = true;
};

// A whole batch, span by span.
class EntryBatch {
 public:
  EntryBatch(int threads, const Nodes& nodes, int64_t rows, const float* x, bool by_node);
  const Entries* entries() const { return entries_.data(); }
  bool finite() const;

 private:
  std::vector<EntrySpan> spans_;
  std::vector<Entries> entries_;
};

}  // namespace dnfnet
