#include "pack.h"

#include <algorithm>

namespace dnfnet {
namespace {

// Close a group where it fills its blocks of kLits exactly, or where its literals would crowd the cache.
void group_conjunctions(const int32_t* lengths, int64_t n, std::vector<Group>& groups) {
  constexpr int32_t enough = 2 * kLits, most = 6 * kLits;
  groups.clear();
  Group group{};
  for (int64_t j = 0; j < n; ++j) {
    group.n_literals += lengths[j];
    group.n_conj += 1;
    group.n_blocks = (group.n_literals + kLits - 1) / kLits;
    const bool full = group.n_literals >= enough && group.n_literals % kLits == 0;
    if (!full && group.n_literals < most && j + 1 < n) continue;
    groups.push_back(group);
    group = Group{group.first_literal + group.n_literals, 0, group.first_conj + group.n_conj, 0,
                  group.first_block + group.n_blocks, 0};
  }
}

int32_t blocks_of(const std::vector<Group>& groups) { return groups.back().first_block + groups.back().n_blocks; }

}  // namespace

Starts::Starts(const Parameters& p) : conjunction(1, 0), literal(1, 0), padded(1, 0) {
  std::vector<Group> groups;
  for (int64_t i = 0; i < p.n_formulas; ++i) {
    const int64_t first = conjunction.back(), end = first + p.conjunctions[i];
    int64_t literals = 0;
    for (int64_t j = first; j < end; ++j) literals += p.lengths[j];
    conjunction.push_back(end);
    literal.push_back(literal.back() + literals);
    group_conjunctions(p.lengths + first, p.conjunctions[i], groups);
    padded.push_back(padded.back() + blocks_of(groups) * kLits);
  }
}

void PackedFormula::assign(const Parameters& p, const Starts& starts, int64_t formula, bool only_open) {
  assign_features(p, starts, formula, only_open);
  copy_weights(p, formula, starts.literal[formula]);
}

void PackedFormula::assign_features(const Parameters& p, const Starts& starts, int64_t formula, bool only_open) {
  assign_wiring(p, starts, formula);
  choose_features(p, formula, only_open);
}

void PackedFormula::assign_wiring(const Parameters& p, const Starts& starts, int64_t formula) {
  lengths_.assign(p.lengths + starts.conjunction[formula], p.lengths + starts.conjunction[formula + 1]);
  group_conjunctions(lengths_.data(), static_cast<int64_t>(lengths_.size()), groups_);
  sums_ = p.sums;
}

void PackedFormula::choose_features(const Parameters& p, int64_t formula, bool only_open) {
  offsets_.clear();
  for (int64_t f = 0; f < p.d_in; ++f) {
    const int64_t at = formula * p.d_in + f;
    if (p.keep && !p.keep[at]) continue;
    if (only_open && p.gate && p.gate[at] == 0) continue;
    offsets_.push_back(static_cast<int32_t>(f * kRows));
  }
}

void PackedFormula::copy_weights(const Parameters& p, int64_t formula, int64_t first_literal) {
  const std::size_t n = offsets_.size();
  const std::size_t blocks = static_cast<std::size_t>(blocks_of(groups_));
  weight_.assign(blocks * kLits * n, 0.0f);
  bias_.assign(blocks * kLits, 0.0f);
  const float* gate = p.gate ? p.gate + formula * p.d_in : nullptr;
  for (const Group& g : groups_)
    for (int32_t l = 0; l < g.n_literals; ++l) {
      const float* row = p.weight + (first_literal + g.first_literal + l) * p.d_in;
      const std::size_t block = static_cast<std::size_t>(g.first_block + l / kLits);
      float* to = weight_.data() + block * n * kLits + l % kLits;
      for (std::size_t k = 0; k < n; ++k) {
        const int64_t f = offsets_[k] / kRows;
        to[k * kLits] = gate ? row[f] * gate[f] : row[f];
      }
      bias_[block * kLits + static_cast<std::size_t>(l % kLits)] = p.bias[first_literal + g.first_literal + l];
    }
}

Formula PackedFormula::view() const {
  return Formula{groups_.data(),  static_cast<int32_t>(groups_.size()),
                 lengths_.data(), static_cast<int32_t>(lengths_.size()),
                 offsets_.data(), static_cast<int32_t>(offsets_.size()),
                 weight_.data(),  bias_.data(),
                 sums_};
}

int64_t PackedFormula::literals() const { return blocks_of(groups_) * kLits; }

int64_t PackedFormula::group_literals() const {
  int32_t most = 0;
  for (const Group& g : groups_) most = std::max(most, g.n_blocks * kLits);
  return most;
}

}  // namespace dnfnet
