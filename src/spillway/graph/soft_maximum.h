#pragma once

#include <algorithm>
#include <cmath>

#include "spillway/graph/moves.h"

// softmax and its logarithm: what they do with an axis, each item by item at the end.
namespace spillway::graph {

inline Status infer_soft(Infer& c) {
  if (!is_one_of(FloatTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  const Shape& in = c.input(0).shape;
  if (in.rank() == 0) return wrong_shape("logits must have at least one axis");
  if (in.has_rank()) {
    SW_ASSIGN([[maybe_unused]] const int axis,
              resolve_axis(c.attrs().get_or<std::int64_t>("axis", -1), in.rank()));
  }
  c.set(0, c.input(0).dtype, in);
  return {};
}

// Shifted by the largest item, so that nothing overflows; the sum is taken in double. Op::scale
// makes one number of the sum, Op::of(shifted, scale) each result.
template <class Op>
Result<KernelPtr> prepare_soft(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  SW_ASSIGN(const int axis, resolve_axis(p.attrs.get_or<std::int64_t>("axis", -1), in.rank()));
  const AxisView view(in, axis);
  KernelPtr kernel;
  with_type(FloatTypes(), p.inputs[0].dtype, [&]<class T>() {
    kernel = make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
      Looks looks;
      for (std::int64_t l = 0; l < view.outer * view.inner && view.axis > 0; ++l) {
        if (looks.abandoned(view.axis)) return Status();
        const std::int64_t at = l / view.inner * view.axis * view.inner + l % view.inner;
        const T* from = reinterpret_cast<const T*>(src[0]) + at;
        T* to = reinterpret_cast<T*>(dst[0]) + at;
        Wide<T> top = widen(from[0]);
        in_stretches(view.axis, [&, step = view.inner](std::int64_t begin, std::int64_t end) {
          Wide<T> most = top;
          for (std::int64_t i = begin; i < end; ++i) most = std::max(most, widen(from[i * step]));
          top = most;
        });
        const auto shifted = [from, top, step = view.inner](std::int64_t i) {
          return widen(from[i * step]) - top;
        };
        double sum = 0;
        in_stretches(view.axis, [&sum, shifted](std::int64_t begin, std::int64_t end) {
          double more = sum;
          for (std::int64_t i = begin; i < end; ++i) {
            more += static_cast<double>(std::exp(shifted(i)));
          }
          sum = more;
        });
        const auto scale = static_cast<Wide<T>>(Op::scale(sum));
        in_stretches(view.axis, [=](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            to[i * view.inner] = static_cast<T>(Op::of(shifted(i), scale));
          }
        });
      }
      return Status();
    });
  });
  return kernel;
}

inline constexpr ParamDef kSoftParams[] = {{"logits", ParamKind::kTensor},
                                           {"axis", ParamKind::kInt, "-1"}};

}  // namespace spillway::graph
