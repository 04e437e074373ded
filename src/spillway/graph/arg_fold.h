#pragma once

#include <algorithm>
#include <functional>

#include "spillway/graph/elementwise.h"
#include "spillway/graph/fold.h"

// Where the best item is along an axis; the first of equals.
namespace spillway::graph {

template <class T>
struct Best {
  Wide<T> value;
  std::int64_t at;  // -1: none yet
};

// Better(a, b): whether a is to be preferred to b.
template <class Better, class T, class Out>
struct Arg {
  [[gnu::always_inline]] static void take(Best<T>& best, T item, std::int64_t at) {
    const Wide<T> x = widen(item);
    if (best.at < 0 || Better()(x, best.value)) best = {x, at};
  }
  static void init(std::byte* acc, std::int64_t n) {
    std::fill_n(reinterpret_cast<Best<T>*>(acc), n, Best<T>{{}, -1});
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
      if (other[i].at >= 0 && (best[i].at < 0 || Better()(other[i].value, best[i].value)))
        best[i] = other[i];
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

inline Status infer_arg(Infer& c) {
  if (!is_one_of(ArgTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  const DType out = c.attrs().get_or("output_type", DType::kInt64);
  if (out != DType::kInt64 && out != DType::kInt32) return no_kernel(out);
  const Shape& shape = c.input(0).shape;
  if (shape.has_rank() && shape.fully_known() && shape.count() == 0) {
    return invalid_argument("Reduction axis is empty in shape ", shape.bracketed());
  }
  return infer_fold(c, out);
}

template <class Better>
Result<Fold> arg_fold(const Prepare& p) {
  Fold fold;
  with_type(ArgTypes(), p.inputs[0].dtype, [&]<class T>() {
    fold = p.outputs[0].dtype == DType::kInt32 ? Arg<Better, T, std::int32_t>::make()
                                               : Arg<Better, T, std::int64_t>::make();
  });
  return fold;
}

inline constexpr ParamDef kArgParams[] = {{"input", ParamKind::kTensor},
                                          {"axis", ParamKind::kInts, "None"},
                                          {"output_type", ParamKind::kDType, "int64"}};

}  // namespace spillway::graph
