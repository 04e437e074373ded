#include <complex>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

template <class T>
struct Op {
  [[gnu::always_inline]] static inline T of(T x) {
    if constexpr (kComplex<T>) {
      return std::conj(x);
    } else {
      return x;
    }
  }
};

Result<Loop> loop(const Prepare& p) {
  Loop loop;
  with_type(NumberTypes(), p.inputs[0].dtype,
            [&]<class T>() { loop.fn = SimdLoop<MapBody<Op<T>, T, T>>::best(); });
  return loop;
}

}  // namespace

extern constexpr OpDef conj_op{.name = "conj",
                               .summary = "The complex conjugate of each item.",
                               .params = kUnaryParams,
                               .paths = "math.conj",
                               .infer = infer_unary<NumberTypes>,
                               .loop = loop};

}  // namespace spillway::graph
