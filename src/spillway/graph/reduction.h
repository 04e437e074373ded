#pragma once

#include <algorithm>
#include <array>

#include "spillway/graph/elementwise.h"
#include "spillway/graph/fold.h"

// Folds from an operation on two accumulators.
namespace spillway::graph {

// Floats are summed in double; integers wrap.
template <class T>
using SumOf =
    std::conditional_t<kFloating<T>, double,
                       std::conditional_t<kComplex<T>, std::complex<double>, Wrapping<T>>>;

// Op: `Acc start()`, `Acc take(Acc, item)`, `Acc join(Acc, Acc)`, `Out finish(Acc, count)`. Items
// of a run go to kLanes accumulators by their place, so that the order of additions is always the
// same and the loop is wide.
template <class Op, class T, class Out, class Acc>
struct FoldOf {
  static constexpr std::int64_t kLanes = 32;
  using Lanes = std::array<Acc, kLanes>;

  static void init_run(std::byte* acc, std::int64_t /*n*/) {
    reinterpret_cast<Lanes*>(acc)->fill(Op::template start<Acc>());
  }
  [[gnu::always_inline]] static void take_body(std::byte* acc, const std::byte* items,
                                               std::int64_t n, std::int64_t at) {
    Lanes& lanes = *reinterpret_cast<Lanes*>(acc);
    const T* in = reinterpret_cast<const T*>(items);
    std::int64_t i = 0;
    for (; i < n && (at + i) % kLanes != 0; ++i) {
      Acc& lane = lanes[static_cast<std::size_t>((at + i) % kLanes)];
      lane = Op::take(lane, in[i]);
    }
    Lanes local = lanes;
    for (; i + kLanes <= n; i += kLanes) {
      for (std::size_t l = 0; l < kLanes; ++l) {
        local[l] = Op::take(local[l], in[i + static_cast<std::int64_t>(l)]);
      }
    }
    lanes = local;
    for (; i < n; ++i) {
      Acc& lane = lanes[static_cast<std::size_t>((at + i) % kLanes)];
      lane = Op::take(lane, in[i]);
    }
  }
  static void take_run(std::byte* acc, const std::byte* items, std::int64_t n, std::int64_t at) {
    take_body(acc, items, n, at);
  }
  static void merge_run(std::byte* acc, const std::byte* next, std::int64_t /*n*/) {
    Lanes& lanes = *reinterpret_cast<Lanes*>(acc);
    const Lanes& other = *reinterpret_cast<const Lanes*>(next);
    for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = Op::join(lanes[i], other[i]);
  }
  static void finish_run(const std::byte* acc, std::byte* out, std::int64_t /*n*/,
                         std::int64_t count) {
    Lanes lanes = *reinterpret_cast<const Lanes*>(acc);
    for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
      for (std::size_t i = 0; i < width; ++i) lanes[i] = Op::join(lanes[i], lanes[i + width]);
    }
    *reinterpret_cast<Out*>(out) = Op::template finish<Out>(lanes[0], count);
  }

  static void init_lanes(std::byte* acc, std::int64_t n) {
    std::fill_n(reinterpret_cast<Acc*>(acc), n, Op::template start<Acc>());
  }
  static void take_lanes(std::byte* acc, const std::byte* items, std::int64_t n,
                         std::int64_t /*at*/) {
    auto* __restrict a = reinterpret_cast<Acc*>(acc);
    const auto* __restrict in = reinterpret_cast<const T*>(items);
    for (std::int64_t i = 0; i < n; ++i) a[i] = Op::take(a[i], in[i]);
  }
  static void merge_lanes(std::byte* acc, const std::byte* next, std::int64_t n) {
    auto* a = reinterpret_cast<Acc*>(acc);
    const auto* b = reinterpret_cast<const Acc*>(next);
    for (std::int64_t i = 0; i < n; ++i) a[i] = Op::join(a[i], b[i]);
  }
  static void finish_lanes(const std::byte* acc, std::byte* out, std::int64_t n,
                           std::int64_t count) {
    const auto* a = reinterpret_cast<const Acc*>(acc);
    auto* o = reinterpret_cast<Out*>(out);
    for (std::int64_t i = 0; i < n; ++i) o[i] = Op::template finish<Out>(a[i], count);
  }
  static Fold make() {
    return {{sizeof(Lanes), init_run, take_run, merge_run, finish_run},
            {sizeof(Acc), init_lanes, take_lanes, merge_lanes, finish_lanes}};
  }
};

template <class Allowed>
Status infer_reduction(Infer& c) {
  if (!is_one_of(Allowed(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  return infer_fold(c, c.input(0).dtype);
}

inline constexpr ParamDef kReductionParams[] = {{"input_tensor", ParamKind::kTensor},
                                                {"axis", ParamKind::kInts, "None"},
                                                {"keepdims", ParamKind::kBool, "False"}};

// Folds whose accumulator is the result so far: Op has `start` and `take` only.
template <class Op>
struct KeepsResult : Op {
  template <class A>
  static A join(A a, A b) {
    return Op::take(a, b);
  }
  template <class Out, class A>
  static Out finish(A acc, std::int64_t /*count*/) {
    return static_cast<Out>(acc);
  }
};
template <class Op, class Allowed>
Result<Fold> keeping_fold(const Prepare& p) {
  Fold fold;
  with_type(Allowed(), p.inputs[0].dtype,
            [&]<class T>() { fold = FoldOf<KeepsResult<Op>, T, T, Wide<T>>::make(); });
  return fold;
}

}  // namespace spillway::graph
