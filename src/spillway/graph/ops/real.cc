#include "spillway/graph/complex_parts.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static typename PartOf<T>::type of(T x) {
    if constexpr (kComplex<T>) {
      return x.real();
    } else {
      return x;
    }
  }
};

}  // namespace

extern constexpr OpDef real_op{.name = "real",
                               .summary = "The real part of each item.",
                               .params = kPartParams,
                               .paths = "math.real",
                               .infer = infer_part,
                               .loop = part_loop<Op>};

}  // namespace spillway::graph
