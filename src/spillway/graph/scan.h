#pragma once

#include "spillway/base/interrupt.h"
#include "spillway/graph/moves.h"

namespace spillway::graph {

inline Status infer_scan(Infer& c) {
  if (!is_one_of(NumberTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  const Shape& in = c.input(0).shape;
  const std::int64_t axis = c.attrs().get_or<std::int64_t>("axis", 0);
  if (in.has_rank() && (axis < -in.rank() || axis >= in.rank())) {
    return invalid_argument("ScanOp: Expected scan axis in the range [", -in.rank(), ", ",
                            in.rank(), "), but got ", axis);
  }
  c.set(0, c.input(0).dtype, in);
  return {};
}

// Op::of(sum, item) from Op::start() on, along an axis; neighbours along inner axes side by side.
template <class Op>
Result<KernelPtr> prepare_scan(const Prepare& p) {
  SW_ASSIGN(const int axis,
            resolve_axis(p.attrs.get_or<std::int64_t>("axis", 0), p.inputs[0].shape.rank()));
  const AxisView view(p.inputs[0].shape, axis);
  const bool exclusive = p.attrs.get_or("exclusive", false);
  const bool reverse = p.attrs.get_or("reverse", false);
  KernelPtr kernel;
  with_type(NumberTypes(), p.inputs[0].dtype, [&]<class T>() {
    kernel = make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
      const std::int64_t step = reverse ? -view.inner : view.inner;
      Looks looks;
      const std::int64_t stretch =
          std::max<std::int64_t>(1, Looks::kItems / std::max<std::int64_t>(1, view.inner));
      for (std::int64_t o = 0; o < view.outer; ++o) {
        const std::int64_t first = (o * view.axis + (reverse ? view.axis - 1 : 0)) * view.inner;
        const T* in = reinterpret_cast<const T*>(src[0]) + first;
        T* out = reinterpret_cast<T*>(dst[0]) + first;
        for (std::int64_t j = 0, look = 0; j < view.axis; ++j, in += step, out += step) {
          if (j == look) {
            if (looks.abandoned(stretch * view.inner)) return Status();
            look += stretch;
          }
          for (std::int64_t i = 0; i < view.inner; ++i) {
            if (j == 0) {
              out[i] = exclusive ? T(static_cast<Wide<T>>(Op::kStart)) : in[i];
            } else {
              const T item = exclusive ? in[i - step] : in[i];
              out[i] = static_cast<T>(Op::of(widen(out[i - step]), widen(item)));
            }
          }
        }
      }
      return Status();
    });
  });
  return kernel;
}

inline constexpr ParamDef kScanParams[] = {{"x", ParamKind::kTensor},
                                           {"axis", ParamKind::kInt, "0"},
                                           {"exclusive", ParamKind::kBool, "False"},
                                           {"reverse", ParamKind::kBool, "False"}};

}  // namespace spillway::graph
