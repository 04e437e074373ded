#include <complex>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

template <class T>
struct Part {
  using type = T;
};
template <class T>
struct Part<std::complex<T>> {
  using type = T;
};

template <class T>
struct Op {
  [[gnu::always_inline]] static inline typename Part<T>::type of(T x) {
    if constexpr (kComplex<T>) {
      return x.imag();
    } else {
      return T{};
    }
  }
};

Status infer(Infer& c) {
  const bool known = with_type(NumberTypes(), c.input(0).dtype, [&]<class T>() {
    c.set(0, dtype_of<typename Part<T>::type>(), c.input(0).shape);
  });
  return known ? Status() : no_kernel(c.input(0).dtype);
}

Result<Loop> loop(const Prepare& p) {
  Loop loop;
  with_type(NumberTypes(), p.inputs[0].dtype, [&]<class T>() {
    loop.fn = SimdLoop<MapBody<Op<T>, typename Part<T>::type, T>>::best();
  });
  return loop;
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef imag_op{.name = "imag",
                               .summary = "The imaginary part of each item.",
                               .params = kParams,
                               .paths = "math.imag",
                               .infer = infer,
                               .loop = loop};

}  // namespace spillway::graph
