#include <limits>

#include "spillway/graph/reduction.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class A>
  static A start() {
    if constexpr (std::numeric_limits<A>::has_infinity) {
      return std::numeric_limits<A>::infinity();
    } else {
      return std::numeric_limits<A>::max();
    }
  }
  template <class A, class T>
  [[gnu::always_inline]] static A take(A acc, T item) {
    const A x = widen(item);
    return (x < acc || not_a_number(x)) ? x : acc;
  }
};

}  // namespace

extern constexpr OpDef reduce_min_op{
    .name = "reduce_min",
    .summary = "The smallest item over the axes; all of them by default. NaN where there is one.",
    .params = kReductionParams,
    .paths = "reduce_min math.reduce_min",
    .infer = infer_reduction<RealTypes>,
    .fold = keeping_fold<Op, RealTypes>};

}  // namespace spillway::graph
