// A matrix with rows and columns exchanged.
#pragma once
#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace dnfnet {

namespace transposing {

// Internal to each source file: a copy compiled for a newer processor must not be the one that all others get.
static inline void four_by_four(const float* from, int64_t from_step, float* to, int64_t to_step) {
#if defined(__x86_64__)
  __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_step);
  __m128 c = _mm_loadu_ps(from + 2 * from_step), d = _mm_loadu_ps(from + 3 * from_step);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(to, a);
  _mm_storeu_ps(to + to_step, b);
  _mm_storeu_ps(to + 2 * to_step, c);
  _mm_storeu_ps(to + 3 * to_step, d);
#else
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t c = 0; c < 4; ++c) to[c * to_step + r] = from[r * from_step + c];
#endif
}

// Rows and columns at a time: whole cache lines on both sides.
constexpr int64_t kTile = 16;

static inline void tile(int64_t rows, int64_t columns, const float* from, int64_t from_step, float* to,
                        int64_t to_step) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[c * to_step + r] = from[r * from_step + c];
}

}  // namespace transposing

// to[c][r] = from[r][c]; a step is from one row to the next.
static inline void transpose(int64_t rows, int64_t columns, const float* from, int64_t from_step, float* to,
                             int64_t to_step) {
  using transposing::kTile;
  for (int64_t row = 0; row < rows; row += kTile)
    for (int64_t column = 0; column < columns; column += kTile) {
      const float* first = from + row * from_step + column;
      float* result = to + column * to_step + row;
      const int64_t height = rows - row < kTile ? rows - row : kTile;
      const int64_t width = columns - column < kTile ? columns - column : kTile;
      const int64_t fours = height / 4 * 4, wide = width / 4 * 4;
      for (int64_t c = 0; c < wide; c += 4)
        for (int64_t r = 0; r < fours; r += 4)
          transposing::four_by_four(first + r * from_step + c, from_step, result + c * to_step + r, to_step);
      transposing::tile(height, width - wide, first + wide, from_step, result + wide * to_step, to_step);
      transposing::tile(height - fours, wide, first + fours * from_step, from_step, result + fours, to_step);
    }
}

}  // namespace dnfnet
