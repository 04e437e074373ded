#include <cmath>
#include <limits>

#include "spillway/graph/pool.h"

namespace spillway::graph {
namespace {

template <class T>
struct Largest {
  using Sum = Wide<T>;
  [[gnu::always_inline]] static Sum begin() {
    if constexpr (kSmallFloat<T> || std::is_floating_point_v<T>) {
      return -std::numeric_limits<Sum>::infinity();
    } else {
      return std::numeric_limits<Sum>::lowest();
    }
  }
  // What is not a number stays.
  [[gnu::always_inline]] static Sum take(Sum most, T item) {
    const Sum x = widen(item);
    bool stays = x > most;
    if constexpr (std::is_floating_point_v<Sum>) stays = stays || std::isnan(x);
    return stays ? x : most;
  }
  [[gnu::always_inline]] static T finish(Sum most, std::int64_t) { return static_cast<T>(most); }
};

}  // namespace

extern constexpr OpDef max_pool2d_op{.name = "max_pool2d",
                                     .summary = "The largest item of each window of an image.",
                                     .params = kPoolParams,
                                     .infer = infer_pool<RealTypes>,
                                     .prepare = prepare_pool<Largest, RealTypes>,
                                     .rows = true};

}  // namespace spillway::graph
