// The block by looking up, for inputs in runs: the few entries of a row pick rows of a table of weights, and the lanes
// of the vectors are literals. From there on, as ever, they are rows.

// What a run whose inputs are all at their low ends adds to the literals.
static void tabulate_base(const Segment& s, const float* low, int64_t width, const float* weight, const float* factors,
                          float* base, float* bias) {
  for (int64_t v = 0; v < width; v += kWidth) {
    Vec sum{};
    for (int32_t k = 0; k < s.n_inputs; ++k) sum = low[k] * factors[k] * load(weight + k * width + v) + sum;
    store(base + v, sum);
    store(bias + v, load(bias + v) + sum);
  }
}

static void tabulate(const Nodes& nodes, int64_t width, const float* inputs, const float* factors, float* table,
                     float* bias) {
  for (int64_t i = 0; i < nodes.n_segments; ++i) {
    const Segment& s = nodes.segments[i];
    const float *low = nodes.low + s.first_input, *high = nodes.high + s.first_input;
    const float *weight = inputs + s.first_input * width, *factor = factors + s.first_input;
    float* node = table + s.first_node * width;
    if (s.kind == Segment::kInput) {
      for (int64_t v = 0; v < width; v += kWidth) store(node + v, *factor * load(weight + v));
      continue;
    }
    tabulate_base(s, low, width, weight, factor, table + s.base() * width, bias);
    const bool pieces = s.kind == Segment::kPieces;
    for (int64_t v = 0; v < width; v += kWidth) {
      Vec above{};
      for (int32_t k = 0; k < s.n_inputs; ++k) {
        const Vec own = (high[k] - low[k]) * factor[k] * load(weight + k * width + v);
        above = pieces ? above + own : own;
        store(node + (pieces ? k + 1 : k) * width + v, above);
      }
    }
  }
}

// An input's gradient is its low end times that of the base, and from there to its high end that of the nodes above.
static void untabulate(const Nodes& nodes, int64_t width, const float* table, const float* bias, float* inputs) {
  for (int64_t i = 0; i < nodes.n_segments; ++i) {
    const Segment& s = nodes.segments[i];
    const float *low = nodes.low + s.first_input, *high = nodes.high + s.first_input;
    const float *node = table + s.first_node * width, *base = table + s.base() * width;
    float* input = inputs + s.first_input * width;
    if (s.kind == Segment::kInput) {
      for (int64_t v = 0; v < width; v += kWidth) store(input + v, load(node + v));
      continue;
    }
    const bool pieces = s.kind == Segment::kPieces;
    for (int64_t v = 0; v < width; v += kWidth) {
      const Vec all = load(bias + v) + load(base + v);
      Vec above{};
      for (int32_t k = s.n_inputs - 1; k >= 0; --k) {
        const Vec own = load(node + (pieces ? k + 1 : k) * width + v);
        above = pieces ? above + own : own;
        store(input + k * width + v, low[k] * all + (high[k] - low[k]) * above);
      }
    }
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
