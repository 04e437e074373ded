#include <cmath>
#include <limits>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

template <class T>
Result<std::int64_t> size_of_range(T start, T limit, T delta) {
  if (delta == T(0)) return invalid_argument("Requires delta != 0: ", +delta);
  if (delta > T(0) && start > limit) {
    return invalid_argument("Requires start <= limit when delta > 0: ", +start, "/", +limit);
  }
  if (delta < T(0) && start < limit) {
    return invalid_argument("Requires start >= limit when delta < 0: ", +start, "/", +limit);
  }
  if constexpr (std::is_integral_v<T>) {
    const auto width = static_cast<std::uint64_t>(limit) - static_cast<std::uint64_t>(start);
    const auto step = static_cast<std::uint64_t>(delta);
    const bool up = delta > T(0);
    const std::uint64_t whole = up ? width : 0 - width;
    const std::uint64_t by = up ? step : 0 - step;
    const std::uint64_t items = whole / by + (whole % by != 0 ? 1 : 0);
    if (items > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return invalid_argument("Requires ((limit - start) / delta) <= 2^63");
    }
    return static_cast<std::int64_t>(items);
  } else {
    const T size = std::ceil(std::abs((limit - start) / delta));
    if (!(size < T(9.2e18))) return invalid_argument("Requires ((limit - start) / delta) <= 2^63");
    return static_cast<std::int64_t>(size);
  }
}

Result<std::int64_t> size_for(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  Result<std::int64_t> size = 0;
  with_type(RealTypes(), start.dtype(), [&]<class T>() {
    size = size_of_range(widen(*start.as<T>()), widen(*limit.as<T>()), widen(*delta.as<T>()));
  });
  return size;
}

Status infer(Infer& c) {
  if (!is_one_of(RealTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  SW_RETURN_IF_ERROR(same_types(c));
  std::int64_t size = kUnknownDim;
  bool known = true;
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).shape.rank() > 0) {
      return wrong_shape("start, limit and delta must be scalars, not shape ",
                         c.input(i).shape.bracketed());
    }
    known &= c.constant(i) != nullptr;
  }
  if (known) {
    SW_ASSIGN(size, size_for(*c.constant(0), *c.constant(1), *c.constant(2)));
  }
  c.set(0, c.input(0).dtype, Shape({size}));
  return {};
}

Status compute(Compute& c) {
  SW_ASSIGN(const std::int64_t size, size_for(c.inputs[0], c.inputs[1], c.inputs[2]));
  SW_ASSIGN(Tensor out, c.make(c.inputs[0].dtype(), Shape({size})));
  with_type(RealTypes(), c.inputs[0].dtype(), [&]<class T>() {
    T* to = reinterpret_cast<T*>(out.mutable_data());
    using Sum = Wrapping<Wide<T>>;
    const Sum start = static_cast<Sum>(widen(*c.inputs[0].as<T>()));
    const Sum delta = static_cast<Sum>(widen(*c.inputs[2].as<T>()));
    in_stretches(size, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        // Small floats are rounded after each step, as TensorFlow rounds them.
        const Sum place = static_cast<Sum>(widen(static_cast<T>(static_cast<Wide<T>>(i))));
        const Sum way = static_cast<Sum>(widen(static_cast<T>(place * delta)));
        to[i] = static_cast<T>(start + way);
      }
    });
  });
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {
    {"start", ParamKind::kTensor}, {"limit", ParamKind::kTensor}, {"delta", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef range_op{.name = "range",
                                .summary = "start, start + delta, ... up to but without limit.",
                                .params = kParams,
                                .effect = Effect::kFallible,
                                .infer = infer,
                                .compute = compute};

}  // namespace spillway::graph
