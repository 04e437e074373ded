#include "spillway/graph/reduction.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class A>
  static A start() {
    return A(0);
  }
  template <class A, class T>
  [[gnu::always_inline]] static A take(A acc, T item) {
    return acc + static_cast<A>(widen(item));
  }
  template <class A>
  static A join(A a, A b) {
    return a + b;
  }
  template <class Out, class A>
  static Out finish(A acc, std::int64_t count) {
    if constexpr (kInteger<Out>) {
      // As TensorFlow: the sum in 64 bits, divided; nothing over no items.
      using Sum = std::conditional_t<std::is_signed_v<Out>, std::int64_t, std::uint64_t>;
      return count == 0 ? Out(0)
                        : static_cast<Out>(static_cast<Sum>(acc) / static_cast<Sum>(count));
    } else if constexpr (kSmallFloat<Out>) {
      return Out(static_cast<float>(acc / static_cast<double>(count)));
    } else if constexpr (kComplex<Out>) {
      // As TensorFlow: nothing over no items, where real numbers give NaN.
      return count == 0 ? Out(0) : static_cast<Out>(acc / static_cast<double>(count));
    } else {
      return static_cast<Out>(acc / static_cast<double>(count));
    }
  }
};

template <class T>
using MeanSum = std::conditional_t<kInteger<T>, std::uint64_t, SumOf<T>>;

Result<Fold> fold(const Prepare& p) {
  Fold fold;
  with_type(NumberTypes(), p.inputs[0].dtype,
            [&]<class T>() { fold = FoldOf<Op, T, T, MeanSum<T>>::make(); });
  return fold;
}

}  // namespace

extern constexpr OpDef reduce_mean_op{.name = "reduce_mean",
                                      .summary = "The mean over the axes; all of them by default.",
                                      .params = kReductionParams,
                                      .paths = "reduce_mean math.reduce_mean",
                                      .infer = infer_reduction<NumberTypes>,
                                      .fold = fold};

}  // namespace spillway::graph
