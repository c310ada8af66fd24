#include "run.h"

#include <algorithm>

#include "batch.h"
#include "threads.h"

namespace dnfnet {
namespace {

// Formulas that one thread takes at a time: their outputs for a row are half a cache line.
constexpr int64_t kStrip = 8;
// Rows that are transposed at a time: bounds the memory of a large prediction.
constexpr int64_t kChunk = 16384;
// The gradient for x is summed in this many parts, whatever the number of threads.
constexpr int64_t kParts = 16;

int64_t strips_of(int64_t n_formulas) { return (n_formulas + kStrip - 1) / kStrip; }

std::size_t size(int64_t n) { return static_cast<std::size_t>(n); }

// Where a formula's kept literals begin.
int64_t kept_at(const Starts& starts, const Rows& rows, int64_t formula) {
  return starts.padded[size(formula)] * rows.blocks() * kRows;
}

// One strip's outputs for one chunk of rows; packed(i) gives formula i, kept(i) where its literals go.
template <class GetPacked, class GetKept>
void forward_strip(const Kernels& k, const Rows& rows, int64_t first, int64_t n_formulas, const GetPacked& packed,
                   const GetKept& kept, float* y) {
  const int64_t n = std::min(kStrip, n_formulas - first), padded = rows.blocks() * kRows;
  Buffer out(size(n * padded)), scratch;
  for (int64_t i = 0; i < n; ++i) {
    const PackedFormula& formula = packed(first + i);
    scratch.resize(std::max(scratch.size(), size(formula.group_literals() * kRows)));
    k.forward(formula.view(), rows, out.data() + i * padded, scratch.data(), kept(first + i));
  }
  for (int64_t r = 0; r < rows.n_rows; ++r)
    for (int64_t i = 0; i < n; ++i) y[r * n_formulas + first + i] = out[size(i * padded + r)];
}

// Everything that one thread needs for the backward pass of one formula after another.
class Backward {
 public:
  Backward(const Kernels& k, const Parameters& p, const Starts& starts, const Rows& rows, const DenseGradients& out)
      : k_(k), p_(p), starts_(starts), rows_(rows), out_(out) {}

  void run(int64_t formula, const float* grad, const float* kept, float* grad_x) {
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

// grad * (1 - y^2) for a strip of formulas, transposed: (n, padded rows), padding zero.
void strip_gradients(const Rows& rows, int64_t n_formulas, int64_t first, int64_t n, const float* y,
                     const float* grad, Buffer& out) {
  const int64_t padded = rows.blocks() * kRows;
  out.assign(size(n * padded), 0.0f);
  for (int64_t r = 0; r < rows.n_rows; ++r)
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = r * n_formulas + first + i;
      out[size(i * padded + r)] = grad[at] * (1.0f - y[at] * y[at]);
    }
}

}  // namespace

std::unique_ptr<Packed> pack_all(const Parameters& p) {
  const Starts starts(p);
  auto packed = std::make_unique<Packed>();
  packed->d_in = p.d_in;
  packed->formulas.resize(size(p.n_formulas));
  for (int64_t i = 0; i < p.n_formulas; ++i) packed->formulas[size(i)].assign(p, starts, i, true);
  return packed;
}

void run_packed(const Kernels& k, int threads, const Packed& packed, int64_t rows, const float* x, float* y) {
  const int64_t n_formulas = static_cast<int64_t>(packed.formulas.size());
  const auto get = [&](int64_t i) -> const PackedFormula& { return packed.formulas[size(i)]; };
  const auto keep_none = [](int64_t) -> float* { return nullptr; };
  for (int64_t first = 0; first < rows; first += kChunk) {
    const Batch batch(threads, std::min(kChunk, rows - first), packed.d_in, x + first * packed.d_in);
    const Rows view = batch.view();
    parallel_for(strips_of(n_formulas), threads, [&](int64_t strip) {
      forward_strip(k, view, strip * kStrip, n_formulas, get, keep_none, y + first * n_formulas);
    });
  }
}

int64_t kept_literals(const Parameters& p) { return Starts(p).padded.back(); }

void run_forward(const Kernels& k, int threads, const Parameters& p, int64_t rows, const float* x, bool only_open,
                 float* kept, float* y) {
  const Starts starts(p);
  // The backward pass, for which literals are kept, takes all rows at once.
  const int64_t chunk = kept ? rows : kChunk;
  for (int64_t first = 0; first < rows; first += chunk) {
    const Batch batch(threads, std::min(chunk, rows - first), p.d_in, x + first * p.d_in);
    const Rows view = batch.view();
    const auto keep = [&](int64_t i) { return kept ? kept + kept_at(starts, view, i) : nullptr; };
    parallel_for(strips_of(p.n_formulas), threads, [&](int64_t strip) {
      PackedFormula packed;
      const auto get = [&](int64_t i) -> const PackedFormula& {
        packed.assign(p, starts, i, only_open);
        return packed;
      };
      forward_strip(k, view, strip * kStrip, p.n_formulas, get, keep, y + first * p.n_formulas);
    });
  }
}

void run_backward(const Kernels& k, int threads, const Parameters& p, int64_t rows, const float* x, const float* kept,
                  const float* y, const float* grad, const DenseGradients& out) {
  const Starts starts(p);
  const Batch batch(threads, rows, p.d_in, x);
  const Rows view = batch.view();
  const int64_t strips = strips_of(p.n_formulas), parts = out.x ? std::min(kParts, strips) : strips;
  std::vector<Buffer> grad_x(out.x ? size(parts) : 0);
  parallel_for(parts, threads, [&](int64_t part) {
    if (out.x) grad_x[size(part)].assign(size(view.blocks() * p.d_in * kRows), 0.0f);
    Backward backward(k, p, starts, view, out);
    Buffer strip_grad;
    for (int64_t first = part * strips / parts * kStrip; first < (part + 1) * strips / parts * kStrip; first += kStrip) {
      const int64_t n = std::min(kStrip, p.n_formulas - first);
      strip_gradients(view, p.n_formulas, first, n, y, grad, strip_grad);
      for (int64_t i = 0; i < n; ++i)
        backward.run(first + i, strip_grad.data() + i * view.blocks() * kRows,
                     kept ? kept + kept_at(starts, view, first + i) : nullptr,
                     out.x ? grad_x[size(part)].data() : nullptr);
    }
  });
  if (out.x) sum_transposed(threads, view, grad_x, out.x);
}

}  // namespace dnfnet
