// The last tanh of formulas as an operation of its own.

static void tanh_forward(int64_t n, const float* x, float* y) {
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) store_loose(y + i, tanh(load_loose(x + i)));
  for (; i < n; ++i) y[i] = tanh(splat(x[i]))[0];
}
