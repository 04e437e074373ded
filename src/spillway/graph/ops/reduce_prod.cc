#include "spillway/graph/reduction.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class A>
  static A start() {
    return A(1);
  }
  template <class A, class T>
  [[gnu::always_inline]] static inline A take(A acc, T item) {
    return acc * static_cast<A>(widen(item));
  }
  template <class A>
  static A join(A a, A b) {
    return a * b;
  }
  template <class Out, class A>
  static Out finish(A acc, std::int64_t /*count*/) {
    if constexpr (kSmallFloat<Out>) {
      return Out(static_cast<float>(acc));
    } else {
      return static_cast<Out>(acc);
    }
  }
};

Result<Fold> fold(const Prepare& p) {
  Fold fold;
  with_type(NumberTypes(), p.inputs[0].dtype,
            [&]<class T>() { fold = FoldOf<Op, T, T, SumOf<T>>::make(); });
  return fold;
}

}  // namespace

extern constexpr OpDef reduce_prod_op{
    .name = "reduce_prod",
    .summary = "The product over the axes; all of them by default.",
    .params = kReductionParams,
    .paths = "reduce_prod math.reduce_prod",
    .infer = infer_reduction<NumberTypes>,
    .fold = fold};

}  // namespace spillway::graph
