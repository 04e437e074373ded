#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x, T y) {
    return static_cast<T>(std::atan2(x, y));
  }
};

}  // namespace

extern constexpr OpDef atan2_op{.name = "atan2",
                                .summary = "The angle of the point (y, x).",
                                .params = kBinaryParams,
                                .paths = "atan2 math.atan2",
                                .infer = infer_binary<FloatTypes>,
                                .loop = binary_loop<Op, FloatTypes>};

}  // namespace spillway::graph
