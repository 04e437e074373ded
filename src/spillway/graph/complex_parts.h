#pragma once

#include <complex>

#include "spillway/graph/elementwise.h"

// Ops that give one of the two numbers of a complex one; real numbers have both.
namespace spillway::graph {

template <class T>
struct PartOf {
  using type = T;
};
template <class T>
struct PartOf<std::complex<T>> {
  using type = T;
};

inline Status infer_part(Infer& c) {
  const bool known = with_type(NumberTypes(), c.input(0).dtype, [&]<class T>() {
    c.set(0, dtype_of<typename PartOf<T>::type>(), c.input(0).shape);
  });
  return known ? Status() : no_kernel(c.input(0).dtype);
}

// Op::of(T) gives the part.
template <class Op>
Result<Loop> part_loop(const Prepare& p) {
  Loop loop;
  with_type(NumberTypes(), p.inputs[0].dtype, [&]<class T>() {
    loop.fn = SimdLoop<MapBody<Op, typename PartOf<T>::type, T>>::best();
  });
  return loop;
}

inline constexpr ParamDef kPartParams[] = {{"input", ParamKind::kTensor}};

}  // namespace spillway::graph
