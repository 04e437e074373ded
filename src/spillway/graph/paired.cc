#include "spillway/graph/paired.h"

#include <array>

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

struct Pair {
  std::string_view first;
  std::string_view second;
  LoopFn (*loop)();
};

template <class First, class Second>
constexpr Pair kPair{First::kName, Second::kName,
                     &SimdLoop<MapBody<Both<First, Second>, float, float, float, float>>::best};

template <class First>
constexpr std::array<Pair, 4> kPairsOf{kPair<First, Add>, kPair<First, Subtract>,
                                       kPair<First, Multiply>, kPair<First, Divide>};

}  // namespace

LoopFn paired_loop(std::string_view first, std::string_view second, DType dtype) {
  if (dtype != DType::kFloat32) return nullptr;
  for (const auto& pairs :
       {kPairsOf<Add>, kPairsOf<Subtract>, kPairsOf<Multiply>, kPairsOf<Divide>}) {
    for (const Pair& pair : pairs) {
      if (pair.first == first && pair.second == second) return pair.loop();
    }
  }
  return nullptr;
}

}  // namespace spillway::graph
