#include "run.h"

#include "batch.h"
#include "run_lookup.h"
#include "strips.h"

namespace dnfnet {
namespace {

// Rows that are transposed at a time: bounds the memory of a large prediction.
constexpr int64_t kChunk = 16384;
// The gradient for x is summed in this many parts, whatever the number of threads.
constexpr int64_t kParts = 16;

// Scratch memory for the forward pass of one formula after another.
class Forward {
 public:
  Forward(const Kernels& k, const Rows& rows) : k_(k), rows_(rows) {}

  void run(const PackedFormula& formula, float* out, float* kept) {
    scratch_.resize(std::max(scratch_.size(), size(formula.group_literals() * kRows)));
    k_.forward(formula.view(), rows_, out, scratch_.data(), kept);
  }

 private:
  const Kernels& k_;
  const Rows& rows_;
  Buffer scratch_;
};

// Everything that one thread needs for the backward pass of one formula after another.
class Backward {
 public:
  Backward(const Kernels& k, const Parameters& p, const Starts& starts, const Rows& rows, const DenseGradients& out)
      : k_(k), p_(p), starts_(starts), rows_(rows), out_(out) {}

  void run(int64_t formula, const float* grad, const float* kept, float* grad_x) {
    // Weights are for literals that are computed again, and for the gradient of x.
    if (kept && !grad_x)
      packed_.assign_features(p_, starts_, formula, false);
    else
      packed_.assign(p_, starts_, formula, false);
    const Formula view = packed_.view();
    const int64_t most = packed_.group_literals();
    scratch_.resize(std::max(scratch_.size(), size(most * kRows * kSpan)));
    lanes_.resize(std::max(lanes_.size(), size(most * (view.n_features + 1) * kMaxLanes)));
    weight_.resize(size(packed_.literals() * view.n_features));
    bias_.resize(size(packed_.literals()));
    const Gradients lanes{lanes_.data() + most * kMaxLanes, lanes_.data(), grad_x};
    k_.backward(view, rows_, grad, kept, lanes, Sums{weight_.data(), bias_.data()}, scratch_.data());
    scatter(formula);
  }

 private:
  // From packed to dense, with the factor of the gate and the gate's own gradient; zero where nothing is kept.
  void scatter(int64_t formula) {
    const int64_t first = starts_.literal[size(formula)], end = starts_.literal[size(formula + 1)];
    std::fill(out_.weight + first * p_.d_in, out_.weight + end * p_.d_in, 0.0f);
    if (out_.gate) std::fill(out_.gate + formula * p_.d_in, out_.gate + (formula + 1) * p_.d_in, 0.0f);
    const int64_t n = static_cast<int64_t>(packed_.offsets().size());
    for (const Group& g : packed_.groups())
      for (int32_t l = 0; l < g.n_literals; ++l) {
        const int64_t literal = first + g.first_literal + l;
        const int64_t block = g.first_block + l / kLits, lane = l % kLits;
        out_.bias[literal] = bias_[size(block * kLits + lane)];
        scatter_row(formula, literal, weight_.data() + block * n * kLits + lane);
      }
  }

  void scatter_row(int64_t formula, int64_t literal, const float* from) {
    for (const int32_t offset : packed_.offsets()) {
      const int64_t f = offset / kRows, at = literal * p_.d_in + f, gate = formula * p_.d_in + f;
      out_.weight[at] = p_.gate ? *from * p_.gate[gate] : *from;
      if (out_.gate) out_.gate[gate] += *from * p_.weight[at];
      from += kLits;
    }
  }

  const Kernels& k_;
  const Parameters& p_;
  const Starts& starts_;
  const Rows& rows_;
  const DenseGradients& out_;
  PackedFormula packed_;
  Buffer scratch_, lanes_, weight_, bias_;
};

}  // namespace

std::unique_ptr<Packed> pack_all(const Kernels& k, const Parameters& p) {
  auto packed = std::make_unique<Packed>();
  packed->d_in = p.d_in;
  if (p.runs) {
    packed->lookups = std::make_unique<PackedLookups>(k, p);
    return packed;
  }
  const Starts starts(p);
  packed->formulas.resize(size(p.n_formulas));
  for (int64_t i = 0; i < p.n_formulas; ++i) packed->formulas[size(i)].assign(p, starts, i, true);
  return packed;
}

bool run_packed(const Kernels& k, int threads, const Packed& packed, int64_t rows, const float* x, float* y) {
  const int64_t n_formulas = static_cast<int64_t>(packed.formulas.size());
  for (int64_t first = 0; first < rows; first += kChunk) {
    const int64_t n = std::min(kChunk, rows - first);
    if (packed.lookups) {
      if (!packed.lookups->run(k, threads, n, x + first * packed.d_in, y + first * packed.lookups->n_formulas()))
        return false;
      continue;
    }
    const Batch batch(threads, n, packed.d_in, x + first * packed.d_in);
    const Rows view = batch.view();
    const auto make = [&] {
      return [&, forward = Forward(k, view)](int64_t i, float* out) mutable {
        forward.run(packed.formulas[size(i)], out, nullptr);
      };
    };
    forward_strips(threads, view, n_formulas, make, y + first * n_formulas);
  }
  return true;
}

int64_t kept_literals(const Parameters& p) { return Starts(p).padded.back(); }

void run_forward(const Kernels& k, int threads, const Parameters& p, int64_t rows, const float* x, float* kept,
                 float* y) {
  if (p.runs && look_up_all(k, threads, p, rows, x, kept, y)) return;
  const Starts starts(p);
  // The backward pass, for which literals are kept, takes all rows at once.
  const int64_t chunk = kept ? rows : kChunk;
  for (int64_t first = 0; first < rows; first += chunk) {
    const Batch batch(threads, std::min(chunk, rows - first), p.d_in, x + first * p.d_in);
    const Rows view = batch.view();
    const auto make = [&] {
      return [&, forward = Forward(k, view), packed = PackedFormula()](int64_t i, float* out) mutable {
        packed.assign(p, starts, i, true);
        forward.run(packed, out, kept_of(kept, starts, view, i));
      };
    };
    forward_strips(threads, view, p.n_formulas, make, y + first * p.n_formulas);
  }
}

void run_backward(const Kernels& k, int threads, const Parameters& p, int64_t rows, const float* x, const float* kept,
                  const float* y, const float* grad, const DenseGradients& out) {
  if (p.runs && !out.x && look_back_all(k, threads, p, rows, x, kept, y, grad, out)) return;
  const Starts starts(p);
  const Batch batch(threads, rows, p.d_in, x);
  const Rows view = batch.view();
  const int64_t strips = strips_of(p.n_formulas), parts = out.x ? std::min(kParts, strips) : strips;
  std::vector<Buffer> grad_x(out.x ? size(parts) : 0);
  parallel_for(parts, threads, [&](int64_t part) {
    if (out.x) grad_x[size(part)].assign(size(view.blocks() * p.d_in * kRows), 0.0f);
    Backward backward(k, p, starts, view, out);
    const auto back = [&](int64_t formula, const float* up) {
      backward.run(formula, up, kept_of(kept, starts, view, formula), out.x ? grad_x[size(part)].data() : nullptr);
    };
    for (int64_t strip = part * strips / parts; strip < (part + 1) * strips / parts; ++strip)
      backward_strip(view, p.n_formulas, strip, y, grad, back);
  });
  if (out.x) sum_transposed(threads, view, grad_x, out.x);
}

}  // namespace dnfnet
