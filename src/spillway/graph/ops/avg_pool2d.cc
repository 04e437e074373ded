#include "spillway/graph/pool.h"

namespace spillway::graph {
namespace {

// Of the items that lie inside of the image.
template <class T>
struct Mean {
  using Sum = Wide<T>;
  [[gnu::always_inline]] static Sum begin() { return Sum(0); }
  [[gnu::always_inline]] static Sum take(Sum sum, T item) { return sum + widen(item); }
  [[gnu::always_inline]] static T finish(Sum sum, std::int64_t count) {
    return static_cast<T>(sum / static_cast<Sum>(count));
  }
};

}  // namespace

extern constexpr OpDef avg_pool2d_op{.name = "avg_pool2d",
                                     .summary = "The mean of each window of an image.",
                                     .params = kPoolParams,
                                     .infer = infer_pool<FloatTypes>,
                                     .prepare = prepare_pool<Mean, FloatTypes>,
                                     .rows = true};

}  // namespace spillway::graph
