#include "runs.h"

#include <algorithm>
#include <cmath>

#include "threads.h"

namespace dnfnet {
namespace {

constexpr int64_t kEntryRows = kEntryBlocks * kRows;
// So many nodes have weights that stay in the first-level cache; so many entries are worth a part of their own.
constexpr int64_t kPartNodes = 96, kPartEntries = 16;

std::size_t size(int64_t n) { return static_cast<std::size_t>(n); }

// How far an input is from its low to its high end: exactly 0 and 1 at these.
float place(float x, float low, float high) { return (x - low) / (high - low); }

// The entries of some rows, one after the other.
class Found {
 public:
  void add_row(const Nodes& nodes, const float* x) {
    for (int64_t i = 0; i < nodes.n_segments; ++i) add_segment(nodes, nodes.segments[i], x);
    rows.resize(which.size(), n_rows++);
  }

  int32_t n_rows = 0;
  std::vector<int32_t> which, rows;
  std::vector<float> factors;

 private:
  void add_segment(const Nodes& nodes, const Segment& s, const float* x) {
    x += s.first_input;
    if (s.kind == Segment::kInput) return add(s.first_node, *x);
    // A missing value is at the mean of each input, which is 0, and not at the base.
    if (std::all_of(x, x + s.n_inputs, [](float value) { return value == 0; })) return add(s.base(), -1);
    const float *low = nodes.low + s.first_input, *high = nodes.high + s.first_input;
    float here = place(*x, *low, *high);
    for (int32_t k = 0; k < s.n_inputs; ++k) {
      const float next = k + 1 < s.n_inputs ? place(x[k + 1], low[k + 1], high[k + 1]) : 0;
      if (s.kind == Segment::kPieces)
        add(s.first_node + k + 1, here - next);
      else
        add(s.first_node + k, here);
      here = next;
    }
  }

  void add(int32_t node, float factor) {
    if (factor == 0) return;
    which.push_back(node);
    factors.push_back(factor);
  }
};

}  // namespace

Segments::Segments(int64_t d_in, const Runs& runs)
    : d_in_(d_in), low_(runs.low, runs.low + d_in), high_(runs.high, runs.high + d_in) {
  int64_t next = 0;
  for (int64_t i = 0; i < runs.n; ++i) {
    const int32_t* run = runs.runs + 3 * i;
    for (; next < run[0]; ++next) add(Segment::kInput, next, 1);
    add(static_cast<Segment::Kind>(run[2]), run[0], run[1]);
    next = run[0] + run[1];
  }
  for (; next < d_in; ++next) add(Segment::kInput, next, 1);
}

void Segments::add(Segment::Kind kind, int64_t first, int64_t n) {
  segments_.push_back(
      Segment{kind, static_cast<int32_t>(first), static_cast<int32_t>(n), static_cast<int32_t>(n_nodes_)});
  n_nodes_ += segments_.back().n_nodes();
  n_entries_ += kind == Segment::kPieces ? 2 : 1;
}

Nodes Segments::view() const {
  // A row's sums are loaded and stored again for each part, which must not happen for a few entries only.
  const int64_t parts = std::max<int64_t>(1, std::min(n_nodes_ / kPartNodes, n_entries_ / kPartEntries));
  return Nodes{segments_.data(), static_cast<int64_t>(segments_.size()), low_.data(), high_.data(), d_in_, n_nodes_,
               (n_nodes_ + parts - 1) / parts};
}

void EntryLists::assign(int64_t n, const std::vector<int32_t>& keys, const std::vector<int32_t>& which,
                        const std::vector<float>& factors) {
  starts_.assign(size(n + 1), 0);
  for (const int32_t key : keys) ++starts_[size(key + 1)];
  for (int64_t i = 0; i < n; ++i) starts_[size(i + 1)] += starts_[size(i)];
  std::vector<int32_t> next(starts_.begin(), starts_.end() - 1);
  which_.resize(which.size());
  factors_.resize(which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::size_t to = size(next[size(keys[i])]++);
    which_[to] = which[i];
    factors_[to] = factors[i];
  }
}

Lists EntryLists::view() const {
  return Lists{static_cast<int64_t>(starts_.size()) - 1, starts_.data(), which_.data(), factors_.data()};
}

void EntrySpan::assign(const Nodes& nodes, int64_t rows, const float* x, bool by_node) {
  Found found;
  for (int64_t r = 0; r < rows; ++r) found.add_row(nodes, x + r * nodes.d_in);
  finite_ = std::all_of(found.factors.begin(), found.factors.end(), [](float f) { return std::isfinite(f); });
  n_rows_ = rows;
  n_parts_ = (nodes.n_nodes + nodes.part - 1) / nodes.part;
  std::vector<int32_t> keys(found.which.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<int32_t>(found.which[i] / nodes.part * rows) + found.rows[i];
  by_row_.assign(n_parts_ * rows, keys, found.which, found.factors);
  if (by_node) by_node_.assign(nodes.n_nodes, found.which, found.rows, found.factors);
}

Entries EntrySpan::view() const { return Entries{n_rows_, n_parts_, by_row_.view(), by_node_.view()}; }

EntryBatch::EntryBatch(int threads, const Nodes& nodes, int64_t rows, const float* x, bool by_node)
    : spans_(size((rows + kEntryRows - 1) / kEntryRows)) {
  parallel_for(static_cast<int64_t>(spans_.size()), threads, [&](int64_t i) {
    const int64_t first = i * kEntryRows;
    spans_[size(i)].assign(nodes, std::min(kEntryRows, rows - first), x + first * nodes.d_in, by_node);
  });
  for (const EntrySpan& span : spans_) entries_.push_back(span.view());
}

bool EntryBatch::finite() const {
  return std::all_of(spans_.begin(), spans_.end(), [](const EntrySpan& span) { return span.finite(); });
}

}  // namespace dnfnet
