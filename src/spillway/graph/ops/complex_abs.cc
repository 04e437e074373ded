#include <complex>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline T of(std::complex<T> x) {
    return std::abs(x);
  }
};

Status infer(Infer& c) {
  const bool known = with_type(ComplexTypes(), c.input(0).dtype, [&]<class T>() {
    c.set(0, dtype_of<typename T::value_type>(), c.input(0).shape);
  });
  return known ? Status() : no_kernel(c.input(0).dtype);
}

Result<Loop> loop(const Prepare& p) {
  Loop loop;
  with_type(ComplexTypes(), p.inputs[0].dtype, [&]<class T>() {
    loop.fn = SimdLoop<MapBody<Op, typename T::value_type, T>>::baseline;
  });
  return loop;
}

}  // namespace

extern constexpr OpDef complex_abs_op{.name = "complex_abs",
                                      .summary = "The absolute value of complex items, as floats.",
                                      .params = kUnaryParams,
                                      .infer = infer,
                                      .loop = loop};

}  // namespace spillway::graph
