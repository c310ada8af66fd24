// The block by looking up, for inputs in runs: the few entries of a row pick rows of a table of weights, and the lanes
// of the vectors are literals. From there on, as ever, they are rows.

// The node at which all inputs of a run are at their low ends.
static void tabulate_base(const Segment& s, const float* low, int64_t width, const float* weight, const float* factors,
                          float* base) {
  for (int64_t v = 0; v < width; v += kWidth) {
    Vec sum{};
    for (int32_t k = 0; k < s.n_inputs; ++k) sum = low[k] * factors[k] * load(weight + k * width + v) + sum;
    store(base + v, sum);
  }
}

static void tabulate(const Nodes& nodes, int64_t width, const float* inputs, const float* factors, float* table) {
  for (int64_t i = 0; i < nodes.n_segments; ++i) {
    const Segment& s = nodes.segments[i];
    const float *low = nodes.low + s.first_input, *high = nodes.high + s.first_input;
    const float *weight = inputs + s.first_input * width, *factor = factors + s.first_input;
    float* node = table + s.first_node * width;
    if (s.kind == Segment::kInput) {
      for (int64_t v = 0; v < width; v += kWidth) store(node + v, *factor * load(weight + v));
      continue;
    }
    const bool values = s.kind == Segment::kValues;
    float* base = values ? node + s.n_inputs * width : node;
    tabulate_base(s, low, width, weight, factor, base);
    for (int32_t k = 0; k < s.n_inputs; ++k, weight += width) {
      const float *from = values ? base : node + k * width, scale = (high[k] - low[k]) * factor[k];
      float* to = values ? node + k * width : node + (k + 1) * width;
      for (int64_t v = 0; v < width; v += kWidth) store(to + v, scale * load(weight + v) + load(from + v));
    }
  }
}

// The gradient of a piece is its high end times the nodes above it, and its low end times the nodes below.
static void untabulate_pieces(const Segment& s, const float* low, const float* high, int64_t width, const float* node,
                              const float* factors, float* weight) {
  for (int64_t v = 0; v < width; v += kWidth) {
    Vec below{}, above{};
    for (int32_t k = 0; k < s.n_inputs; ++k) {
      below += load(node + k * width + v);
      store(weight + k * width + v, low[k] * below);
    }
    for (int32_t k = s.n_inputs - 1; k >= 0; --k) {
      above += load(node + (k + 1) * width + v);
      float* to = weight + k * width + v;
      store(to, factors[k] * (high[k] * above + load(to)));
    }
  }
}

static void untabulate_values(const Segment& s, const float* low, const float* high, int64_t width, const float* node,
                              const float* factors, float* weight) {
  for (int64_t v = 0; v < width; v += kWidth) {
    Vec total{};
    for (int32_t k = 0; k <= s.n_inputs; ++k) total += load(node + k * width + v);
    for (int32_t k = 0; k < s.n_inputs; ++k) {
      const Vec own = load(node + k * width + v);
      store(weight + k * width + v, factors[k] * (high[k] * own + low[k] * (total - own)));
    }
  }
}

static void untabulate(const Nodes& nodes, int64_t width, const float* table, const float* factors, float* inputs) {
  for (int64_t i = 0; i < nodes.n_segments; ++i) {
    const Segment& s = nodes.segments[i];
    const float *low = nodes.low + s.first_input, *high = nodes.high + s.first_input;
    const float *node = table + s.first_node * width, *factor = factors + s.first_input;
    float* weight = inputs + s.first_input * width;
    if (s.kind == Segment::kPieces)
      untabulate_pieces(s, low, high, width, node, factor, weight);
    else if (s.kind == Segment::kValues)
      untabulate_values(s, low, high, width, node, factor, weight);
    else
      for (int64_t v = 0; v < width; v += kWidth) store(weight + v, *factor * load(node + v));
  }
}

// The sum of n rows of a table times their factors, kVectors vectors of it; two sums at a time hide the latency.
template <int kVectors>
DNFNET_INLINE void sum_rows(const float* table, int64_t width, const int32_t* which, const float* factors, int32_t n,
                            Vec (&sum)[kVectors]) {
  Vec odd[kVectors] = {};
  int32_t i = 0;
  for (; i + 2 <= n; i += 2) {
    const float *one = table + which[i] * width, *two = table + which[i + 1] * width;
    DNFNET_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      sum[v] = factors[i] * load(one + v * kWidth) + sum[v];
      odd[v] = factors[i + 1] * load(two + v * kWidth) + odd[v];
    }
  }
  if (i < n) {
    const float* one = table + which[i] * width;
    DNFNET_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v] = factors[i] * load(one + v * kWidth) + sum[v];
  }
  DNFNET_UNROLL
  for (int v = 0; v < kVectors; ++v) sum[v] += odd[v];
}

// To each list's row of `from` add what it picks; its tanh, for literals. A step of 0 gives all lists the same row.
template <int kVectors, bool kLiterals>
DNFNET_INLINE void sum_lists(const Lists& lists, const float* table, int64_t width, const float* from, int64_t step,
                             float* out) {
  for (int64_t i = 0; i < lists.n; ++i, from += step, out += width) {
    const int32_t first = lists.starts[i];
    Vec sum[kVectors];
    DNFNET_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v] = load(from + v * kWidth);
    sum_rows<kVectors>(table, width, lists.which + first, lists.factors + first, lists.starts[i + 1] - first, sum);
    DNFNET_UNROLL
    for (int v = 0; v < kVectors; ++v) store(out + v * kWidth, kLiterals ? tanh(sum[v]) : sum[v]);
  }
}

// The same for any width, as many vectors at a time as there are registers for.
template <bool kLiterals>
static void sum_all(const Lists& lists, const float* table, int64_t width, const float* from, int64_t step,
                    float* out) {
  int64_t v = 0;
  for (; v + 4 * kWidth <= width; v += 4 * kWidth)
    sum_lists<4, kLiterals>(lists, table + v, width, from + v, step, out + v);
  const int64_t rest = (width - v) / kWidth;
  if (rest == 3) sum_lists<3, kLiterals>(lists, table + v, width, from + v, step, out + v);
  if (rest == 2) sum_lists<2, kLiterals>(lists, table + v, width, from + v, step, out + v);
  if (rest == 1) sum_lists<1, kLiterals>(lists, table + v, width, from + v, step, out + v);
}

// Literals of a row block: (kRows, width).
static void block_literals(const Lookup& lookup, const Rows& rows, const Entries* entries, int64_t block, float* out) {
  const Entries& e = entries[block / kEntryBlocks];
  const int64_t left = rows.n_rows - block * kRows, n = left < kRows ? left : kRows;
  for (int64_t part = 0; part < e.n_parts; ++part) {
    const int32_t* starts = e.by_row.starts + part * e.n_rows + block % kEntryBlocks * kRows;
    const Lists lists{n, starts, e.by_row.which, e.by_row.factors};
    const float* from = part ? out : lookup.bias;
    const int64_t step = part ? lookup.width : 0;
    if (part + 1 < e.n_parts)
      sum_all<false>(lists, lookup.table, lookup.width, from, step, out);
    else
      sum_all<true>(lists, lookup.table, lookup.width, from, step, out);
  }
  clear(out + n * lookup.width, (kRows - n) * lookup.width);
}

// One group's literals, from (kRows, width) to (literals, kRows).
static void literals_to_lanes(const Group& g, const float* literals, int64_t width, float* z) {
  transpose(kRows, g.n_literals, literals + g.first_literal, width, z, kRows);
}

static void lanes_to_literals(const Group& g, const float* delta, int64_t width, float* literals) {
  transpose(g.n_literals, kRows, delta, kRows, literals + g.first_literal, width);
}

static void look_up(const Formula& f, const Lookup& lookup, const Rows& rows, const Entries* entries, float* out,
                    float* scratch, float* kept) {
  float *literals = scratch, *lanes = scratch + kRows * lookup.width;
  for (int64_t b = 0; b < rows.blocks(); ++b, out += kRows) {
    const int n_vecs = vecs_in(rows, b);
    block_literals(lookup, rows, entries, b, literals);
    clear(out, kRows);
    for (int32_t i = 0; i < f.n_groups; ++i) {
      const Group& g = f.groups[i];
      float* z = kept ? kept + kept_at(g, rows, b) : lanes;
      literals_to_lanes(g, literals, lookup.width, z);
      add_conjunctions(f, g, z, n_vecs, out);
    }
    finish_formula(f, n_vecs, out);
  }
}

// The gradients of a row block's literals: (kRows, width). Where they are not kept, they are computed again in place.
static void block_back(const Formula& f, const Lookup& lookup, const Rows& rows, const Entries* entries, int64_t block,
                       const float* grad, const float* kept, float* bias, float* literals, float* lanes) {
  if (kept)
    clear(literals, kRows * lookup.width);
  else
    block_literals(lookup, rows, entries, block, literals);
  const int n_vecs = vecs_in(rows, block);
  for (int32_t i = 0; i < f.n_groups; ++i) {
    const Group& g = f.groups[i];
    float* sums = bias + g.first_block * kLits * kMaxLanes;
    if (kept) {
      block_gradients(f, g, grad, n_vecs, kept + kept_at(g, rows, block), lanes, sums);
    } else {
      literals_to_lanes(g, literals, lookup.width, lanes);
      block_gradients(f, g, grad, n_vecs, lanes, lanes, sums);
    }
    lanes_to_literals(g, lanes, lookup.width, literals);
  }
}

static void look_back(const Formula& f, const Lookup& lookup, const Rows& rows, const Entries* entries,
                      const float* grad, const float* kept, const LookupGradients& out, float* scratch) {
  const Group& last = f.groups[f.n_groups - 1];
  const int64_t width = lookup.width, n_literals = (last.first_block + last.n_blocks) * kLits;
  float *literals = scratch, *lanes = scratch + kEntryBlocks * kRows * width;
  clear(out.table, lookup.n_nodes * width);
  clear(out.lanes, n_literals * kMaxLanes);
  for (int64_t b = 0; b < rows.blocks(); ++b) {
    block_back(f, lookup, rows, entries, b, grad + b * kRows, kept, out.lanes, literals + b % kEntryBlocks * kRows * width,
               lanes);
    if ((b + 1) % kEntryBlocks && b + 1 < rows.blocks()) continue;
    sum_all<false>(entries[b / kEntryBlocks].by_node, literals, width, out.table, width, out.table);
  }
  reduce_lanes(out.lanes, n_literals, out.bias);
}
