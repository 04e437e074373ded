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
  template <class A>
  static A join(A a, A b) {
    return take(a, b);
  }
  template <class Out, class A>
  static Out finish(A acc, std::int64_t /*count*/) {
    return static_cast<Out>(acc);
  }
};

Result<Fold> fold(const Prepare& p) {
  Fold fold;
  with_type(RealTypes(), p.inputs[0].dtype,
            [&]<class T>() { fold = FoldOf<Op, T, T, Wide<T>>::make(); });
  return fold;
}

}  // namespace

extern constexpr OpDef reduce_max_op{
    .name = "reduce_max",
    .summary = "The largest item over the axes; all of them by default. NaN where there is one.",
    .params = kReductionParams,
    .paths = "reduce_max math.reduce_max",
    .infer = infer_reduction<RealTypes>,
    .fold = fold};

}  // namespace spillway::graph
