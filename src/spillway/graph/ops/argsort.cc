#include "spillway/graph/sorting.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_sorted(c, DType::kInt32); }

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  SW_ASSIGN(const int axis, resolve_axis(p.attrs.get_or<std::int64_t>("axis", -1), in.rank()));
  SW_ASSIGN(const bool descending, is_descending(p.attrs));
  const AxisView view(in, axis);
  KernelPtr kernel;
  with_type(RealTypes(), p.inputs[0].dtype, [&]<class T>() {
    kernel = make_kernel(
        [=](const std::byte* const* src, std::byte* const* dst, std::byte* scratch) {
          auto* places = reinterpret_cast<std::int32_t*>(scratch);
          Looks looks;
          for (std::int64_t l = 0; l < view.outer * view.inner; ++l) {
            if (looks.abandoned(view.axis)) break;
            const std::int64_t at = l / view.inner * view.axis * view.inner + l % view.inner;
            places_in_order(reinterpret_cast<const T*>(src[0]) + at, view.inner, places, view.axis,
                            view.axis, descending);
            auto* to = reinterpret_cast<std::int32_t*>(dst[0]) + at;
            in_stretches(view.axis, [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t i = begin; i < end; ++i) to[i * view.inner] = places[i];
            });
          }
          return Status();
        },
        static_cast<std::size_t>(view.axis) * sizeof(std::int32_t));
  });
  return kernel;
}

constexpr ParamDef kParams[] = {{"values", ParamKind::kTensor},
                                {"axis", ParamKind::kInt, "-1"},
                                {"direction", ParamKind::kString, "'ASCENDING'"},
                                {"stable", ParamKind::kBool, "False"}};

}  // namespace

extern constexpr OpDef argsort_op{
    .name = "argsort",
    .summary = "The places of the items in order along an axis; always stable.",
    .params = kParams,
    .paths = "argsort",
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
