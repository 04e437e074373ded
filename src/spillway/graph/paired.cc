#include "spillway/graph/paired.h"

#include <array>

#include "spillway/graph/bounds.h"
#include "spillway/graph/simd.h"

namespace spillway::graph {
namespace {

struct Add {
  static constexpr std::string_view kName = "add";
  [[gnu::always_inline]] static float of(float x, float y) { return x + y; }
};
struct Subtract {
  static constexpr std::string_view kName = "subtract";
  [[gnu::always_inline]] static float of(float x, float y) { return x - y; }
};
struct Multiply {
  static constexpr std::string_view kName = "multiply";
  [[gnu::always_inline]] static float of(float x, float y) { return x * y; }
};
struct Divide {
  static constexpr std::string_view kName = "divide";
  [[gnu::always_inline]] static float of(float x, float y) { return x / y; }
};

template <class First, class Second>
struct Both {
  [[gnu::always_inline]] static float of(float x, float y, float z) {
    return Second::of(First::of(x, y), z);
  }
};

template <class First, class Second>
struct Bounded {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto operand = [&](std::size_t i) { return reinterpret_cast<const float*>(args.in[i]); };
    const float* __restrict x = operand(0);
    const float* __restrict y = operand(1);
    const float* __restrict z = operand(2);
    auto* __restrict out = reinterpret_cast<float*>(args.out);
    const Bounds<float> bounds = *static_cast<const Bounds<float>*>(args.data);
    for (std::int64_t i = 0; i < args.n; ++i) {
      out[i] = bounds.between(Both<First, Second>::of(x[i], y[i], z[i]));
    }
    return -1;
  }
};

struct Pair {
  std::string_view first;
  std::string_view second;
  LoopFn (*plain)();
  LoopFn (*bounded)();
};

template <class First, class Second>
constexpr Pair kPair{First::kName, Second::kName,
                     &SimdLoop<MapBody<Both<First, Second>, float, float, float, float>>::best,
                     &SimdLoop<Bounded<First, Second>>::best};

template <class First>
constexpr std::array<Pair, 4> kPairsOf{kPair<First, Add>, kPair<First, Subtract>,
                                       kPair<First, Multiply>, kPair<First, Divide>};

const Pair* find(std::string_view first, std::string_view second, DType dtype) {
  if (dtype != DType::kFloat32) return nullptr;
  for (const auto* pairs :
       {&kPairsOf<Add>, &kPairsOf<Subtract>, &kPairsOf<Multiply>, &kPairsOf<Divide>}) {
    for (const Pair& pair : *pairs) {
      if (pair.first == first && pair.second == second) return &pair;
    }
  }
  return nullptr;
}

}  // namespace

LoopFn paired_loop(std::string_view first, std::string_view second, DType dtype) {
  const Pair* pair = find(first, second, dtype);
  return pair == nullptr ? nullptr : pair->plain();
}

LoopFn bounded_pair_loop(std::string_view first, std::string_view second, DType dtype) {
  const Pair* pair = find(first, second, dtype);
  return pair == nullptr ? nullptr : pair->bounded();
}

}  // namespace spillway::graph
