#pragma once

#include "spillway/graph/number.h"
#include "spillway/graph/op.h"
#include "spillway/graph/simd.h"

// What the elementwise ops share: broadcasting, and loops from a function of items.
namespace spillway::graph {

// The shape two shapes broadcast to; nullopt when they cannot. Unknown dimensions stay unknown
// where nothing proves them.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

Status no_kernel(DType dtype);  // InvalidArgument, also a TypeError of the front

// One input; the output has its type and shape.
template <class Allowed>
Status infer_unary(Infer& c) {
  if (!is_one_of(Allowed(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  c.set(0, c.input(0).dtype, c.input(0).shape);
  return {};
}
// Inputs of one type that broadcast; the output has their type, or `Out`.
Status infer_broadcast(Infer& c, std::optional<DType> out = std::nullopt);
template <class Allowed>
Status infer_binary(Infer& c) {
  if (!is_one_of(Allowed(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  return infer_broadcast(c);
}
template <class Allowed>
Status infer_predicate(Infer& c) {
  if (!is_one_of(Allowed(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  return infer_broadcast(c, DType::kBool);
}

// One input; the output says yes or no for each of its items.
template <class Allowed>
Status infer_test(Infer& c) {
  if (!is_one_of(Allowed(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  c.set(0, DType::kBool, c.input(0).shape);
  return {};
}

// Op::of on the type arithmetic is done in; small floats are rounded once, at the end.
template <class Op, class T>
struct InWide {
  template <class... Args>
  [[gnu::always_inline]] static inline T of(Args... args) {
    return static_cast<T>(Op::of(widen(args)...));
  }
};
template <class Op>
struct Predicate {
  template <class... Args>
  [[gnu::always_inline]] static inline bool of(Args... args) {
    return Op::of(widen(args)...);
  }
};

// T, ... -> T for the type of the first input.
template <class Op, class Allowed>
Result<Loop> unary_loop(const Prepare& p) {
  Loop loop;
  with_type(Allowed(), p.inputs[0].dtype,
            [&]<class T>() { loop.fn = SimdLoop<MapBody<InWide<Op, T>, T, T>>::best(); });
  return loop;
}
template <class Op, class Allowed>
Result<Loop> binary_loop(const Prepare& p) {
  Loop loop;
  with_type(Allowed(), p.inputs[0].dtype,
            [&]<class T>() { loop.fn = SimdLoop<MapBody<InWide<Op, T>, T, T, T>>::best(); });
  return loop;
}
// T, T -> bool.
template <class Op, class Allowed>
Result<Loop> predicate_loop(const Prepare& p) {
  Loop loop;
  with_type(Allowed(), p.inputs[0].dtype,
            [&]<class T>() { loop.fn = SimdLoop<MapBody<Predicate<Op>, bool, T, T>>::best(); });
  return loop;
}
// T -> bool.
template <class Op, class Allowed>
Result<Loop> test_loop(const Prepare& p) {
  Loop loop;
  with_type(Allowed(), p.inputs[0].dtype,
            [&]<class T>() { loop.fn = SimdLoop<MapBody<Predicate<Op>, bool, T>>::best(); });
  return loop;
}

// T, T -> T; an integer divisor of zero fails its item.
template <class Op, class T>
struct DividingBody {
  [[gnu::always_inline]] static inline std::int64_t run(const LoopArgs& args) {
    const auto* __restrict x = reinterpret_cast<const T*>(args.in[0]);
    const auto* __restrict y = reinterpret_cast<const T*>(args.in[1]);
    auto* __restrict out = reinterpret_cast<T*>(args.out);
    for (std::int64_t i = 0; i < args.n; ++i) {
      if (y[i] == T(0)) return i;
      out[i] = Op::of(x[i], y[i]);
    }
    return -1;
  }
};
template <class Op, class Allowed>
Result<Loop> dividing_loop(const Prepare& p) {
  Loop loop;
  loop.failure = "Integer division by zero";
  with_type(Allowed(), p.inputs[0].dtype, [&]<class T>() {
    if constexpr (kInteger<T>) {
      loop.fn = SimdLoop<DividingBody<Op, T>>::best();
    } else {
      loop.fn = SimdLoop<MapBody<InWide<Op, T>, T, T, T>>::best();
    }
  });
  return loop;
}

inline constexpr ParamDef kUnaryParams[] = {{"x", ParamKind::kTensor}};
inline constexpr ParamDef kBinaryParams[] = {{"x", ParamKind::kTensor}, {"y", ParamKind::kTensor}};

}  // namespace spillway::graph
