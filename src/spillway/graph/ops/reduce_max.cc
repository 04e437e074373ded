#include <limits>

#include "spillway/graph/reduction.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class A>
  static A start() {
    if constexpr (std::numeric_limits<A>::has_infinity) {
      return -std::numeric_limits<A>::infinity();
    } else {
      return std::numeric_limits<A>::lowest();
    }
  }
  template <class A, class T>
  [[gnu::always_inline]] static A take(A acc, T item) {
    const A x = widen(item);
    return (acc < x || not_a_number(x)) ? x : acc;
  }
};

}  // namespace

extern constexpr OpDef reduce_max_op{
    .name = "reduce_max",
    .summary = "The largest item over the axes; all of them by default. NaN where there is one.",
    .params = kReductionParams,
    .paths = "reduce_max math.reduce_max",
    .infer = infer_reduction<RealTypes>,
    .fold = keeping_fold<Op, RealTypes>};

}  // namespace spillway::graph
