#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::floor(x);
  }
};

}  // namespace

extern constexpr OpDef floor_op{.name = "floor",
                                .summary = "The largest whole number not above x.",
                                .params = kUnaryParams,
                                .paths = "floor math.floor",
                                .infer = infer_unary<FloatTypes>,
                                .loop = unary_loop<Op, FloatTypes>};

}  // namespace spillway::graph
