#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    if constexpr (kInteger<T>) {
      return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
    } else {
      return -x;
    }
  }
};

}  // namespace

extern constexpr OpDef negative_op{.name = "negative",
                                   .summary = "-x.",
                                   .params = kUnaryParams,
                                   .paths = "negative math.negative",
                                   .infer = infer_unary<SignedNumbers>,
                                   .loop = unary_loop<Op, SignedNumbers>};

}  // namespace spillway::graph
