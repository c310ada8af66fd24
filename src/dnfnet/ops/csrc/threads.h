// A loop over independent items on several threads.
#pragma once
#include <cstdint>
#include <functional>

namespace dnfnet {

// Call body(item) for every item in [0, n), on at most `threads` threads, the caller's being one of them.
// Which thread takes which item is left to chance: a body must not let its result depend on it.
// Threads live for the call only, so there is nothing that a fork could lose or that two callers share.
void parallel_for(int64_t n, int threads, const std::function<void(int64_t)>& body);

}  // namespace dnfnet
