#include "spillway/graph/complex_parts.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static typename PartOf<T>::type of(T x) {
    if constexpr (kComplex<T>) {
      return x.imag();
    } else {
      return T{};
    }
  }
};

}  // namespace

extern constexpr OpDef imag_op{.name = "imag",
                               .summary = "The imaginary part of each item.",
                               .params = kPartParams,
                               .paths = "math.imag",
                               .infer = infer_part,
                               .loop = part_loop<Op>};

}  // namespace spillway::graph
