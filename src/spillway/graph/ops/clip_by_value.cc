#include "spillway/graph/bounds.h"
#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static T of(T x, T low, T high) {
    const T below = high < x || not_a_number(high) ? high : x;
    return below < low || not_a_number(low) ? low : below;
  }
};

// Bounds that are numbers and the same for all items, as almost all are: two instructions an item.
template <class T>
struct BetweenBounds {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto* __restrict x = reinterpret_cast<const T*>(args.in[0]);
    auto* __restrict out = reinterpret_cast<T*>(args.out);
    const Bounds<T> bounds = *static_cast<const Bounds<T>*>(args.data);
    for (std::int64_t i = 0; i < args.n; ++i) out[i] = bounds.between(x[i]);
    return -1;
  }
};

template <class T>
std::shared_ptr<const Bounds<T>> known_bounds(const Prepare& p) {
  const Tensor* low = p.constants[1];
  const Tensor* high = p.constants[2];
  if (low == nullptr || high == nullptr || low->count() != 1 || high->count() != 1) return nullptr;
  const Bounds<T> bounds{*reinterpret_cast<const T*>(low->data()),
                         *reinterpret_cast<const T*>(high->data())};
  if (not_a_number(bounds.low) || not_a_number(bounds.high)) return nullptr;
  return std::make_shared<const Bounds<T>>(bounds);
}

Status infer(Infer& c) {
  if (!is_one_of(RealTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  SW_RETURN_IF_ERROR(same_types(c));
  SW_RETURN_IF_ERROR(infer_broadcast(c));
  const Shape& in = c.input(0).shape;
  if (!in.compatible(c.outputs()[0].shape)) {
    Status status = wrong_shape("Shapes ", in.to_string(), " and ",
                                c.outputs()[0].shape.to_string(), " are incompatible");
    status.edit().type = "ValueError";
    return status;
  }
  if (in.has_rank()) c.set(0, c.input(0).dtype, in);
  return {};
}

Result<Loop> loop(const Prepare& p) {
  Loop loop;
  with_type(RealTypes(), p.inputs[0].dtype, [&]<class T>() {
    loop.fn = SimdLoop<MapBody<InWide<Op, T>, T, T, T, T>>::best();
    if constexpr (std::is_arithmetic_v<T>) {
      if (auto bounds = known_bounds<T>(p)) {
        loop.fn = SimdLoop<BetweenBounds<T>>::best();
        loop.data = std::move(bounds);
      }
    }
  });
  return loop;
}

constexpr ParamDef kParams[] = {{"t", ParamKind::kTensor},
                                {"clip_value_min", ParamKind::kTensor},
                                {"clip_value_max", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef clip_by_value_op{.name = "clip_by_value",
                                        .summary = "Each item, but not below min or above max.",
                                        .params = kParams,
                                        .paths = "clip_by_value",
                                        .infer = infer,
                                        .loop = loop};

}  // namespace spillway::graph
