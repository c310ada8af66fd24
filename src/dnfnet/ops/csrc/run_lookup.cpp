#include "run_lookup.h"

#include "strips.h"

namespace dnfnet {

// Between a block's dense parameters and one table after another.
class Tabulator {
 public:
  Tabulator(const Kernels& k, const Parameters& p, const Starts& starts, const Nodes& nodes)
      : k_(k), p_(p), starts_(starts), nodes_(nodes) {}

  void assign(int64_t formula, FormulaTable& table) {
    table.assign_wiring(p_, starts_, formula);
    assign_table(formula, table);
  }

  void assign_table(int64_t formula, FormulaTable& table) {
    const int64_t first = first_literal(formula), n = n_literals(formula), width = table.width_;
    table.bias_.assign(size(width), 0.0f);
    std::copy_n(p_.bias + first, n, table.bias_.data());
    inputs_.resize(size(p_.d_in * width));
    transpose(n, p_.d_in, p_.weight + first * p_.d_in, p_.d_in, inputs_.data(), width);
    open(formula);
    table.table_.resize(size(nodes_.n_nodes * width));
    k_.tabulate(nodes_, width, inputs_.data(), factors_.data(), table.table_.data(), table.bias_.data());
  }

  // From gradients by node, and those of the bias, to those of the dense weights and of the gate.
  void write_gradients(int64_t formula, int64_t width, const float* table, const float* bias,
                       const DenseGradients& out) {
    inputs_.resize(size(p_.d_in * width));
    k_.untabulate(nodes_, width, table, bias, inputs_.data());
    const int64_t first = first_literal(formula) * p_.d_in, n = n_literals(formula);
    transpose(p_.d_in, n, inputs_.data(), width, out.weight + first, p_.d_in);
    if (!p_.keep && !p_.gate) return;
    open(formula);
    float* gate = out.gate ? out.gate + formula * p_.d_in : nullptr;
    if (gate) std::fill(gate, gate + p_.d_in, 0.0f);
    for (int64_t l = 0; l < n; ++l) close_row(first + l * p_.d_in, out.weight + first + l * p_.d_in, gate);
    if (gate && p_.keep)
      for (int64_t j = 0; j < p_.d_in; ++j) gate[j] = p_.keep[formula * p_.d_in + j] ? gate[j] : 0;
  }

 private:
  int64_t first_literal(int64_t formula) const { return starts_.literal[size(formula)]; }
  int64_t n_literals(int64_t formula) const { return first_literal(formula + 1) - first_literal(formula); }

  // What a formula makes of each input: the gate's factor, and nothing of what it leaves out.
  void open(int64_t formula) {
    factors_.resize(size(p_.d_in));
    for (int64_t j = 0; j < p_.d_in; ++j) {
      const int64_t at = formula * p_.d_in + j;
      factors_[size(j)] = p_.keep && !p_.keep[at] ? 0 : p_.gate ? p_.gate[at] : 1;
    }
  }

  // One literal's gradient, from that of its weights times the factors to that of the weights.
  void close_row(int64_t at, float* row, float* gate) const {
    const float *weight = p_.weight + at, *factor = factors_.data();
    if (gate)
      for (int64_t j = 0; j < p_.d_in; ++j) gate[j] += row[j] * weight[j];
    for (int64_t j = 0; j < p_.d_in; ++j) row[j] *= factor[j];
  }

  const Kernels& k_;
  const Parameters& p_;
  const Starts& starts_;
  const Nodes& nodes_;
  std::vector<float> factors_;
  Buffer inputs_;  // (d_in, width)
};

namespace {

// Everything that one thread needs for the backward pass of one formula after another.
class LookBack {
 public:
  LookBack(const Kernels& k, const Parameters& p, const Starts& starts, const Nodes& nodes, const DenseGradients& out)
      : k_(k), p_(p), starts_(starts), nodes_(nodes), out_(out), tabulator_(k, p, starts, nodes) {}

  void run(int64_t formula, const Rows& rows, const Entries* entries, const float* grad, const float* kept) {
    table_.assign_wiring(p_, starts_, formula);
    if (!kept) tabulator_.assign_table(formula, table_);
    const int64_t padded = starts_.padded[size(formula + 1)] - starts_.padded[size(formula)];
    scratch_.resize(std::max(scratch_.size(), size(table_.scratch())));
    by_node_.resize(size(nodes_.n_nodes * table_.width()));
    lanes_.resize(size(padded * kMaxLanes));
    bias_.resize(size(padded));
    const LookupGradients sums{by_node_.data(), lanes_.data(), bias_.data()};
    k_.look_back(table_.formula(), table_.view(nodes_), rows, entries, grad, kept, sums, scratch_.data());
    write_bias(formula);
    tabulator_.write_gradients(formula, table_.width(), by_node_.data(), of_literals_.data(), out_);
  }

 private:
  void write_bias(int64_t formula) {
    of_literals_.assign(size(table_.width()), 0.0f);
    const Formula f = table_.formula();
    for (int32_t i = 0; i < f.n_groups; ++i) {
      const Group& g = f.groups[i];
      std::copy_n(bias_.data() + g.first_block * kLits, g.n_literals, of_literals_.data() + g.first_literal);
    }
    const int64_t first = starts_.literal[size(formula)];
    std::copy_n(of_literals_.data(), starts_.literal[size(formula + 1)] - first, out_.bias + first);
  }

  const Kernels& k_;
  const Parameters& p_;
  const Starts& starts_;
  const Nodes& nodes_;
  const DenseGradients& out_;
  Tabulator tabulator_;
  FormulaTable table_;
  Buffer scratch_, by_node_, lanes_, bias_, of_literals_;
};

// The batch without its numbers, which are entries.
Rows shape_of(int64_t rows, const Nodes& nodes) { return Rows{nullptr, nullptr, rows, nodes.d_in}; }

}  // namespace

void FormulaTable::assign_wiring(const Parameters& p, const Starts& starts, int64_t formula) {
  wiring_.assign_wiring(p, starts, formula);
  const int64_t n = starts.literal[size(formula + 1)] - starts.literal[size(formula)];
  width_ = (n + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
}

PackedLookups::PackedLookups(const Kernels& k, const Parameters& p)
    : segments_(p.d_in, *p.runs), formulas_(size(p.n_formulas)) {
  const Starts starts(p);
  const Nodes nodes = segments_.view();
  Tabulator tabulator(k, p, starts, nodes);
  for (int64_t i = 0; i < p.n_formulas; ++i) tabulator.assign(i, formulas_[size(i)]);
}

bool PackedLookups::run(const Kernels& k, int threads, int64_t rows, const float* x, float* y) const {
  const Nodes nodes = segments_.view();
  const EntryBatch batch(threads, nodes, rows, x, false);
  if (!batch.finite()) return false;
  const Rows shape = shape_of(rows, nodes);
  const auto make = [&] {
    return [&, scratch = Buffer()](int64_t i, float* out) mutable {
      const FormulaTable& table = formulas_[size(i)];
      scratch.resize(std::max(scratch.size(), size(table.scratch())));
      k.look_up(table.formula(), table.view(nodes), shape, batch.entries(), out, scratch.data(), nullptr);
    };
  };
  forward_strips(threads, shape, n_formulas(), make, y);
  return true;
}

bool look_up_all(const Kernels& k, int threads, const Parameters& p, int64_t rows, const float* x, float* kept,
                 float* y) {
  const Segments segments(p.d_in, *p.runs);
  const Nodes nodes = segments.view();
  const EntryBatch batch(threads, nodes, rows, x, false);
  if (!batch.finite()) return false;
  const Starts starts(p);
  const Rows shape = shape_of(rows, nodes);
  const auto make = [&] {
    return [&, tabulator = Tabulator(k, p, starts, nodes), table = FormulaTable(), scratch = Buffer()](
               int64_t i, float* out) mutable {
      tabulator.assign(i, table);
      scratch.resize(std::max(scratch.size(), size(table.scratch())));
      k.look_up(table.formula(), table.view(nodes), shape, batch.entries(), out, scratch.data(),
                kept_of(kept, starts, shape, i));
    };
  };
  forward_strips(threads, shape, p.n_formulas, make, y);
  return true;
}

bool look_back_all(const Kernels& k, int threads, const Parameters& p, int64_t rows, const float* x,
                   const float* kept, const float* y, const float* grad, const DenseGradients& out) {
  const Segments segments(p.d_in, *p.runs);
  const Nodes nodes = segments.view();
  const EntryBatch batch(threads, nodes, rows, x, true);
  if (!batch.finite()) return false;
  const Starts starts(p);
  const Rows shape = shape_of(rows, nodes);
  parallel_for(strips_of(p.n_formulas), threads, [&](int64_t strip) {
    LookBack back(k, p, starts, nodes, out);
    backward_strip(shape, p.n_formulas, strip, y, grad, [&](int64_t formula, const float* up) {
      back.run(formula, shape, batch.entries(), up, kept_of(kept, starts, shape, formula));
    });
  });
  return true;
}

}  // namespace dnfnet
