#include "spillway/graph/sorting.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_sorted(c, c.input(0).dtype); }

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  SW_ASSIGN(const int axis, resolve_axis(p.attrs.get_or<std::int64_t>("axis", -1), in.rank()));
  SW_ASSIGN(const bool descending, is_descending(p.attrs));
  const AxisView view(in, axis);
  KernelPtr kernel;
  with_type(RealTypes(), p.inputs[0].dtype, [&]<class T>() {
    kernel = make_kernel(
        [=](const std::byte* const* src, std::byte* const* dst, std::byte* scratch) {
          T* line = reinterpret_cast<T*>(scratch);
          Looks looks;
          for (std::int64_t l = 0; l < view.outer * view.inner; ++l) {
            if (looks.abandoned(view.axis)) break;
            const std::int64_t at = l / view.inner * view.axis * view.inner + l % view.inner;
            const T* from = reinterpret_cast<const T*>(src[0]) + at;
            T* to = reinterpret_cast<T*>(dst[0]) + at;
            in_stretches(view.axis, [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t i = begin; i < end; ++i) line[i] = from[i * view.inner];
            });
            sort_first(line, view.axis, view.axis, Before<T>{descending});
            in_stretches(view.axis, [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t i = begin; i < end; ++i) to[i * view.inner] = line[i];
            });
          }
          return Status();
        },
        static_cast<std::size_t>(view.axis) * sizeof(T));
  });
  return kernel;
}

constexpr ParamDef kParams[] = {{"values", ParamKind::kTensor},
                                {"axis", ParamKind::kInt, "-1"},
                                {"direction", ParamKind::kString, "'ASCENDING'"}};

}  // namespace

extern constexpr OpDef sort_op{.name = "sort",
                               .summary = "The items in order along an axis.",
                               .params = kParams,
                               .paths = "sort",
                               .infer = infer,
                               .prepare = prepare};

}  // namespace spillway::graph
