#pragma once

#include <algorithm>
#include <functional>
#include <limits>

#include "spillway/graph/elementwise.h"
#include "spillway/graph/fold.h"

// Where the best item is along an axis; the first of equals.
namespace spillway::graph {

template <class T>
struct Best {
  Wide<T> value;
  std::int64_t at;  // -1: none yet
};

// The largest finite number of a type.
template <class T>
Wide<T> largest() {
  if constexpr (std::is_same_v<T, Half>) return 65504.0F;
  if constexpr (std::is_same_v<T, BFloat16>) return 0x1.fep127F;
  return std::numeric_limits<Wide<T>>::max();
}

// Better(a, b): whether a is to be preferred to b.
template <class Better, class T, class Out>
struct Arg {
  // What every item has to beat, as in TensorFlow: NaN and the worse infinity never do, and where
  // no item does it is the first.
  static Wide<T> worst() {
    if constexpr (std::is_same_v<Better, std::less<>>) return largest<T>();
    if constexpr (kFloating<T>) return -largest<T>();
    return std::numeric_limits<Wide<T>>::lowest();
  }
  [[gnu::always_inline]] static void take(Best<T>& best, T item, std::int64_t at) {
    const Wide<T> x = widen(item);
    if (Better()(x, best.value)) best = {x, at};
  }
  static void init(std::byte* acc, std::int64_t n) {
    std::fill_n(reinterpret_cast<Best<T>*>(acc), n, Best<T>{worst(), -1});
  }
  static void run(std::byte* acc, const std::byte* items, std::int64_t n, std::int64_t at) {
    Best<T>& best = *reinterpret_cast<Best<T>*>(acc);
    const T* in = reinterpret_cast<const T*>(items);
    for (std::int64_t i = 0; i < n; ++i) take(best, in[i], at + i);
  }
  static void lanes(std::byte* acc, const std::byte* items, std::int64_t n, std::int64_t at) {
    auto* best = reinterpret_cast<Best<T>*>(acc);
    const T* in = reinterpret_cast<const T*>(items);
    for (std::int64_t i = 0; i < n; ++i) take(best[i], in[i], at);
  }
  static void merge(std::byte* acc, const std::byte* next, std::int64_t n) {
    auto* best = reinterpret_cast<Best<T>*>(acc);
    const auto* other = reinterpret_cast<const Best<T>*>(next);
    for (std::int64_t i = 0; i < n; ++i) {
      if (Better()(other[i].value, best[i].value)) best[i] = other[i];
    }
  }
  static void finish(const std::byte* acc, std::byte* out, std::int64_t n, std::int64_t /*count*/) {
    const auto* best = reinterpret_cast<const Best<T>*>(acc);
    auto* o = reinterpret_cast<Out*>(out);
    for (std::int64_t i = 0; i < n; ++i)
      o[i] = static_cast<Out>(std::max<std::int64_t>(0, best[i].at));
  }
  static Fold make() {
    return {{sizeof(Best<T>), init, run, merge, finish},
            {sizeof(Best<T>), init, lanes, merge, finish}};
  }
};

using ArgTypes = decltype(RealTypes{} | BoolType{});
// TensorFlow has the narrow ones for the largest only.
using ArgMinOuts = Types<std::int32_t, std::int64_t>;
using ArgMaxOuts = decltype(ArgMinOuts{} | Types<std::int16_t, std::uint16_t>{});

// One axis, which must not be empty.
template <class OutTypes>
Status infer_arg(Infer& c) {
  if (!is_one_of(ArgTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  const DType out = c.attrs().get_or("output_type", DType::kInt64);
  if (!is_one_of(OutTypes(), out)) return no_kernel(out);
  const Shape& shape = c.input(0).shape;
  if (shape.has_rank()) {
    const auto given = c.attrs().get_or<std::vector<std::int64_t>>("axis", {0});
    for (const std::int64_t axis : given) {
      const std::int64_t rank = shape.rank();
      if (axis < -rank || axis >= rank) {
        return invalid_argument("Expected dimension in the range [", -rank, ", ", rank,
                                "), but got ", axis);
      }
      if (shape[static_cast<int>(axis < 0 ? axis + rank : axis)] == 0) {
        return invalid_argument("Reduction axis ", axis, " is empty in shape ", shape.bracketed());
      }
    }
  }
  return infer_fold(c, out);
}

template <class Better>
Result<Fold> arg_fold(const Prepare& p) {
  Fold fold;
  with_type(ArgTypes(), p.inputs[0].dtype, [&]<class T>() {
    with_type(ArgMaxOuts(), p.outputs[0].dtype,
              [&]<class Out>() { fold = Arg<Better, T, Out>::make(); });
  });
  return fold;
}

inline constexpr ParamDef kArgParams[] = {{"input", ParamKind::kTensor},
                                          {"axis", ParamKind::kInts, "None"},
                                          {"output_type", ParamKind::kDType, "int64"}};

}  // namespace spillway::graph
