// A block of formulas as the kernels read it. No torch, no Python: plain pointers and sizes.
#pragma once
#include <cstdint>

namespace dnfnet {

// Rows come in row blocks of kRows, transposed: for each row block, d_in runs of kRows values.
// A multiple of every vector width, and small enough that one run is four cache lines.
constexpr int64_t kRows = 64;
// Literals are computed kLits at a time: with four vectors of rows that is 24 accumulators in registers.
constexpr int kLits = 6;

// Consecutive whole conjunctions of a formula; its literals fill n_blocks blocks of kLits, padded with zeros.
struct Group {
  int32_t first_literal, n_literals;
  int32_t first_conj, n_conj;
  int32_t first_block, n_blocks;
};

// One formula, packed: only the features it keeps, in the order in which the inner loop reads the weights.
struct Formula {
  const Group* groups;
  int32_t n_groups;
  const int32_t* lengths;  // literals of each conjunction
  int32_t n_conj;
  const int32_t* offsets;  // kept features, times kRows, ascending
  int32_t n_features;
  const float* weight;  // (blocks, n_features, kLits)
  const float* bias;    // (blocks, kLits)
  bool sums;            // leave out the formula's own tanh
};

// A batch, transposed. The rows that fill up the last row block are zero.
struct Rows {
  const float* x;        // (row blocks, d_in, kRows)
  const uint8_t* finite;  // per row block: no NaN and no infinity in it
  int64_t n_rows, d_in;

  int64_t blocks() const { return (n_rows + kRows - 1) / kRows; }
};

// Inputs come alone or in runs. The pieces of a number are 1, ..., 1, a fraction, 0, ..., 0; of the inputs of single
// values at most one is 1; then each input is standardised, so that 0 and 1 became two other numbers, its ends. A
// literal's share of a run thus depends on one place: computed at the nodes, where each input is at an end, it is looked
// up and interpolated. The nodes are
// - of pieces: for k = 0, ..., n_inputs, the first k inputs at their high ends and the others at their low ends;
// - of single values: each input alone at its high end, then all at their low ends;
// - of an input alone: that it is 1.
// Where all inputs of a run are at their low ends is its base. The share of the bases is in the bias, and those of the
// other nodes are what they have more than their base: so a row whose numbers are at their bases, the zeros of a table
// of counts, has nothing to look up. The base's own node says what it is, for what is missing must take it off again.
struct Segment {
  enum Kind : int32_t { kPieces, kValues, kInput };
  Kind kind;
  int32_t first_input, n_inputs, first_node;

  int32_t n_nodes() const { return kind == kInput ? 1 : n_inputs + 1; }
  int32_t base() const { return first_node + (kind == kValues ? n_inputs : 0); }
};

struct Nodes {
  const Segment* segments;
  int64_t n_segments;
  const float* low;  // per input: its ends
  const float* high;
  int64_t d_in, n_nodes;
  int64_t part;  // nodes that are looked up at a time
};

// Lists of entries, each the rows of a table that it picks and their factors.
struct Lists {
  int64_t n;
  const int32_t* starts;  // n and one more
  const int32_t* which;
  const float* factors;
};

// The rows of kEntryBlocks row blocks as sums of nodes.
struct Entries {
  int64_t n_rows, n_parts;
  Lists by_row;   // for each part of the nodes a list for each row
  Lists by_node;  // for the backward pass only
};

// One formula's weights for looking up, in rows of `width` literals: whole vectors of every instruction set.
struct Lookup {
  const float* table;  // (nodes, width)
  const float* bias;   // (width), with the share of the bases
  int64_t n_nodes, width;
};

struct LookupGradients {
  float* table;  // (nodes, width)
  float* lanes;  // vectors of partial sums for the bias: all blocks of kLits literals x 16 lanes
  float* bias;   // (blocks, kLits)
};

// What the backward pass of one formula writes.
struct Gradients {
  float* weight;  // vectors of partial sums: (largest group's blocks, n_features, kLits) x 16 lanes
  float* bias;    // (largest group's literals) x 16 lanes
  float* x;       // like Rows::x, added to; null when no gradient for x is wanted
};

// Where the finished sums of one group go.
struct Sums {
  float* weight;  // (blocks, n_features, kLits) of the whole formula
  float* bias;    // (blocks, kLits) of the whole formula
};

// One instruction set's implementation.
struct Kernels {
  const char* name;
  // out: (row blocks, kRows); scratch: (largest group's literals, kRows);
  // kept: all literals, group by group (row blocks, literals, kRows), or null when they are not wanted again
  void (*forward)(const Formula&, const Rows&, float* out, float* scratch, float* kept);
  // grad: (row blocks, kRows), the gradient before the formula's own tanh, zero in padding rows;
  // scratch: kSpan times that of forward; kept: what forward kept, or null to compute the literals again
  void (*backward)(const Formula&, const Rows&, const float* grad, const float* kept, const Gradients&, const Sums&,
                   float* scratch);
  // From a formula's weights by input, times a factor for each, to those by node, both in rows of `width` literals;
  // the share of the bases is added to the bias.
  void (*tabulate)(const Nodes&, int64_t width, const float* inputs, const float* factors, float* table, float* bias);
  // And back, for the gradients of the weights times their factors.
  void (*untabulate)(const Nodes&, int64_t width, const float* table, const float* bias, float* inputs);
  // Like forward, by looking up; scratch: kEntryBlocks * kRows times the literals of the largest group and the width
  void (*look_up)(const Formula&, const Lookup&, const Rows&, const Entries*, float* out, float* scratch, float* kept);
  // Like backward, by looking up; the same scratch
  void (*look_back)(const Formula&, const Lookup&, const Rows&, const Entries*, const float* grad, const float* kept,
                    const LookupGradients&, float* scratch);
  // One row of n formulas, times the localization's weights.
  void (*local_forward)(int64_t n, const float* formulas, const float* squared, float scale, float* out);
  // Its gradients for formulas and squared distances; returns the one for scale.
  float (*local_backward)(int64_t n, const float* formulas, const float* squared, float scale, const float* grad,
                          float* grad_formulas, float* grad_squared);
  void (*tanh_forward)(int64_t n, const float* x, float* y);
};

// The backward pass takes this many row blocks at a time: enough that loading and storing the partial sums
// of the weight gradients is little next to adding to them, few enough that the literals stay in cache.
constexpr int64_t kSpan = 8;
constexpr int64_t kMaxLanes = 16;
// Looking up takes this many: the gradients of their literals stay in cache, and a node has several entries.
constexpr int64_t kEntryBlocks = 4;

extern const Kernels kBaseline;
#if defined(__x86_64__)
extern const Kernels kAvx2;
extern const Kernels kAvx512;
#endif

}  // namespace dnfnet
