#include <complex>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x, T y) {
    const auto d = static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y);
    if constexpr (kComplex<T>) {
      return static_cast<T>(d * std::conj(d));
    } else {
      return static_cast<T>(d * d);
    }
  }
};

}  // namespace

extern constexpr OpDef squared_difference_op{.name = "squared_difference",
                                             .summary = "(x - y) squared, item by item.",
                                             .params = kBinaryParams,
                                             .paths = "math.squared_difference",
                                             .infer = infer_binary<NumberTypes>,
                                             .loop = binary_loop<Op, NumberTypes>};

}  // namespace spillway::graph
