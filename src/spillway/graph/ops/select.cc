#include "spillway/graph/elementwise.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

template <std::size_t kBytes>
struct Unit;
template <>
struct Unit<1> {
  using type = std::uint8_t;
};
template <>
struct Unit<2> {
  using type = std::uint16_t;
};
template <>
struct Unit<4> {
  using type = std::uint32_t;
};
template <>
struct Unit<8> {
  using type = std::uint64_t;
};
struct Sixteen {
  std::uint64_t lo;
  std::uint64_t hi;
};
template <>
struct Unit<16> {
  using type = Sixteen;
};

struct Op {
  template <class T>
  [[gnu::always_inline]] static T of(bool condition, T x, T y) {
    return condition ? x : y;
  }
};

Status infer(Infer& c) {
  if (c.input(1).dtype == DType::kString || c.input(1).dtype == DType::kVariant) {
    return no_kernel(c.input(1).dtype);
  }
  return infer_broadcast(c, c.input(1).dtype);
}

Result<Loop> loop(const Prepare& p) {
  Loop loop;
  const auto take = [&]<std::size_t kBytes>() {
    using T = typename Unit<kBytes>::type;
    if (size_of(p.outputs[0].dtype) == kBytes) {
      loop.fn = SimdLoop<MapBody<Op, T, bool, T, T>>::best();
    }
  };
  take.template operator()<1>();
  take.template operator()<2>();
  take.template operator()<4>();
  take.template operator()<8>();
  take.template operator()<16>();
  return loop;
}

constexpr ParamDef kParams[] = {{"condition", ParamKind::kTensor, "", 'b'},
                                {"x", ParamKind::kTensor},
                                {"y", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef select_op{.name = "select",
                                 .summary = "x where the condition holds, else y.",
                                 .params = kParams,
                                 .infer = infer,
                                 .loop = loop};
extern constexpr OpDef select_strings_op = string_twin<select_op>("select_strings");

}  // namespace spillway::graph
