#pragma once

#include "spillway/graph/elementwise.h"

// What the ops that round a quotient share.
namespace spillway::graph {

// The quotient of two small floats is a small float before Op rounds it, as in TensorFlow: Op
// divides it by one.
template <class Op>
struct QuotientFirst {
  template <class T>
  [[gnu::always_inline]] static T of(T x, T y) {
    const T quotient = static_cast<T>(widen(x) / widen(y));
    return static_cast<T>(Op::of(widen(quotient), Wide<T>(1)));
  }
};

// Op::of(x, y) rounds x / y.
template <class Op>
Result<Loop> quotient_loop(const Prepare& p) {
  Loop loop;
  if (with_type(Types<Half, BFloat16>(), p.inputs[0].dtype, [&]<class T>() {
        loop.fn = SimdLoop<MapBody<QuotientFirst<Op>, T, T, T>>::best();
      })) {
    return loop;
  }
  return dividing_loop<Op, RealTypes>(p);
}

}  // namespace spillway::graph
